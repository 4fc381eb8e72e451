"""Flags about medicines: interactions, duplicates, conditions, kidney function. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from bedside.clinical.cautions import CautionRule, cautions_for
from bedside.clinical.dosing import DosingRule
from bedside.clinical.duplicates import duplicate_groups
from bedside.clinical.monitoring import MonitoringRule, rules_for_drug
from bedside.clinical.rules import GRAVITY
from bedside.core.context import Item
from bedside.flows.briefing.findings import MILDER, Cited, Flag, Severity
from bedside.flows.briefing.kidney import Kidney
from bedside.flows.briefing.phrases import called, inside, joined, opening
from bedside.flows.briefing.reading import Chart, Medicine, plain
from bedside.flows.briefing.references import entry, monitoring_reference, rule_item
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import pregnancy_lasts
from bedside.record.needs import Fact

__all__ = ["caution_flags", "dosing_flags", "duplicate_flags", "interaction_flags"]

_FILTRATION = {"egfr", "creatinine_clearance"}
_WEIGHT = {"interaction": 9.0, "caution": 8.5, "dosing": 8.0, "duplicate": 6.0}


def interaction_flags(chart: Chart) -> Iterator[Flag]:
    """One flag for each pair of current medicines that a rule names; the gravest rule of a pair."""
    for one, other in combinations(chart.systemic, 2):
        if set(one.generics) & set(other.generics):
            continue
        found = chart.interactions.between(one.generics, other.generics)
        if not found:
            continue
        rule, left, right = found[0]
        left, right = called(one.name, left), called(other.name, right)
        severity, remark = _as_old(chart, rule.severity, (one, other))
        yield Flag(
            category="medications",
            severity=severity,
            title=f"{opening(left)} with {right}",
            description=(
                Cited(
                    text=f"{one.name} and {other.name} are both current: {rule.text}",
                    items=(entry(one.fact), entry(other.fact), rule_item(rule.reference)),
                ),
                *remark,
            ),
            rule=rule.id,
            action=Cited(
                text=f"Consider {rule.action} ({left} with {right})",
                items=(rule_item(rule.reference),),
            ),
            weight=_WEIGHT["interaction"],
        )


def duplicate_flags(chart: Chart) -> Iterator[Flag]:
    """One flag for each group of which two or more different medicines are current."""
    for group in duplicate_groups():
        members: dict[str, Medicine] = {}
        for medicine in chart.systemic:
            generic = group.member(medicine.generics)
            if generic:
                members.setdefault(generic, medicine)
        if len(members) < 2:  # noqa: PLR2004 - two make a duplicate
            continue
        severity, remark = _as_old(chart, group.severity, tuple(members.values()))
        named = joined([one.name for one in members.values()])
        some = "both" if len(members) == 2 else "all"  # noqa: PLR2004
        yield Flag(
            category="medications",
            severity=severity,
            title=f"Two {group.name}: {joined(members)}"
            if len(members) == 2  # noqa: PLR2004
            else f"Several {group.name}: {joined(members)}",
            description=(
                Cited(
                    text=f"{named} are current, {some} of them {group.name}: usually one is taken at a "
                    "time",
                    items=(
                        *(entry(one.fact) for one in members.values()),
                        rule_item(group.reference),
                    ),
                ),
                *remark,
            ),
            rule=f"duplicate-{group.id}",
            action=Cited(
                text=f"Consider whether {some} of these {group.name} are taken ({joined(members)})",
                items=(rule_item(group.reference),),
            ),
            weight=_WEIGHT["duplicate"],
        )


def caution_flags(chart: Chart) -> Iterator[Flag]:
    """One flag for each current medicine and open problem that a rule names; the gravest of each."""
    for medicine in chart.systemic:
        seen: set[str] = set()
        for rule in cautions_for(medicine.generics):
            problem = next(
                (
                    one
                    for one in chart.problems
                    if rule.concerns(one.name)
                    and not (rule.of_pregnancy and pregnancy_lasts(one, as_of=chart.today) is False)
                ),
                None,
            )
            if rule.conditions and problem is None:
                continue
            about = problem.source.id if problem else ""
            if about in seen:
                continue
            seen.add(str(about))
            yield _caution(chart, medicine, problem, rule)


def _caution(chart: Chart, medicine: Medicine, problem: Fact | None, rule: CautionRule) -> Flag:
    severity, remark = _as_old(chart, rule.severity, (medicine,))
    generic = called(medicine.name, medicine.generics[0])
    if problem is None:
        title, text = opening(generic), f"{medicine.name} is current: {rule.text}"
    else:
        name = "Pregnancy" if rule.of_pregnancy else plain(problem.name)
        title = f"{opening(generic)} and {inside(name)}"
        text = f"{medicine.name} is current, and {name} is an open problem: {rule.text}"
    items = (entry(medicine.fact), *((entry(problem),) if problem else ()))
    return Flag(
        category="medications",
        severity=severity,
        title=title,
        description=(Cited(text=text, items=(*items, rule_item(rule.reference))), *remark),
        rule=rule.id,
        action=Cited(
            text=f"Consider {rule.action} ({generic})", items=(rule_item(rule.reference),)
        ),
        weight=_WEIGHT["caution"],
    )


def dosing_flags(chart: Chart, kidney: Kidney | None) -> Iterator[Flag]:
    """Current medicines whose label asks for another dose at this filtration rate."""
    if kidney is None or not chart.adult:
        return
    for medicine in chart.systemic:
        for rule, one, reference in _renal_rules(chart, medicine, kidney):
            severity, remark = _as_old(chart, rule.severity, (medicine,))
            if kidney.stale and severity == rule.severity:
                severity = MILDER[severity]
            generic = called(medicine.name, one)
            yield Flag(
                category="medications",
                severity=severity,
                title=f"{opening(generic)} and kidney function",
                description=(
                    Cited(
                        text=f"{medicine.name} is current; {kidney.said}: {rule.text}",
                        items=(entry(medicine.fact), *kidney.items, reference),
                    ),
                    *remark,
                ),
                rule=rule.id,
                action=Cited(
                    text=f"Consider checking the dose of {generic} against kidney function",
                    items=(reference,),
                ),
                weight=_WEIGHT["dosing"],
            )


def _renal_rules(
    chart: Chart, medicine: Medicine, kidney: Kidney
) -> Iterator[tuple[DosingRule | MonitoringRule, str, Item]]:
    """The rules that this rate crosses, each with the generic that it concerns and its text.

    Those about a result apply to a rate that no result says too: one computed, or that of dialysis;
    one that the record itself holds against a result as gravely stands there already.
    """
    against = {
        (one.rule, one.severity, one.facts[0].source.id)
        for one in chart.record.insights
        if one.kind == "drug_lab"
    }
    for rule in chart.dosing.rules_for(medicine.generics):
        if kidney.below(rule.below):
            generic = next(one for one in medicine.generics if one in rule.drugs)
            yield rule, generic, rule_item(rule.reference)
    for generic in () if kidney.recorded else medicine.generics:
        crossed = [
            one
            for one in rules_for_drug((generic,))
            if _FILTRATION.intersection(one.analytes)
            and one.threshold is not None
            and one.threshold.op == "<"
            and kidney.below(one.threshold.value)
        ]
        if crossed:
            gravest = min(crossed, key=lambda one: GRAVITY[one.severity])
            if (gravest.id, gravest.severity, medicine.fact.source.id) in against:
                continue
            yield gravest, generic, monitoring_reference(gravest)


def _as_old(
    chart: Chart, severity: Severity, medicines: Sequence[Medicine]
) -> tuple[Severity, tuple[Cited, ...]]:
    """An order of long ago may not be taken any more, and that is said.

    A grade milder only where the whole record ended long ago: else an active entry stands.
    """
    stale = [one for one in medicines if one.fact.stale]
    if stale and chart.old:
        severity = MILDER[severity]
    said = joined(
        [f"{one.name} ({spoken_date(one.fact.when.date())})" for one in stale if one.fact.when]
    )
    if not said:
        return severity, ()
    text = f"Ordered long ago, so check that it is still taken: {said}"
    return severity, (Cited(text=text, items=tuple(entry(one.fact) for one in stale)),)
