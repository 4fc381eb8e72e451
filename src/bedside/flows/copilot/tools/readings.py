"""Readings of one analyte, oldest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from bedside.core.value import value
from bedside.flows.copilot.names import is_reading_of, shown_name
from bedside.flows.copilot.query import Entity, Threshold, Window
from bedside.flows.copilot.tools.sheet import day_of, on_text
from bedside.record.needs import Fact

__all__ = ["Reading", "by_moment", "in_window", "passing", "readings_of", "same_unit", "units_of"]


@value
class Reading:
    """One figure (or coded value) with the entry it stands in.

    A blood pressure has its two figures in `figure` ("138/88") and no `value`. `day` is `None` when
    the entry is undated.
    """

    fact: Fact
    name: str
    value: Decimal | None
    figure: str
    unit: str
    text: str
    day: date | None

    @property
    def shown(self) -> str:
        """Figure and unit as written, or the words of a coded value."""
        if not self.figure:
            return self.text or "no value recorded"
        return f"{self.fact.comparator}{self.figure} {_unit(self.unit)}".rstrip()

    @property
    def dated(self) -> str:
        """Value and date: "8.2 % on 2 Nov 2026"."""
        return f"{self.shown} {on_text(self.fact)}"


def _unit(unit: str) -> str:
    """The unit as written; annotations are none, and brackets would read as a link."""
    if unit[:1] in {"{", "("}:
        return ""
    return unit.replace("mm[Hg]", "mmHg")


def readings_of(entity: Entity, facts: Iterable[Fact]) -> list[Reading]:
    """Every reading of an analyte, oldest first; undated ones come first.

    A component (systolic pressure) is a reading of its own, cited by the entry that holds it.
    """
    found: list[Reading] = []
    for fact in facts:
        if is_reading_of(entity.key, fact):
            found.append(_whole(entity, fact))
            continue
        found += [
            Reading(
                fact=fact,
                name=shown_name(entity.key) or part.name,
                value=part.value,
                figure=part.figure,
                unit=part.unit,
                text=part.text_value,
                day=day_of(fact),
            )
            for part in fact.parts
            if is_reading_of(entity.key, part)
        ]
    found = [one for one in found if one.figure or one.text]
    return sorted(
        found, key=lambda one: (one.fact.when is not None, _moment(one.fact), one.fact.line)
    )


def _moment(fact: Fact) -> float:
    return fact.when.timestamp() if fact.when is not None else 0.0


def _whole(entity: Entity, fact: Fact) -> Reading:
    figure, unit = fact.figure, fact.unit
    pair, text = _pair(fact), fact.text_value
    if not figure and pair is None and not text:
        told = [part for part in fact.parts if part.figure]
        text = ", ".join(f"{part.name.lower()} {part.figure} {_unit(part.unit)}" for part in told)
        text += " (the rest not recorded)" if text else ""
    if not figure and pair is not None:
        figure, unit = f"{pair[0].figure}/{pair[1].figure}", pair[0].unit
    return Reading(
        fact=fact,
        name=shown_name(entity.key) or fact.name,
        value=fact.value,
        figure=figure,
        unit=unit,
        text=text,
        day=day_of(fact),
    )


def _pair(fact: Fact) -> tuple[Fact, Fact] | None:
    """Systolic and diastolic of a blood pressure."""
    systolic = next((part for part in fact.parts if "systolic" in part.name.lower()), None)
    diastolic = next((part for part in fact.parts if "diastolic" in part.name.lower()), None)
    if systolic is None or diastolic is None or not systolic.figure or not diastolic.figure:
        return None
    return systolic, diastolic


def in_window(readings: Sequence[Reading], window: Window | None) -> list[Reading]:
    """Those whose day lies in the window; all of them where there is none."""
    if window is None:
        return list(readings)
    return [one for one in readings if window.holds(one.day)]


def by_moment(readings: Sequence[Reading]) -> int:
    """How many separate moments the readings were taken at."""
    return len({_moment(one.fact) for one in readings})


_UNIT_FORMS = {
    "percent": "%",
    "mmhg": "mm[hg]",
    "kgs": "kg",
    "kilograms": "kg",
    "kilos": "kg",
    "c": "cel",
    "celsius": "cel",
    "degreesc": "cel",
    "degrees": "cel",
    "meq/l": "mmol/l",
    "ml/min/1.73m2": "ml/min/{1.73_m2}",
    "ml/min/1.73": "ml/min/{1.73_m2}",
    "k/ul": "10*3/ul",
}


def _folded(unit: str) -> str:
    lower = unit.lower().replace(" ", "")
    lower = _UNIT_FORMS.get(lower, lower)
    return lower.replace("[", "").replace("]", "")


def same_unit(said: str, unit: str) -> bool:
    """True when a unit said in a question is the one written in the record; unsaid matches any."""
    if not said:
        return True
    return _folded(said) == _folded(unit)


def units_of(readings: Iterable[Reading]) -> set[str]:
    """The units in which the readings are written."""
    return {_folded(one.unit) for one in readings}


def passing(readings: Sequence[Reading], bound: Threshold) -> list[Reading] | None:
    """The readings on the asked side of a bound; `None` where they cannot be compared with it."""
    if any(one.value is None or one.fact.comparator for one in readings):
        return None
    if len(units_of(readings)) > 1 or not all(same_unit(bound.unit, one.unit) for one in readings):
        return None
    return [one for one in readings if one.value is not None and bound.passes(one.value)]
