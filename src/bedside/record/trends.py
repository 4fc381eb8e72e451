"""Trends: three or more readings that go one way, up to the latest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.record.abnormal import figure_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import standing
from bedside.record.needs import Fact, Insight, Person

__all__ = ["run_of", "trends"]

_LEAST = 3
_MOST = 6
_CHANGE = Decimal("0.10")
_NO_TREND = {"height", "pain"}
_GROWTH = {"weight", "bmi", "systolic_bp", "diastolic_bp", "head_circumference"}
"""What rises in every child."""
_ADULT_DAYS = 18 * 365


def trends(
    readings: dict[str, list[Fact]], person: Person, *, pregnant: bool | None
) -> Iterator[Insight]:
    """One insight for each measurement whose latest readings rise, or fall, without exception.

    At least three readings at different moments, and at least a tenth of the first value in all.
    It is a warning where the latest value is outside its range on the side it moves to.
    """
    for key, some in readings.items():
        run = None if key in _NO_TREND else run_of(some)
        if run is None or (key in _GROWTH and _of_a_child(run, person)):
            continue
        latest = run[-1]
        values = _values(run)
        rising = values[-1] > values[0]
        where = standing(latest, person, pregnant=pregnant)
        side = "high" if rising else "low"
        worse = where is not None and where.level.endswith(side)
        steps = ", ".join(
            f"{figure_of(fact)} ({spoken_date(fact.when.date())})" for fact in run if fact.when
        )
        way = "rising" if rising else "falling"
        yield Insight(
            kind="trend",
            severity="warning" if worse and not latest.stale else "info",
            title=f"{short_name(latest)} {way} over {len(run)} readings",
            text=f"{short_name(latest)} {way} over {len(run)} readings: {steps}.",
            facts=tuple(reversed(run)),
            rule="trend",
        )


def _of_a_child(run: Sequence[Fact], person: Person) -> bool:
    """True of readings that began in childhood, however old the person is by now."""
    begun = run[0].when
    born = person.birth_date
    return born is not None and begun is not None and (begun.date() - born).days < _ADULT_DAYS


def run_of(newest_first: Sequence[Fact]) -> tuple[Fact, ...] | None:
    """The longest run of readings up to the latest that goes one way, oldest first; at most six.

    `None` where fewer than three do, or the whole change is below a tenth of the first value.
    """
    dated = [
        fact
        for fact in newest_first
        if fact.when is not None and fact.value is not None and not fact.comparator
    ]
    run: list[Fact] = dated[:1]
    sign = 0
    for earlier in dated[1:]:
        step = _step(earlier, run[-1])
        if step is None or step == 0 or earlier.when == run[-1].when:
            break
        if sign and (step > 0) != (sign > 0):
            break
        sign = 1 if step > 0 else -1
        run.append(earlier)
        if len(run) == _MOST:
            break
    run.reverse()
    if len(run) < _LEAST:
        return None
    values = _values(run)
    if abs(values[-1] - values[0]) < abs(values[0]) * _CHANGE:
        return None
    return tuple(run)


def _step(earlier: Fact, later: Fact) -> Decimal | None:
    """Later minus earlier in the later one's unit; `None` where they do not compare."""
    if earlier.value is None or later.value is None:
        return None
    if earlier.unit == later.unit:
        return later.value - earlier.value
    try:
        return later.value - convert(earlier.value, earlier.unit, later.unit, later.name)
    except (UnknownUnit, IncompatibleUnits):
        return None


def _values(run: Sequence[Fact]) -> list[Decimal]:
    """The values of a run in the unit of its last reading; they were found to compare."""
    unit = run[-1].unit
    found = []
    for fact in run:
        if fact.value is None:
            continue
        same = fact.unit == unit
        found.append(fact.value if same else convert(fact.value, fact.unit, unit, run[-1].name))
    return found
