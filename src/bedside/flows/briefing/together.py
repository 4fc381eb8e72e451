"""Flags about results that mean more together than each alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bedside.clinical.combinations import CombinationRule
from bedside.flows.briefing.findings import Category, Cited, Flag
from bedside.flows.briefing.reading import Chart
from bedside.flows.briefing.references import entry, rule_item
from bedside.record.abnormal import figure_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.interplay import combinations_met
from bedside.record.needs import Fact

__all__ = ["combination_flags"]

_WEIGHT = 9.5


def combination_flags(chart: Chart) -> Iterator[Flag]:
    """One flag for each rule whose every part the newest fresh readings fill; adults alone."""
    if chart.died or not chart.adult:
        return
    for rule, found in combinations_met(chart.readings, pregnant=chart.pregnant):
        yield _flag(rule, found)


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
