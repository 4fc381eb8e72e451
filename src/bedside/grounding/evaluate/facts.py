"""The note's own facts, found by rule: what a complete summary would mention. Pure.

Problems, medicines with their dose, allergies, vital signs, laboratory figures and orders. This
extractor knows nothing of any summariser; it is told by headings, line forms, tables of medicines
and tests, and figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

from bedside.core.value import value
from bedside.grounding.doses import doses
from bedside.grounding.reading import Read
from bedside.language.note_sections import NoteSection
from bedside.language.sentences import sentences

__all__ = ["FACT_KINDS", "Fact", "FactKind", "covered", "facts"]

FactKind = Literal["problems", "medicines", "allergies", "vitals", "labs", "orders"]
FACT_KINDS: tuple[FactKind, ...] = get_args(FactKind)


@value
class Fact:
    """One fact at `[start, end)` of the note.

    `needs` are the stems, medicines or tests that a mention must hold; `figure` is the figure that
    must stand with them, "" for none.
    """

    kind: FactKind
    text: str
    start: int
    end: int
    needs: frozenset[str]
    figure: str = ""


_MARK = re.compile(r"^[ \t]*(?:[-*+•◦▪·]|\(?\d{1,2}[.)]|#{1,6})[ \t]+")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|denies|denied|reports|reported|presents|states|takes|should|can|"
    r"continue|start|increase|order|advised|discussed|reviewed|understands|shows?|reveals?)\b", re.IGNORECASE
)  # fmt: skip
_LABEL = re.compile(r"^[A-Z][\w /&()'-]{0,40}:")
_HISTORY = re.compile(
    r"\b(?:history (?:significant for|notable for|includes?|of)|diagnosed with|known|suffers from|status post|h/o|hx of)\s+(?P<list>[^.;\n]{3,160})",
    re.IGNORECASE,
)
_CUT_LIST = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s*;\s*|\s+as well as\s+", re.IGNORECASE)
_TAIL = re.compile(
    r"\s+(?:who|which|that|presents|presenting|here|status post|for which|diagnosed|treated|since|in \d{4}).*$",
    re.IGNORECASE,
)
_VITALS = re.compile(
    r"\b(?P<name>blood pressure|BP|heart rate|HR|pulse(?: rate)?|respiratory rate|respirations?|RR|temp(?:erature)?|"
    r"SpO2|O2 sat\w*|oxygen saturation|pulse ox\w*|weight|height|BMI)\b[^\d\n.;]{0,30}?(?P<figure>\d{2,3}\s?/\s?\d{2,3}|\d{1,3}(?:\.\d+)?)",
    re.IGNORECASE,
)
_VITAL_KEY = {
    "bp": "blood pressure", "hr": "heart rate", "pulse": "heart rate", "pulse rate": "heart rate",
    "rr": "respiratory rate", "respiration": "respiratory rate", "respirations": "respiratory rate",
    "temp": "temperature",
}  # fmt: skip
_ORDER = re.compile(
    r"\b(?:(?:I|we)(?:'ll| will| would like to|'m going to| am going to|'re going to| are going to| have) (?:also )?(?P<a>\w+)|"
    r"\b(?:I|we) (?:also )?(?P<e>advised|recommend(?:ed)?|ordered|prescribed|referred|started|instructed)\b|"
    r"(?:will|to) (?:be )?(?P<b>order\w*|start\w*|obtain\w*|schedul\w*|refer\w*|prescrib\w*|check\w*|get|repeat\w*|follow|return|increase\w*|decrease\w*|continue\w*)|"
    r"^(?P<c>order|start|obtain|schedule|refer|prescribe|check|repeat|follow|return|increase|decrease|continue|stop|discontinue|begin|initiate|recheck|referral)\b|"
    r"\b(?:was|were|is|are) (?P<d>ordered|referred|prescribed|scheduled|advised|recommended|started|increased|decreased))",
    re.IGNORECASE,
)
_NOT_ORDER_WORDS = "discussed reviewed see saw explained reassured seen spoken talked examined read"
_NOT_ORDER = frozenset(_NOT_ORDER_WORDS.split())
_EMPTY = re.compile(
    r"^(?:none|no known|non-?contributory|unremarkable|negative|n/?a|nil|unknown|not obtained|nkda|nka)\b",
    re.IGNORECASE,
)
_ALLERGIC = re.compile(
    r"\b(?:allergic to|allerg(?:y|ies) to|intoleran(?:t|ce) (?:to|of))\s+(?P<list>[^.;\n]{3,80})",
    re.IGNORECASE,
)
_TITLES = frozenset(
    (
        "surgical",
        "medical",
        "procedures",
        "procedure",
        "surgeries",
        "past",
        "history",
        "problems",
        "chronic",
    )
)
_LEAST, _MOST_WORDS, _CLOSE = 3, 8, 40


def facts(text: str, sections: Sequence[NoteSection]) -> list[Fact]:
    """Every fact that the rules find, in order of place, each once."""
    found: dict[tuple[str, frozenset[str], str], Fact] = {}
    for one in sorted(_all(text, sections), key=lambda fact: (fact.start, fact.end)):
        if one.needs or one.figure:
            found.setdefault((one.kind, one.needs, one.figure), one)
    return list(found.values())


def _all(text: str, sections: Sequence[NoteSection]) -> Iterator[Fact]:
    for section in sections:
        for a, b in sentences(text[section.body : section.end]):
            start, end = section.body + a, section.body + b
            yield from _sentence(text, start, end, section.kind)


def _sentence(text: str, start: int, end: int, kind: str) -> Iterator[Fact]:
    mark = _MARK.match(text[start:end])
    start += mark.end() if mark else 0
    line = text[start:end]
    read = Read(line)
    if kind == "allergies" or _ALLERGIC.search(line):
        yield from _allergies(line, start, whole=kind == "allergies")
        return
    if kind not in {"family", "social"}:
        yield from _problems(line, start, kind)
    if kind not in {"family", "allergies"}:
        yield from _medicines(read, start, kind)
    yield from _vitals(line, start)
    yield from _labs(read, start)
    if kind in {"plan", "assessment_plan", "assessment", "instructions", "disposition"}:
        yield from _orders(line, start, end)


def _problem(piece: str, start: int) -> Iterator[Fact]:
    bare = re.sub(r"^(?:an?|the)\s+", "", _TAIL.sub("", piece).strip(" .,;:"), flags=re.IGNORECASE)
    if (
        _EMPTY.match(bare)
        or _VERB.search(bare)
        or bare.lower() in _TITLES
        or len(bare) < _LEAST
        or len(bare.split()) > _MOST_WORDS
    ):
        return
    read = Read(bare)
    if read.keys and not read.digits:
        yield Fact(
            kind="problems",
            text=bare,
            start=start,
            end=start + len(piece.rstrip()),
            needs=read.keys,
        )


def _problems(line: str, start: int, kind: str) -> Iterator[Fact]:
    bare = line.strip().rstrip(".")
    title = (
        kind in {"assessment", "assessment_plan"}
        and not _VERB.search(bare)
        and not _LABEL.match(line)
    )
    listed = kind == "past_medical" and not _VERB.search(bare)
    if title and len(bare.split()) <= _MOST_WORDS:
        yield from _problem(bare, start)
    elif listed:
        yield from _list(line, start)
    for match in _HISTORY.finditer(line):
        if not re.search(
            r"\b(?:no|denies|negative|without|family)\b", line[: match.start()], re.IGNORECASE
        ):
            yield from _list(match["list"], start + match.start("list"))


def _list(piece: str, start: int) -> Iterator[Fact]:
    at = 0
    for cut in [*_CUT_LIST.finditer(piece), None]:
        stop = cut.start() if cut else len(piece)
        yield from _problem(piece[at:stop], start + at)
        if cut is None or _TAIL.search(piece[at:stop]):
            return
        at = cut.end()


def _medicines(read: Read, start: int, kind: str) -> Iterator[Fact]:
    given = {one.drug: one for one in doses(read) if one.drug}
    for drug in read.drugs:
        dose = given.get(drug.key)
        if dose is None and kind != "medications":
            continue
        end = max(drug.end, dose.end) if dose else drug.end
        begin = min(drug.start, dose.start) if dose else drug.start
        yield Fact(
            kind="medicines", text=read.text[begin:end], start=start + begin, end=start + end,
            needs=frozenset({drug.key}), figure=str(dose.quantity.low) if dose else "",
        )  # fmt: skip


def _allergies(line: str, start: int, *, whole: bool) -> Iterator[Fact]:
    match = _ALLERGIC.search(line)
    piece, at = (match["list"], match.start("list")) if match else (line, 0)
    if not match and not whole:
        return
    if re.search(r"\b(?:no|not|denies|nkda|nka|none)\b", line, re.IGNORECASE):
        yield Fact(
            kind="allergies",
            text=line.strip(),
            start=start,
            end=start + len(line.rstrip()),
            needs=frozenset({"no allergy"}),
        )
        return
    for cut in re.finditer(r"[^,;]+?(?=,|;| and |$)", piece):
        bare = re.sub(r"^(?:and|the)\s+", "", cut.group().strip(" .:"), flags=re.IGNORECASE)
        bare = re.sub(r"^(?:allergies|allergy|drug allergies)\W*", "", bare, flags=re.IGNORECASE)
        keys = Read(bare).keys
        if keys and len(bare.split()) <= _MOST_WORDS:
            a = start + at + cut.start()
            yield Fact(kind="allergies", text=bare, start=a, end=a + len(cut.group()), needs=keys)


def _vitals(line: str, start: int) -> Iterator[Fact]:
    for match in _VITALS.finditer(line):
        name = match["name"].lower()
        key = _VITAL_KEY.get(name, name)
        yield Fact(
            kind="vitals", text=match.group().strip(), start=start + match.start(), end=start + match.end(),
            needs=frozenset({f"vital:{key}"}), figure=re.sub(r"\s", "", match["figure"]),
        )  # fmt: skip


def _labs(read: Read, start: int) -> Iterator[Fact]:
    for test in read.analytes:
        after = next(
            (q for q in read.quantities if q.start >= test.end and q.start - test.end < _CLOSE),
            None,
        )
        if after is None or any(
            o.start >= test.end and o.end <= after.start for o in read.analytes
        ):
            continue
        if _VITALS.search(read.text[test.start : after.end]):
            continue
        yield Fact(
            kind="labs", text=read.text[test.start : after.end], start=start + test.start, end=start + after.end,
            needs=frozenset({test.key}), figure=str(after.low),
        )  # fmt: skip


def _orders(line: str, start: int, end: int) -> Iterator[Fact]:
    label = _LABEL.match(line)
    match = _ORDER.search(line[label.end() :].lstrip() if label else line)
    if match is None:
        return
    verb = next(one for one in match.groups() if one).lower()
    keys = Read(line).keys
    if verb in _NOT_ORDER or len(keys) < _LEAST - 1:
        return
    yield Fact(kind="orders", text=line.strip(), start=start, end=end, needs=keys)


_VITAL_WORDS = {
    "blood pressure": r"blood pressure|\bBP\b", "heart rate": r"heart rate|\bHR\b|pulse",
    "respiratory rate": r"respirat|\bRR\b", "temperature": r"temp",
}  # fmt: skip
_ORDER_SHARE = 0.6


def covered(fact: Fact, said: Iterable[Read]) -> bool:
    """Does one of the items say the fact, its figure included?"""
    return any(_says(fact, one) for one in said)


def _has(figure: str, one: Read) -> bool:
    """Does the figure stand there whole, in digits or in words?"""
    if any(str(q.low) == figure for q in one.quantities):
        return True
    digits = re.sub(r"(?<=\d)\s*/\s*(?=\d)", "/", one.text).replace(",", "")
    return re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d|\.\d)", digits) is not None


def _says(fact: Fact, one: Read) -> bool:
    if fact.figure and not _has(fact.figure, one):
        return False
    if fact.kind == "medicines":
        return fact.needs <= {drug.key for drug in one.drugs}
    if fact.kind == "labs":
        return fact.needs <= {test.key for test in one.analytes}
    if fact.kind == "vitals":
        name = next(iter(fact.needs)).removeprefix("vital:")
        return (
            re.search(_VITAL_WORDS.get(name, re.escape(name)), one.text, re.IGNORECASE) is not None
            or fact.text in one.text
        )
    if fact.needs == frozenset({"no allergy"}):
        return (
            re.search(
                r"\b(?:no|not|denies|nkda|nka|none)\b.{0,40}allerg|allerg\w*.{0,30}\b(?:none|no)\b|\bnkd?a\b",
                one.text,
                re.IGNORECASE,
            )
            is not None
            or fact.text in one.text
        )
    if fact.kind == "orders":
        return len(fact.needs & one.keys) >= _ORDER_SHARE * len(fact.needs)
    return fact.needs <= one.keys
