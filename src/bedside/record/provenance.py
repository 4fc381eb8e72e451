"""What is derived about an entry: its age, whether it is stale, alone, or close to its limits.

The note stands beside the line and is not part of the citable text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from bedside.clinical.units import compare
from bedside.record.needs import Fact
from bedside.record.staleness import stale_after

__all__ = ["aged", "is_borderline", "kind_of", "position", "with_notes"]

_WIDTH = Decimal("0.10")
_ONE_SIDED = Decimal("0.05")
_MEDICINE_DAYS = 365
_ORDER_DAYS = 90
_DAYS, _WEEKS, _MONTHS = 14, 60, 730


def aged(when: date, as_of: date) -> str:
    """The age of something in words: "today", "3 days old", "5 months old", "2 years old"."""
    days = (as_of - when).days
    if days < 0:
        return "dated in the future"
    if days == 0:
        return "today"
    if days < _DAYS:
        return _plural(days, "day")
    if days < _WEEKS:
        return _plural(days // 7, "week")
    if days < _MONTHS:
        return _plural(int(days / 30.4375), "month")
    return _plural(int(days / 365.25), "year")


def _plural(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} old"


def kind_of(fact: Fact) -> str:
    """What makes two observations readings of the same thing: code and name, or name alone."""
    return f"{fact.code}|{fact.name.casefold()}"


def position(fact: Fact) -> str:
    """Say "above" or "below" its own range, "inside" it, "" where that cannot be said.

    A value with a comparator is placed only where the comparator allows it.
    """
    if fact.value is None or (fact.low is None and fact.high is None):
        return ""
    if fact.high is not None and fact.value > fact.high and not fact.comparator.startswith("<"):
        return "above"
    if fact.low is not None and fact.value < fact.low and not fact.comparator.startswith(">"):
        return "below"
    if fact.comparator:
        return ""
    return "inside"


def is_borderline(fact: Fact) -> bool:
    """Whether the value lies within 10 % of its range's width of a limit, on either side.

    Where the range has one limit only, within 5 % of that limit.
    """
    if fact.value is None or fact.comparator:
        return False
    if fact.low is not None and fact.high is not None:
        margin = (fact.high - fact.low) * _WIDTH
        return any(abs(fact.value - limit) <= margin for limit in (fact.low, fact.high))
    limit = fact.low if fact.low is not None else fact.high
    return limit is not None and abs(fact.value - limit) <= abs(limit) * _ONE_SIDED


def with_notes(facts: Sequence[Fact], *, as_of: date) -> list[Fact]:
    """The same facts of one category in the same order, each with its note."""
    readings: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.category == "observations":
            readings[kind_of(fact)].append(fact)
    return [_noted(fact, readings, as_of=as_of) for fact in facts]


def _noted(fact: Fact, readings: dict[str, list[Fact]], *, as_of: date) -> Fact:
    if fact.category == "observations":
        return _observation(fact, readings[kind_of(fact)], as_of=as_of)
    stale, said = False, ""
    day = fact.when.date() if fact.when else None
    if day is not None and fact.category == "medications" and fact.status in {"active", "on-hold"}:
        stale = (as_of - day).days > _MEDICINE_DAYS
        said = f"{aged(day, as_of)}; stale: check that it is still taken" if stale else ""
    elif day is not None and fact.category == "orders" and fact.status in {"active", "on-hold"}:
        stale = (as_of - day).days > _ORDER_DAYS
        said = aged(day, as_of) + ("; stale: still open" if stale else "")
    elif day is not None and fact.category in {"reports", "documents"}:
        said = aged(day, as_of)
    return replace(fact, stale=stale, note=_joined((said, fact.note, _place(fact))))


def _observation(fact: Fact, kin: Sequence[Fact], *, as_of: date) -> Fact:
    day = fact.when.date() if fact.when else None
    limit = stale_after(fact)
    stale = day is not None and limit is not None and (as_of - day).days > limit
    age = aged(day, as_of) if day else "age unknown"
    close = is_borderline(fact) or any(is_borderline(part) for part in fact.parts)
    note = _joined(
        (
            f"{age}; stale" if stale else age,
            _placed(fact),
            "borderline" if close else "",
            "the only reading" if len(kin) == 1 else _among(fact, kin),
            _place(fact),
        )
    )
    return replace(fact, stale=stale, borderline=close, note=note)


def _placed(fact: Fact) -> str:
    """Above or below, where the laboratory did not say it itself."""
    said = []
    for item in (fact, *fact.parts):
        where = position(item)
        if where in {"above", "below"} and not item.interpretation:
            name = "" if item is fact else f"{item.name} "
            said.append(f"{name}{where} its range")
    return ", ".join(said)


def _among(fact: Fact, kin: Sequence[Fact]) -> str:
    """How this reading stands beside the one before it: another method or unit makes it unlike."""
    place = next(number for number, item in enumerate(kin) if item.source.id == fact.source.id)
    if any(
        item.source.id != fact.source.id and item.when == fact.when and _same_value(item, fact)
        for item in kin
    ):
        return "recorded twice"
    if place + 1 == len(kin):
        return ""
    before = kin[place + 1]
    if fact.method and before.method and fact.method != before.method:
        return "method differs from the reading before"
    return "unit differs from the reading before" if fact.unit != before.unit else ""


def _same_value(left: Fact, right: Fact) -> bool:
    if left.value is None or right.value is None:
        return left.value is None and right.value is None and left.text_value == right.text_value
    return compare((left.value, left.unit), (right.value, right.unit), left.name) == 0


def _place(fact: Fact) -> str:
    """The facility, where the line does not name it."""
    return f"at {fact.facility}" if fact.facility and fact.facility not in fact.line else ""


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)
