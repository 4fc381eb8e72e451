"""Flags about results that mean more together than each alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal

from bedside.clinical.combinations import Bound, CombinationRule, combination_rules
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.flows.briefing.findings import Category, Cited, Flag
from bedside.flows.briefing.reading import Chart
from bedside.flows.briefing.references import entry, rule_item
from bedside.record.abnormal import figure_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.needs import Fact

__all__ = ["combination_flags"]

_WEIGHT = 9.5


def combination_flags(chart: Chart) -> Iterator[Flag]:
    """One flag for each rule whose every part the newest fresh readings fill; adults alone."""
    if chart.died or not chart.adult:
        return
    for rule in combination_rules():
        if rule.pregnant and chart.pregnant is not True:
            continue
        found = _together(chart, rule)
        if found:
            yield _flag(rule, found)


def _together(chart: Chart, rule: CombinationRule) -> tuple[Fact, ...]:
    """The readings that fill the rule, each once; empty where a part is open or they lie apart."""
    found: list[Fact] = []
    for part in rule.parts:
        crossed = [fact for bound in part for fact in _crossing(chart, bound)]
        if not crossed:
            return ()
        found += [fact for fact in crossed if fact not in found]
    days = [fact.when for fact in found if fact.when is not None]
    apart = max(days) - min(days)
    return tuple(found) if apart <= timedelta(days=rule.within_days) else ()


def _crossing(chart: Chart, bound: Bound) -> Iterator[Fact]:
    newest = next((one for one in chart.readings.get(bound.analyte, ()) if one.when), None)
    if newest is None or newest.stale or newest.value is None or newest.comparator:
        return
    figure = _in(newest, bound)
    if figure is not None and bound.crossed(figure):
        yield newest


def _in(fact: Fact, bound: Bound) -> Decimal | None:
    assert fact.value is not None
    try:
        return convert(fact.value, fact.unit, bound.unit, bound.analyte)
    except (UnknownUnit, IncompatibleUnits):
        return None


def _flag(rule: CombinationRule, found: Sequence[Fact]) -> Flag:
    category: Category = "conditions" if rule.pregnant else "labs"
    readings = [
        f"{short_name(one)} {figure_of(one)} ({spoken_date(one.when.date())})"
        for one in found
        if one.when is not None
    ]
    items = {str(one.source.id): entry(one) for one in found}
    cited = rule_item(rule.reference)
    return Flag(
        category=category,
        severity=rule.severity,
        title=rule.title,
        description=(
            Cited(text=f"{', '.join(readings)}; {rule.text}", items=(*items.values(), cited)),
        ),
        rule=rule.id,
        action=Cited(text=f"Consider {rule.action}", items=(cited,)),
        weight=_WEIGHT,
    )
