"""A raw conversation in the place of a note: who speaks, and what of it says something. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from bedside.clinical.drugs import find_drugs
from bedside.flows.notes.cues import is_order
from bedside.language.stems import stems

__all__ = ["Talk", "talk_in"]

Span = tuple[int, int]

_LABEL = re.compile(
    r"^[ \t]*(?:\[(?P<a>[a-z_ ]{2,20})\]|(?P<b>doctor|dr|clinician|physician|provider|nurse|patient|pt"
    r"|guest|family|mother|father|interpreter)[ \t]?\d?:)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_CLINICIANS = re.compile(r"doctor|dr|clinician|physician|provider|nurse", re.IGNORECASE)
_END = re.compile(r"[.?!](?=\s|\Z)(?:\s*[.?!])*")
_FEWEST_TURNS = 6
_SHARE = 0.5
_EMPTY = frozenset(
    stem
    for word in (
        "okay", "ok", "yeah", "yes", "no", "hi", "hey", "hello", "mm-hmm", "mm", "hmm", "uh", "um", "right",
        "all", "good", "great", "dragon", "thanks", "thank", "you", "well", "know", "sure", "perfect", "so",
        "see", "sound", "nice", "dax", "plan", "fine", "doctor", "patient", "like", "alright", "bye", "today",
        "hm", "huh", "oh", "just", "want", "wan", "na", "gon", "go", "ahead", "lot", "tell", "finalize", "note",
        "kind", "thing", "mean", "that", "this", "sounds", "awesome", "absolutely", "exactly", "really",
    )
    for stem in (*stems(word), word)
)  # fmt: skip
_ASKED_BACK = re.compile(r"(?:okay|ok|all right|alright|right)\s*\?\s*\Z", re.IGNORECASE)
_INTENDS = re.compile(
    r"\b(?:wan na|wanna|want to|gon na|gonna|going to|like to|let['\s]*'?s|i['\s]*'?ll|we['\s]*'?ll|i will|we will|i would|want you to"
    r"|need you to|recommend)\b(?:\s+\S+){0,5}?\s+(?:increase|decrease|reduce|start|stop|continue|order|refer|prescribe"
    r"|get|check|recheck|repeat|put|keep|have|see|schedule|send|give|draw|take|weigh|call|follow|add|switch|do|try|use|monitor|record)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:listen|exam|look at|talk about|go over|physical exam|check some things)\b", re.IGNORECASE
)
_FEWEST_WORDS = 2


class Talk:
    """The turns of a conversation in a text."""

    def __init__(self, text: str, labels: list[tuple[int, int, bool]]) -> None:
        self.text = text
        self._labels = labels
        self._starts = [start for start, _, _ in labels]

    def by_clinician(self, at: int) -> bool:
        """Is it the clinician who speaks there?"""
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and self._labels[place][2]

    def statements(self, start: int, end: int) -> list[Span]:
        """The sentences of `[start, end)` that say something; a question stands with its answer."""
        spans = [one for one in self._sentences() if start <= one[0] and one[1] <= end]
        found: list[Span] = []
        taken = -1
        for place, (a, b) in enumerate(spans):
            if a < taken:
                continue
            last = b
            after = spans[place + 1] if place + 1 < len(spans) else None
            if (
                after is not None
                and self.text[a:b].rstrip().endswith("?")
                and not _ASKED_BACK.search(self.text[a:b])
                and self._turn(after[0]) == self._turn(a) + 1
            ):
                last = after[1]
            if self._says(a, last):
                found.append((a, last))
                taken = last
        return found

    def is_order(self, start: int, end: int) -> bool:
        """Does the clinician say there what is to be done?"""
        said = self.text[start:end]
        if not self.by_clinician(start) or _LOOKS.search(said):
            return False
        if said.rstrip().endswith("?") and not _ASKED_BACK.search(said):
            return False
        if self._turn(end - 1) != self._turn(start):
            return False  # a question with its answer
        return _INTENDS.search(said) is not None or (is_order(said) and bool(find_drugs(said)))

    def _turn(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1

    def _says(self, start: int, end: int) -> bool:
        words = [one for one in stems(_LABEL.sub(" ", self.text[start:end])) if one not in _EMPTY]
        return len(set(words)) >= _FEWEST_WORDS

    def _sentences(self) -> list[Span]:
        found: list[Span] = []
        bounds = [*self._starts, len(self.text)]
        for (start, body, _), end in zip(self._labels, bounds[1:], strict=True):
            at = start
            for match in _END.finditer(self.text, body, end):
                found.append((at, match.end()))
                at = match.end()
                while at < end and self.text[at].isspace():
                    at += 1
            tail = len(self.text[:end].rstrip())
            if tail > at:
                found.append((at, tail))
        return [(a, b) for a, b in found if b > a]


def talk_in(text: str) -> Talk | None:
    """The conversation that a text is; `None` where it is a note."""
    labels = [
        (
            match.start(),
            match.end(),
            _CLINICIANS.fullmatch((match["a"] or match["b"]).strip()) is not None,
        )
        for match in _LABEL.finditer(text)
    ]
    if len(labels) < _FEWEST_TURNS or len({clinician for *_, clinician in labels}) < 2:  # noqa: PLR2004
        return None
    inside = sum(b[0] - a[0] for a, b in pairwise(labels))
    return Talk(text, labels) if inside > _SHARE * len(text) else None
