"""Figures that our own writers computed, computed again. Pure.

A count, a mean, a difference, a sum, a median or an age is accepted from a deterministic writer
only if doing it again from the cited figures (or their dates) gives the same digits. A model's
arithmetic is never accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from statistics import median

from bedside.grounding.figures import Figures
from bedside.grounding.support import Evidence
from bedside.language.dates import dates
from bedside.language.quantities import Quantity, quantities

__all__ = ["recomputed"]

_COUNTED = {"", "time", "dose"}
_TIME = {"d", "wk", "mo", "a", "h", "min"}
_MOST = 400


def recomputed(
    said: str, evidence: Sequence[Evidence], computed: Sequence[str] = (), *, counts: int = 0
) -> bool:
    """Does every figure of `said` stand in the evidence, or come out of it again?

    Args:
        said: The sentence.
        evidence: What it cites.
        computed: Outputs of calculators that stand in the context.
        counts: How many things there are to count beyond the cited ones (sources shown).
    """
    texts = [one.context for one in evidence]
    held = Figures(
        [*texts, *(one.notes for one in evidence), *computed],
        known=[one.dated for one in evidence if one.dated],
    )
    others = {str(n) for n in range(max(len(evidence), counts) + 1)}
    for one in quantities(said):
        if held.figure(one):
            continue
        if one.high is not None:
            return False
        counted = one.unit in _COUNTED and str(one.low) in others
        again = _spans(one, evidence) if one.unit in _TIME else _result(one, held)
        if not counted and not again:
            return False
    return all(held.day(when) for when in dates(said))


def _result(one: Quantity, held: Figures) -> bool:
    """Is it a mean, median, sum, difference or relative change of figures with that unit?"""
    same = [
        q.low for q in held.quantities if q.high is None and (q.unit == one.unit or not one.unit)
    ]
    pairs = [q.low for q in held.quantities if q.high is None] if one.unit == "%" else same
    if not same and not pairs:
        return False
    candidates: list[Decimal] = []
    if same:
        candidates += [
            sum(same, Decimal(0)),
            sum(same, Decimal(0)) / len(same),
            Decimal(median(same)),
        ]
    few = same[:_MOST]
    candidates += [abs(a - b) for a in few for b in few]
    if one.unit == "%":
        few = pairs[:_MOST]
        candidates += [abs(a - b) / b * 100 for a in few for b in few if b]
    return any(_rounds_to(candidate, one.low) for candidate in candidates)


def _rounds_to(exact: Decimal, said: Decimal) -> bool:
    places = Decimal(1).scaleb(int(said.as_tuple().exponent))
    return said in {
        exact.quantize(places, rounding=ROUND_HALF_UP),
        exact.quantize(places, rounding=ROUND_HALF_EVEN),
    }


def _spans(one: Quantity, evidence: Sequence[Evidence]) -> bool:
    """Is it the time between two of the cited dates, in whole units, either way rounded?"""
    days: list[date] = [d for e in evidence for w in dates(e.context) for d in w.days]
    days += [e.dated for e in evidence if e.dated]
    length = {"d": 1.0, "wk": 7.0, "mo": 30.44, "a": 365.25}.get(one.unit)
    if length is None:
        return False
    return any(abs(abs((a - b).days) / length - float(one.low)) < 1 for a in days for b in days)
