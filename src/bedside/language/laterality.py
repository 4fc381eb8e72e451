"""Left, right, both: which side is said of what. Pure."""

from __future__ import annotations

import re
from typing import Literal

from bedside.core.value import value

__all__ = ["Side", "SideOf", "sides"]

Side = Literal["left", "right", "both"]


@value
class SideOf:
    """A side at `text[start:end]`, and the word it is said of, in lower case.

    `of` is "" where no word follows or precedes it closely.
    """

    start: int
    end: int
    side: Side
    of: str


_SIDE = re.compile(
    r"(?<![\w-])(?:(?P<left>left|lt|l(?=[\s.-]+(?:knee|hip|eye|ear|arm|leg|foot|hand|shoulder|breast|"
    r"lung|kidney|ankle|wrist|elbow|side|lower|upper|heel|toe|thumb|ovary|testis|iliac|ventric|atri)))|"
    r"(?P<right>right|rt|r(?=[\s.-]+(?:knee|hip|eye|ear|arm|leg|foot|hand|shoulder|breast|"
    r"lung|kidney|ankle|wrist|elbow|side|lower|upper|heel|toe|thumb|ovary|testis|iliac|ventric|atri)))|"
    r"(?P<both>bilateral(?:ly)?|both(?=\s+(?:knees|hips|eyes|ears|arms|legs|feet|hands|shoulders|"
    r"breasts|lungs|kidneys|ankles|wrists|elbows|sides|ovaries|testes|lower|upper|heels))|"
    r"bilat)|(?P<leftsided>left-sided|leftsided)|(?P<rightsided>right-sided|rightsided))(?![\w])",
    re.IGNORECASE,
)
_NOT_A_SIDE = re.compile(
    r"\b(?:right\s+(?:now|away|after|before|here|then|to\b|answer|thing|time|dose|drug|patient|"
    r"direction|amount|choice)|(?:all|that's|is|not)\s+right\b(?!\s*[-]?(?:sided|knee|hip|eye|ear|arm|"
    r"leg|foot|hand|shoulder|breast|lung|kidney|lower|upper|side))|left\s+(?:the|to|against|without|"
    r"untreated|alone|out|over|behind|for\b|on\b|in\b|at\b)|(?:has|have|had|was|were|is|are|be|been|"
    r"he|she|they|patient)\s+left\b(?!\s*(?:-?sided|knee|hip|eye|ear|arm|leg|foot|hand|shoulder|"
    r"breast|lung|kidney|lower|upper|side|ventric|atri|bundle))|human\s+rights?)",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[\s\-,/]*(?:(?:the|of|his|her|upper|lower|inner|outer|mid|middle|medial|lateral|"
                   r"anterior|posterior|sided)\b[\s\-]*)*(?P<word>[^\W\d_]{3,})", re.IGNORECASE)  # fmt: skip
_BEFORE = re.compile(r"(?P<word>[^\W\d_]{3,})[\s,(\-]*$")


def sides(text: str) -> list[SideOf]:
    """Every side that `text` speaks of, in order; "right now" and "left the ward" are none."""
    skip = [match.span() for match in _NOT_A_SIDE.finditer(text)]
    found: list[SideOf] = []
    for match in _SIDE.finditer(text):
        if any(start <= match.start() < end for start, end in skip):
            continue
        group = (match.lastgroup or "").removesuffix("sided")
        side: Side = "left" if group == "left" else "right" if group == "right" else "both"
        follow = _NEXT.match(text, match.end())
        before = _BEFORE.search(text[max(0, match.start() - 40) : match.start()])
        word = follow["word"] if follow else before["word"] if before else ""
        found.append(SideOf(start=match.start(), end=match.end(), side=side, of=_one(word)))
    return found


def _one(word: str) -> str:
    """The singular, roughly: enough to tell that "knees" are a knee."""
    low = word.lower()
    irregular = {"feet": "foot", "teeth": "tooth", "ovaries": "ovary", "testes": "testis"}
    if low in irregular:
        return irregular[low]
    return low[:-1] if low.endswith("s") and not low.endswith(("ss", "us", "is")) else low
