"""Where a value stands: by the laboratory's own word and range first, by the pack's range else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Literal

from bedside.clinical.cautions import denies_pregnancy
from bedside.clinical.ranges import Range, flag, range_for
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.value import value
from bedside.record.matching import analyte_key
from bedside.record.needs import Fact, Person
from bedside.record.provenance import position

__all__ = ["Standing", "is_pregnant", "pregnancy_lasts", "standing"]

Level = Literal["critical_low", "low", "normal", "high", "critical_high"]
_TERM_DAYS = 310
"""No pregnancy lasts longer from its first entry; an entry often stays open in a record."""
_SAID: dict[str, Level] = {
    "high": "high",
    "low": "low",
    "critically high": "critical_high",
    "critically low": "critical_low",
    "significantly high": "high",
    "significantly low": "low",
    "normal": "normal",
}


@value
class Standing:
    """Where a value stands, and who says so.

    `by` is "laboratory" for its own flag or range; else the label of the pack whose range it was
    compared with, and `limits` is that range in words.
    """

    level: Level
    by: str
    limits: str
    source: str = ""
    beyond: Decimal = Decimal(0)
    """How far outside, as a share of the range's width (of the limit, where there is only one)."""

    @property
    def critical(self) -> bool:
        """Whether laboratories telephone for such a value."""
        return self.level.startswith("critical")


def is_pregnant(conditions: Sequence[Fact], *, as_of: date) -> bool | None:
    """True with an active entry of a pregnancy that can still last, else unknown: never False."""
    return any(pregnancy_lasts(fact, as_of=as_of) for fact in conditions) or None


def pregnancy_lasts(fact: Fact, *, as_of: date) -> bool | None:
    """Whether a problem is an active pregnancy; `False` where it began too long ago to last still.

    `None` for any other problem, and for one that denies it. One without a date is taken to last.
    """
    named = fact.name.casefold()
    if fact.status != "active" or "pregnan" not in named:
        return None
    if denies_pregnancy(named):
        return None
    return fact.when is None or (as_of - fact.when.date()).days <= _TERM_DAYS


def standing(fact: Fact, person: Person, *, pregnant: bool | None = None) -> Standing | None:
    """Where an observation (or one component of it) stands; `None` where nothing says so.

    The age is that at the reading. A value with a comparator, or in a unit that the range does not
    know, is not compared.
    """
    own = _own_limits(fact)
    if (said := _SAID.get(fact.interpretation.split(",")[0])) is not None:
        return Standing(
            level=said, by="laboratory", limits=own, beyond=_beyond(fact, fact.low, fact.high)
        )
    where = position(fact)
    if where:
        level: Level = {"above": "high", "below": "low"}.get(where, "normal")  # type: ignore[assignment]
        return Standing(
            level=_graver(level, fact, person, pregnant=pregnant),
            by="laboratory",
            limits=own,
            beyond=_beyond(fact, fact.low, fact.high),
        )
    reference = _reference(fact, person, pregnant=pregnant)
    if reference is None or fact.value is None:
        return None
    found = flag(fact.value, fact.unit, reference, comparator=fact.comparator)
    if found is None:
        return None
    usual = reference.low is not None or reference.high is not None
    return Standing(
        level=found,
        by=reference.label,
        limits=reference.text() if usual else _critical_limits(reference),
        source=reference.source,
        beyond=_beyond_reference(fact, reference),
    )


def _critical_limits(reference: Range) -> str:
    unit = "" if reference.unit.startswith(("{", "[")) else f" {reference.unit}"
    return f"critical {reference.critical_text()}{unit}"


def _beyond(fact: Fact, low: Decimal | None, high: Decimal | None) -> Decimal:
    if fact.value is None:
        return Decimal(0)
    gap = max(
        fact.value - high if high is not None else Decimal(0),
        low - fact.value if low is not None else Decimal(0),
        Decimal(0),
    )
    width = high - low if low is not None and high is not None else (high or low or Decimal(1))
    return gap / width if width > 0 else Decimal(0)


def _beyond_reference(fact: Fact, reference: Range) -> Decimal:
    """`_beyond` a range in another unit; 0 where the units do not convert."""
    if fact.value is None:
        return Decimal(0)
    try:
        value = convert(fact.value, fact.unit, reference.unit, analyte_key(fact) or None)
    except (UnknownUnit, IncompatibleUnits):
        return Decimal(0)
    return _beyond(replace(fact, value=value), reference.low, reference.high)


def _graver(level: Level, fact: Fact, person: Person, *, pregnant: bool | None) -> Level:
    """Outside its own range a value may also be critical, which ranges of reports do not say."""
    reference = _reference(fact, person, pregnant=pregnant)
    if level == "normal" or reference is None:
        return level
    found = flag(fact.value, fact.unit, reference, comparator=fact.comparator)
    return found if found is not None and found == f"critical_{level}" else level


def _reference(fact: Fact, person: Person, *, pregnant: bool | None) -> Range | None:
    key = analyte_key(fact)
    if not key or fact.when is None or person.birth_date is None:
        return None
    age = Decimal((fact.when.date() - person.birth_date).days) / Decimal("365.25")
    return range_for(key, sex=person.sex, age_years=age, pregnant=pregnant)


def _own_limits(fact: Fact) -> str:
    if fact.low is not None and fact.high is not None:
        return f"{fact.low}-{fact.high}"
    if fact.high is not None:
        return f"up to {fact.high}"
    return f"from {fact.low}" if fact.low is not None else ""
