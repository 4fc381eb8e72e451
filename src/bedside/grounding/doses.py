"""Doses: drug, number, unit and frequency as they stand together. Pure.

A dose may only be repeated. It is supported where a cited passage holds the same figure, the same
unit and the same drug together; nothing is converted, scaled or inferred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bedside.core.value import value
from bedside.grounding.figures import same_bound
from bedside.grounding.reading import Read
from bedside.grounding.terms import POINTING, Term
from bedside.language.quantities import Frequency, Quantity

__all__ = ["Dose", "doses", "same_dose", "unsupported"]

_UNIT_WORDS = "mg g mcg ng iu ml meq mmol mol tablet capsule puff drop dose mu miu"
_UNITS = frozenset(_UNIT_WORDS.split())
_PER_WORDS = "kg m2 d h min dose 24h h d 1.73m2 wk kg/d kg/min kg/h kg/dose m2/d"
_PER = frozenset(_PER_WORDS.split())
_AGES = re.compile(
    r"\b(?:adults?|child(?:ren)?|infants?|neonat\w+|newborns?|p(?:a)?ediatric)\b", re.IGNORECASE
)
_JOINED = re.compile(r"\s*(?:,|and|or|&|/)\s*(?:in\s|for\s)?", re.IGNORECASE)
_SIDE = {"<": "under", "<=": "under", ">": "over", ">=": "over"}
_NO_DRUG = POINTING | {"against", "wherea", "versus", "vs"}
_ADJACENT = 3  # characters between a figure's unit and the drug it is written before
_OF = (" of ", " of\u00a0")


@value
class Dose:
    """A dose at `text[start:end]`. `drug` is the generic name, "" where the sentence names none.

    `near` is the stem of the figure's content word: it stands in for a drug that the vocabulary
    does not know. `often` are the frequencies written with it. `limit` is the age, weight or result
    that it is for ("under 6 months"), `None` where none is written with it; `whom` is "child" or
    "adult", "" unknown.
    """

    start: int
    end: int
    quantity: Quantity
    drug: str
    near: str
    often: frozenset[str]
    limit: Quantity | None = None
    whom: str = ""


def _is_dose(quantity: Quantity) -> bool:
    first, _, per = quantity.unit.partition("/")
    return first in _UNITS and (not per or per in _PER)


def doses(text: str | Read) -> list[Dose]:
    """Every dose of a sentence, a table row or a quoted passage, in order.

    A figure belongs to the drug written right after it ("500 mg of amoxicillin", "10 mg
    lisinopril"), else to the nearest drug before it, else to the next after it.
    """
    read = Read(text) if isinstance(text, str) else text
    found = [one for one in read.quantities if _is_dose(one)]
    out: list[Dose] = []
    for index, quantity in enumerate(found):
        before = found[index - 1].end if index else 0
        after = found[index + 1].start if index + 1 < len(found) else len(read.text)
        near = _near(read, quantity)
        last = index + 1 == len(found)
        out.append(
            Dose(
                start=quantity.start,
                end=quantity.end,
                quantity=quantity,
                drug=_drug(read.text, quantity, read.drugs),
                near=near,
                often=_often(read.frequencies, quantity, before, after, last=last),
                limit=_limit(read.quantities, quantity, before, after, last=last),
                whom=_whom(read.text, quantity.start, found[0].start),
            )
        )
    return out


def _whom(text: str, at: int, first: int) -> str:
    """Whom the dose at `at` is for: the last word for an age before it, or the next one after it.

    After it where the text's first dose, at `first`, stands before any. "" for "adults and children".
    """
    found = list(_AGES.finditer(text))
    if not found:
        return ""
    later = next((k for k, one in enumerate(found) if one.start() > at), len(found))
    k = min(later, len(found) - 1) if found[0].start() > first else later - 1
    kinds = ["adult" if one[0].lower().startswith("adult") else "child" for one in found]
    pairs = [(a, a + 1) for a in (k - 1, k) if 0 <= a < len(found) - 1]
    if any(
        kinds[a] != kinds[b] and _JOINED.fullmatch(text, found[a].end(), found[b].start())
        for a, b in pairs
    ):
        return ""
    return kinds[k]


def _near(read: Read, quantity: Quantity) -> str:
    """The content word of a figure: what it is of ("20 units of alcohol"), else the one before it."""
    following = next((word for word in read.stems if word.start >= quantity.end), None)
    if following is not None and read.text[quantity.end : following.start] in _OF:
        return following.key
    return next((word.key for word in reversed(read.stems) if word.end <= quantity.start), "")


def _drug(text: str, quantity: Quantity, known: list[Term]) -> str:
    following = next((term for term in known if term.start >= quantity.end), None)
    preceding = next((term for term in reversed(known) if term.end <= quantity.start), None)
    if following is not None:
        between = text[quantity.end : following.start]
        if between in _OF or (len(between) <= _ADJACENT and not between.strip(" ")):
            # "aspirin 75 mg clopidogrel 75 mg": a drug right before keeps its figure.
            close = preceding is not None and quantity.start - preceding.end <= _ADJACENT
            if not close:
                return following.key
    chosen = preceding or following
    return chosen.key if chosen else ""


def _often(
    often: list[Frequency], quantity: Quantity, before: int, after: int, *, last: bool
) -> frozenset[str]:
    """Frequencies after this figure and before the next; before the first where it has none."""
    mine = {one.label for one in often if quantity.end <= one.start < after}
    if not mine and before == 0:
        mine = {one.label for one in often if one.end <= quantity.start}
    if not mine and last:
        mine = {one.label for one in often if one.start >= quantity.end}
    return frozenset(mine)


def _limit(
    known: list[Quantity], dose: Quantity, before: int, after: int, *, last: bool
) -> Quantity | None:
    """The comparison between the dose before and this one; after the last, the next one."""
    limits = [one for one in known if one.comparator in _SIDE and not _is_dose(one)]
    return next(
        (one for one in reversed(limits) if before <= one.start and one.end <= dose.start),
        next((one for one in limits if last and dose.end <= one.start < after), None),
    )


def same_dose(said: Dose, written: Dose, *, words: frozenset[str]) -> bool:
    """Does `written` support `said`? `words` are the content stems of the written passage."""
    mine, theirs = said.quantity, written.quantity
    if mine.figure != theirs.figure or mine.joint != theirs.joint or mine.unit != theirs.unit:
        return False
    if not same_bound(mine, theirs):
        return False
    if not said.often <= written.often:
        return False
    if said.whom and written.whom and said.whom != written.whom:
        return False
    one, other = said.limit, written.limit
    opposite = one and other and _SIDE[one.comparator] != _SIDE[other.comparator]
    if one and other and opposite and one.figure == other.figure:
        return False  # "under 6 months" for "6 months and above"
    if said.drug or written.drug:
        if said.drug and written.drug:
            return said.drug == written.drug
        return bool(said.near) and said.near in words and not written.drug
    return not said.near or said.near in words


def unsupported(
    text: str | Read, passages: Sequence[str | Read], *, carried: str = ""
) -> list[Dose]:
    """The doses of `text` that stand together, word for word, in none of the passages.

    Args:
        text: What is said.
        passages: Cited passages, each a sentence, a table row or a record line.
        carried: The drug that the sentence named before this clause; a dose without one is of it.
    """
    said = [
        replace(one, drug=carried)
        if carried and not one.drug and (not one.near or one.near in _NO_DRUG)
        else one
        for one in doses(text)
    ]
    if not said:
        return []
    reads = [Read(one) if isinstance(one, str) else one for one in passages]
    written = [(doses(one), frozenset(term.key for term in one.stems)) for one in reads]
    return [
        dose
        for dose in said
        if not any(
            same_dose(dose, other, words=words) for found, words in written for other in found
        )
    ]
