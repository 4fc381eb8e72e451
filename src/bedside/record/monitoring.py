"""The monitoring rules of the clinical pack against a record: conflicts, and what is overdue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

from bedside.clinical.analytes import analyte
from bedside.clinical.drugs import ingredients_of
from bedside.clinical.monitoring import (
    MonitoringRule,
    monitoring_pack,
    rules_for_condition,
    rules_for_drug,
)
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.record.abnormal import figure_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.needs import Fact, Insight, Person

__all__ = ["crossed_by", "drug_lab_conflicts", "overdue"]

_SEVERITY = {"critical": 0, "warning": 1, "info": 2}
_ACTIVE = {"active", "recurrence", "relapse"}
_BARE = {"", "{ratio}", "{inr}", "inr", "ratio", "1"}
_ADULT = 18
Readings = Mapping[str, Sequence[Fact]]


def drug_lab_conflicts(
    medicines: Sequence[Fact], conditions: Sequence[Fact], readings: Readings
) -> Iterator[Insight]:
    """Current medicines (and active problems) whose newest result crosses a rule's threshold.

    Of several rules on one medicine and one result the gravest speaks. A result that is stale is
    reported a grade milder and says so.
    """
    best: dict[tuple[str, str], tuple[int, Insight]] = {}
    for about, rule in _concerned(medicines, conditions):
        if rule.threshold is None:
            continue
        for key in rule.analytes:
            newest = _newest(readings, key)
            result = _in_unit(newest, rule.threshold.unit) if newest else None
            if newest is None or result is None or not rule.threshold.crossed(result):
                continue
            place = (about.source.id, key)
            rank = _SEVERITY[rule.severity]
            if place not in best or rank < best[place][0]:
                best[place] = (rank, _conflict(about, newest, rule))
    for _, insight in best.values():
        yield insight


def crossed_by(
    generics: Sequence[str], readings: Readings
) -> Iterator[tuple[MonitoringRule, Fact]]:
    """The rules that a medicine would meet if it were given, each with the result that crosses it.

    Of several rules on one result the gravest speaks.

    Args:
        generics: The medicine's ingredients.
        readings: By analyte, newest first.
    """
    best: dict[str, tuple[int, MonitoringRule, Fact]] = {}
    for rule in rules_for_drug(generics):
        if rule.threshold is None:
            continue
        for key in rule.analytes:
            newest = _newest(readings, key)
            result = _in_unit(newest, rule.threshold.unit) if newest else None
            if newest is None or result is None or not rule.threshold.crossed(result):
                continue
            rank = _SEVERITY[rule.severity]
            if key not in best or rank < best[key][0]:
                best[key] = (rank, rule, newest)
    for _, rule, newest in sorted(best.values(), key=lambda row: row[0]):
        yield rule, newest


def _concerned(
    medicines: Sequence[Fact], conditions: Sequence[Fact]
) -> Iterator[tuple[Fact, MonitoringRule]]:
    for fact in medicines:
        for rule in rules_for_drug(ingredients_of(fact.name)):
            yield fact, rule
    for fact in conditions:
        if fact.status in _ACTIVE:
            for rule in rules_for_condition(fact.name):
                yield fact, rule


def _newest(readings: Readings, key: str) -> Fact | None:
    return next((fact for fact in readings.get(key, ()) if fact.when is not None), None)


def _in_unit(fact: Fact, unit: str) -> Decimal | None:
    """The value in the rule's unit; `None` where they do not compare.

    An estimated filtration rate is indexed to body surface by definition: laboratories that write
    mL/min mean the same, and a missed contraindication would be worse than a loose unit.
    """
    if fact.value is None or fact.comparator:
        return None
    written = fact.unit.casefold().replace(" ", "")
    if written in _BARE and unit.casefold() in _BARE:
        return fact.value
    if written == "ml/min" and unit.casefold().startswith("ml/min/"):
        return fact.value
    try:
        return convert(fact.value, fact.unit, unit, fact.name)
    except (UnknownUnit, IncompatibleUnits):
        return None


def _conflict(about: Fact, newest: Fact, rule: MonitoringRule) -> Insight:
    day = spoken_date(newest.when.date()) if newest.when else "an unknown date"
    milder = {"critical": "warning", "warning": "info", "info": "info"}
    old = "; that value is stale" if newest.stale else ""
    return Insight(
        kind="drug_lab",
        severity=milder[rule.severity] if newest.stale else rule.severity,  # type: ignore[arg-type]
        title=f"{about.name} with {short_name(newest)} {figure_of(newest)}",
        text=f"{about.name} is {about.status or 'recorded'}; the newest {short_name(newest)} is "
        f"{figure_of(newest)} ({day}{old}): {rule.text} {_rests_on(rule)}.",
        facts=(about, newest),
        rule=rule.id,
    )


def _rests_on(rule: MonitoringRule) -> str:
    return f"(source: {rule.source}; {monitoring_pack().state})"


def overdue(
    medicines: Sequence[Fact],
    conditions: Sequence[Fact],
    readings: Readings,
    person: Person,
    *,
    as_of: date,
) -> Iterator[Insight]:
    """Monitoring that a medicine or problem asks for and that is too long ago, or never recorded.

    What began more recently than the interval is not overdue yet. The rules speak of adults; a
    child, or a person of unknown age, is left to people. One insight for each group of analytes,
    by the rule with the shortest interval.
    """
    if person.birth_date is None or (as_of - person.birth_date).days < _ADULT * 365:
        return
    best: dict[tuple[str, ...], tuple[tuple[int, int], Insight]] = {}
    for about, rule in _concerned(medicines, conditions):
        if rule.interval_days is None:
            continue
        since = as_of - timedelta(days=rule.interval_days)
        last = max(
            (fact for key in rule.analytes if (fact := _newest(readings, key)) is not None),
            key=lambda fact: fact.when.timestamp() if fact.when else 0.0,
            default=None,
        )
        if last is not None and last.when is not None and last.when.date() >= since:
            continue
        if last is None and about.when is not None and about.when.date() > since:
            continue
        rank = (_SEVERITY[rule.severity], rule.interval_days)
        place = (rule.analytes[0],)
        if place not in best or rank < best[place][0]:
            best[place] = (rank, _due(about, last, rule, as_of=as_of))
    for _, insight in best.values():
        yield insight


def _due(about: Fact, last: Fact | None, rule: MonitoringRule, *, as_of: date) -> Insight:
    names = " or ".join(analyte(key).name for key in rule.analytes)
    months = max(1, round((rule.interval_days or 0) / 30.4375))
    every = f"every {months} month{'' if months == 1 else 's'}"
    if last is None or last.when is None:
        state = f"no {names} is recorded"
    else:
        ago = max(1, int((as_of - last.when.date()).days / 30.4375))
        state = (
            f"the last {short_name(last)} was {figure_of(last)} on {spoken_date(last.when.date())}, "
            f"{ago} month{'' if ago == 1 else 's'} ago"
        )
    return Insight(
        kind="overdue",
        severity=rule.severity,
        title=f"{names} overdue: {about.name}",
        text=f"{about.name}: {state}; the rule asks for it {every}. "
        f"{rule.text[:1].upper()}{rule.text[1:]} {_rests_on(rule)}.",
        facts=(about, *((last,) if last else ())),
        rule=rule.id,
    )
