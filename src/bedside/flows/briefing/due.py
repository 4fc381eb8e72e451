"""Flags about what is due: monitoring, screening, prevention. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

from bedside.clinical.screening import ScreeningRule, screening_rules
from bedside.core.context import Item
from bedside.flows.briefing.findings import Cited, Flag
from bedside.flows.briefing.phrases import inside, joined
from bedside.flows.briefing.reading import Chart, plain
from bedside.flows.briefing.references import (
    entry,
    monitoring_reference,
    monitoring_rule,
    rule_item,
)
from bedside.record.fhir.dates import spoken_date
from bedside.record.matching import analyte_key
from bedside.record.needs import Category, Fact, Insight

__all__ = ["overdue_flags", "screening_flags"]

_EVIDENCE: tuple[Category, ...] = (
    "observations",
    "procedures",
    "reports",
    "immunizations",
    "documents",
)
_MANY = 2
_DUE = 4.7
_TITLES = {
    "cancer": "Cancer screening due",
    "infection": "Infection screening due",
    "immunization": "Vaccines due",
    "metabolic": "Metabolic screening due",
    "bone": "Bone density due",
    "diabetes": "Diabetes examinations due",
}
_PRESSURES = {"Systolic blood pressure", "Diastolic blood pressure"}
_SMOKES = ("smoker", "smokes", "smoked", "tobacco daily", "ex-smoker", "former smoker")
_SMOKES_NOT = ("never", "non-smoker", "nonsmoker", "not a smoker", "passive")


def overdue_flags(chart: Chart, insights: Sequence[Insight]) -> Iterator[Flag]:
    """Monitoring that a medicine or problem asks for: grave ones alone, the others together.

    Where the whole record ended long ago, its silence says little: nothing is critical then.
    """
    found = [one for one in insights if one.kind == "overdue"]
    quiet: list[Insight] = []
    for insight in found:
        if insight.severity == "info":
            quiet.append(insight)
            continue
        grave = insight.severity == "critical" and not chart.old
        yield Flag(
            category="screening",
            severity="critical" if grave else "warning",
            title=_title(insight),
            description=(_due(insight),),
            rule=insight.rule,
            action=_measure(insight),
            weight=5.0,
        )
    if len(quiet) <= _MANY:
        for insight in quiet:
            yield Flag(
                category="screening",
                severity="info",
                title=_title(insight),
                description=(_due(insight),),
                rule=insight.rule,
                action=_measure(insight),
                weight=_DUE,
            )
    else:
        yield Flag(
            category="screening",
            severity="info",
            title=f"Monitoring due: {len(quiet)} checks",
            description=tuple(_due(one) for one in quiet),
            rule="+".join(one.rule for one in quiet),
            action=Cited(
                text="Consider measuring " + joined([inside(_names(one)) for one in quiet]),
                items=tuple(_rule_items(quiet)),
            ),
            weight=_DUE,
        )


def _names(insight: Insight) -> str:
    """What to measure: the first of the names that serve alike."""
    name = insight.title.partition(" overdue: ")[0].partition(" or ")[0]
    return "Blood pressure" if name in _PRESSURES else name


def _title(insight: Insight) -> str:
    return f"{_names(insight)} due"


def _rule_items(insights: Sequence[Insight]) -> Iterator[Item]:
    for insight in insights:
        rule = monitoring_rule(insight.rule)
        if rule is not None:
            yield monitoring_reference(rule)


def _due(insight: Insight) -> Cited:
    items = (*(entry(fact) for fact in insight.facts), *_rule_items([insight]))
    return Cited(text=insight.text.partition(" (source: ")[0].rstrip("."), items=items)


def _measure(insight: Insight) -> Cited:
    return Cited(
        text=f"Consider measuring {inside(_names(insight))}",
        items=(*_rule_items([insight]), entry(insight.facts[0])),
    )


def screening_flags(chart: Chart) -> Iterator[Flag]:
    """What the screening table asks for and the record does not show, one flag for each group.

    Adults only, and nobody who died. What a record does not show may still have been done.
    """
    if not chart.adult or chart.died or chart.age is None:
        return
    wanted = [(rule, _last(chart, rule)) for rule in screening_rules() if _wanted(chart, rule)]
    missing = [(rule, last) for rule, last in wanted if not _recent(last, chart.today)]
    for group, rows in groupby(missing, key=lambda row: row[0].group):
        some = list(rows)
        yield Flag(
            category="screening",
            severity="info",
            title=f"{some[0][0].name} due" if len(some) == 1 else _TITLES[group],
            description=tuple(
                _said(chart, rule, last, due=" due" if len(some) == 1 else "")
                for rule, last in some
            ),
            rule="+".join(f"screening-{rule.id}" for rule, _ in some),
            action=Cited(
                text="Consider offering "
                + joined([inside(rule.name) for rule, _ in some])
                + ", unless it was done elsewhere",
                items=tuple(rule_item(rule.reference) for rule, _ in some),
            ),
            weight=2.5 if group in {"cancer", "diabetes"} else 1.5,
        )


def _wanted(chart: Chart, rule: ScreeningRule) -> bool:
    """Does the rule mean this person, and is it not pointless?"""
    assert chart.age is not None
    problems = [plain(one.name) for one in chart.problems]
    if not rule.means(sex=chart.sex, age=chart.age, problems=problems):
        return False
    if rule.smoker and not _smokes(chart):
        return False
    if rule.bmi is not None and not _heavy(chart, rule.bmi):
        return False
    done = [
        fact.name for category in ("conditions", "procedures") for fact in chart.record.of(category)
    ]
    return not rule.pointless(done)


def _heavy(chart: Chart, least: int) -> bool:
    newest = next((one for one in chart.readings.get("bmi", ()) if one.when), None)
    return newest is not None and newest.value is not None and newest.value >= least


def _smokes(chart: Chart) -> bool:
    for fact in chart.record.of("observations"):
        if "tobacco" in fact.name.casefold() or "smok" in fact.name.casefold():
            said = fact.text_value.casefold()
            if said:
                return any(word in said for word in _SMOKES) and not any(
                    word in said for word in _SMOKES_NOT
                )
    return any(
        word in fact.name.casefold()
        for fact in chart.record.of("conditions")
        for word in ("smokes", "tobacco dependence", "nicotine dependence")
    )


def _last(chart: Chart, rule: ScreeningRule) -> tuple[Fact, int] | None:
    """The entry that satisfies the rule for longest, with its years; `None` where there is none."""
    best: tuple[date, Fact, int] | None = None
    for category in _EVIDENCE:
        for fact in chart.record.of(category):
            if fact.when is None or fact.when.date() > chart.today:
                continue
            for one in (fact, *fact.parts):
                key = analyte_key(one) if category == "observations" else ""
                years = [kind.years for kind in rule.evidence if kind.fits(one.name, key)]
                if not years:
                    continue
                term = 0 if 0 in years else max(years)
                until = date.max if term == 0 else _plus(fact.when.date(), term)
                if best is None or until > best[0]:
                    best = (until, fact, term)
    return None if best is None else (best[1], best[2])


def _plus(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return day.replace(year=day.year + years, day=28)


def _recent(last: tuple[Fact, int] | None, today: date) -> bool:
    if last is None:
        return False
    fact, years = last
    if years == 0:
        return True
    assert fact.when is not None
    return _plus(fact.when.date(), years) >= today


def _said(chart: Chart, rule: ScreeningRule, last: tuple[Fact, int] | None, *, due: str) -> Cited:
    asked = f"the table asks for {rule.text}"
    age = f"{chart.age} years" + (f", {chart.sex}" if rule.sex else "")
    if last is None:
        return Cited(
            text=f"{rule.name}{due}: not found in this record ({age}); {asked}",
            items=(rule_item(rule.reference),),
        )
    fact, _ = last
    day = spoken_date(fact.when.date()) if fact.when else "date not recorded"
    return Cited(
        text=f"{rule.name}{due}: last {plain(fact.name)}, {day} ({age}); {asked}",
        items=(entry(fact), rule_item(rule.reference)),
    )
