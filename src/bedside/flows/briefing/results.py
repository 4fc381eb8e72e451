"""Flags about results: outside their range, moving, against a medicine, against themselves. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from bedside.clinical.drugs import ingredients_of
from bedside.clinical.rules import GRAVITY
from bedside.core.context import Item
from bedside.flows.briefing.findings import MILDER, Category, Cited, Flag, Severity
from bedside.flows.briefing.kidney import Kidney, kidney_of
from bedside.flows.briefing.phrases import called, inside, joined, opening
from bedside.flows.briefing.reading import Chart, is_dialysis, plain
from bedside.flows.briefing.references import (
    allergy_reference,
    entry,
    goal_reference,
    monitoring_reference,
    monitoring_rule,
    range_reference,
)
from bedside.record.abnormal import figure_of, short_name
from bedside.record.contradictions import allergy_conflict
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import standing
from bedside.record.matching import analyte_key
from bedside.record.needs import Contradiction, Fact, Insight

__all__ = [
    "REPEAT",
    "abnormal_flags",
    "conflict_flags",
    "contradiction_flags",
    "trend_flags",
]

REPEAT = "Consider repeating "
"""How an option begins that asks for a result again."""
_SHOWN_OLD = 3
_SHOWN_IN_GROUP = 12
_NAMED = 3
_WEIGHT = {
    "drug_allergy": 10.0,
    "critical": 9.8,
    "drug_lab": 9.6,
    "abnormal": 7.0,
    "old": 4.5,
    "trend": 4.0,
}
_SAID_ELSEWHERE = {"allergy-medicine", "class-twice"}
_OF_TREATMENT = {"medicine-twice", "active-past-end"}
_MILD = {"active-past-end", "two-values", "medicine-twice"}
_SLOW = {"bmi", "weight", "waist"}
"""Measurements that nobody acts on the same day."""
_PASSING = {"temperature", "heart_rate", "respiratory_rate", "oxygen_saturation", "pain"}
"""Measurements of one moment: an old one is not worth repeating for its own sake."""
_PRESSURES = {"systolic_bp", "diastolic_bp"}
_FAR = {"egfr": (Decimal(30), "ml/min"), "bmi": (Decimal(16), "kg/m2"), "lvef": (Decimal(35), "%")}
"""Limits below which a value stands for itself however old it is, though no laboratory telephones:
G4 of KDIGO 2024, severe thinness of WHO, the ejection fraction of device therapy (AHA/ACC/HFSA 2022)."""
_REPLACED = {"creatinine", "egfr", "bun"}
"""Measurements of the kidneys' work, which dialysis takes over."""
_GOAL = Decimal(7)
_DIABETES = re.compile(r"\bdiabet", re.IGNORECASE)
_NO_DIABETES = re.compile(
    r"\bpre[\s-]*diabet|\binsipidus\b|\bgestational\b|\b(?:family|FH|FHx|mother|father|parents?"
    r"|sibling|brother|sister|risk|borderline|suspected|possible|screening)\b"
    r"|\bnon[\s-]*diabet|\b(?:no|not|without)\b(?:\s+\w+){0,3}\s+diabet",
    re.IGNORECASE,
)
"""What only names diabetes mellitus, or is another illness: its HbA1c has no such goal."""
_TWO_SIDES = {
    "no-known-allergies": "Allergies recorded, and none known",
    "two-values": "Two values of {name} at the same moment",
    "constant-changed": "Two values of {name}, which cannot change",
    "active-and-resolved": "{name}: active and resolved",
    "active-past-end": "{name}: active after its end",
    "medicine-twice": "{name}: in two current entries",
}
"""What a contradiction's flag is called, so that each is told apart."""


def _day(fact: Fact) -> str:
    return spoken_date(fact.when.date()) if fact.when else "date not recorded"


def abnormal_flags(chart: Chart, insights: Sequence[Insight]) -> Iterator[Flag]:
    """Latest readings outside their range, each with its trend.

    Fresh ones stand for themselves. Of old ones the three furthest outside do; the others, those of
    one moment (a temperature), and those that mean little alone, share one flag. Parts of one entry
    (a blood pressure) share one too.
    """
    kidney = kidney_of(chart)
    trends = {
        short_name(one.facts[0]): one
        for one in insights
        if one.kind == "trend" and one.severity != "info"
    }
    found = sorted(
        (one for one in insights if one.kind == "abnormal"), key=lambda one: _rank(one, kidney)
    )
    together: dict[str, list[Insight]] = {}
    rest: list[Insight] = []
    old = 0
    for insight in found:
        fact = insight.facts[0]
        key = str(fact.source.id)
        grave = _grave(insight, kidney)
        passed = fact.stale and analyte_key(fact) in _PASSING
        if key in together and (grave or insight.rule != "abnormal-minor"):
            together[key].append(insight)
        elif not grave and (
            insight.rule == "abnormal-minor" or passed or (fact.stale and old >= _SHOWN_OLD)
        ):
            rest.append(insight)
        else:
            old += fact.stale
            together[key] = [insight]
    for place, some in enumerate(together.values()):
        yield _abnormal(chart, some, trends, place, kidney)
    if rest:
        rest.sort(key=lambda one: one.rule == "abnormal-minor")
        yield _others(chart, rest)


def _abnormal(
    chart: Chart,
    some: Sequence[Insight],
    trends: dict[str, Insight],
    place: int,
    kidney: Kidney | None,
) -> Flag:
    some = sorted(some, key=lambda one: GRAVITY[_severity(chart, one, kidney)])
    first = some[0]
    fact = first.facts[0]
    moving = [trends[name] for one in some if (name := short_name(one.facts[0])) in trends]
    severity = _severity(chart, first, kidney)
    grave = _grave(first, kidney)
    key = analyte_key(fact)
    slow = key in _SLOW
    replaced = chart.dialysis and key in _REPLACED
    passed = fact.stale and key in _PASSING
    ask = (fact.stale or severity == "critical") and not (slow or passed or replaced or chart.died)
    name = "blood pressure" if key in _PRESSURES else short_name(fact)
    return Flag(
        category=_category(fact),
        severity=severity,
        title=_title(first),
        description=(
            *(Cited(text=_read(one), items=_limits(chart, one.facts[0], one.text)) for one in some),
            *(remark for one in some for remark in _remarks(chart, one, kidney)),
            *(_moving(one) for one in moving),
        ),
        rule=first.rule,
        action=Cited(
            text=f"Consider same-day review of {name}, and repeating it; last measured {_day(fact)}"
            if severity == "critical"
            else f"{REPEAT}{name}, last measured {_day(fact)}",
            items=(entry(fact),),
        )
        if ask
        else None,
        weight=_WEIGHT[_rank_of(chart, fact, severity, grave=grave)] - place / 100,
        about=key,
    )


def _severity(chart: Chart, insight: Insight, kidney: Kidney | None) -> Severity:
    """How grave a reading is to this person; the gravest of one entry leads its flag."""
    severity = insight.severity
    grave = _grave(insight, kidney)
    if grave and severity == "info":
        severity = "warning"  # an old one: nobody telephones now, and nobody should miss it
    key = analyte_key(insight.facts[0])
    if key in _SLOW and severity == "warning" and not grave:
        severity = "info"
    if _at_goal(chart, insight):
        severity = "info"
    if chart.dialysis and key in _REPLACED:
        severity = MILDER[severity]
    return severity


def _rank_of(chart: Chart, fact: Fact, severity: str, *, grave: bool) -> str:
    """What is telephoned comes before most; an old one, mildly outside, after what is due."""
    if severity == "critical":
        return "critical"
    return "old" if fact.stale and not (grave or _far_out(chart, fact)) else "abnormal"


def _at_goal(chart: Chart, insight: Insight) -> bool:
    """Is it an HbA1c of somebody with diabetes, above the range of others and below the goal?"""
    fact = insight.facts[0]
    if analyte_key(fact) != "hba1c" or fact.value is None or fact.comparator:
        return False
    if not _title(insight).endswith(" high"):
        return False
    known = not chart.pregnant and any(_is_diabetes(one) for one in chart.problems)
    return known and fact.unit.strip() == "%" and fact.value < _GOAL


def _is_diabetes(problem: Fact) -> bool:
    """Does this problem say that the person has diabetes mellitus, for which the goal is meant?"""
    return bool(_DIABETES.search(problem.name)) and not _NO_DIABETES.search(problem.name)


def _remarks(chart: Chart, insight: Insight, kidney: Kidney | None) -> Iterator[Cited]:
    """What a reader of the figure needs beside it."""
    fact = insight.facts[0]
    if analyte_key(fact) == "creatinine" and kidney is not None and _rests_on(kidney, fact):
        yield Cited(text=opening(kidney.said), items=kidney.items)
    if _at_goal(chart, insight):
        yield Cited(
            text="It lies below 7 %, a goal for many adults with diabetes",
            items=(goal_reference(),),
        )
    if chart.dialysis and analyte_key(fact) in _REPLACED:
        dialysis = next(one for one in chart.problems if is_dialysis(one))
        text = f"Expected on dialysis ({plain(dialysis.name)} is an open problem)"
        yield Cited(text=text, items=(entry(dialysis),))


def _far_out(chart: Chart, fact: Fact) -> bool:
    """A whole width of its range outside: creatinine of 2.8 where 1.1 is the limit."""
    where = standing(fact, chart.record.person, pregnant=chart.pregnant)
    return where is not None and where.beyond >= 1


def _grave(insight: Insight, kidney: Kidney | None) -> bool:
    """Is it critical, below a limit of its own, or a creatinine that stands for such an eGFR?"""
    if "critically" in insight.title:
        return True
    fact = insight.facts[0]
    key = analyte_key(fact)
    limit, unit = _FAR.get(key, (None, ""))
    if limit is not None and fact.value is not None and fact.comparator in {"", "<", "<="}:
        below = fact.value < limit or (fact.comparator == "<" and fact.value == limit)
        return below and fact.unit.casefold().startswith(unit)
    return (
        key == "creatinine"
        and kidney is not None
        and _rests_on(kidney, fact)
        and kidney.rate < _FAR["egfr"][0]
    )


def _rests_on(kidney: Kidney, fact: Fact) -> bool:
    return kidney.items[0].key == str(fact.source.id)


def _rank(insight: Insight, kidney: Kidney | None) -> tuple[bool, bool]:
    """Critical values first, slow measurements last, else as the record room has them."""
    return not _grave(insight, kidney), analyte_key(insight.facts[0]) in _SLOW


def _title(insight: Insight) -> str:
    return insight.title.rpartition(": ")[0] or insight.title


def _read(insight: Insight) -> str:
    """The finding with its figure, date and range: "Potassium high: 5.6 mmol/L on 3 Nov 2026 (...)"."""
    fact = insight.facts[0]
    reason = insight.text[insight.text.index(" (", insight.text.rindex(": ")) + 2 :].rstrip(".")
    reason = reason.removesuffix(")")
    return f"{_title(insight)}: {figure_of(fact)} on {_day(fact)} ({reason})"


def _moving(insight: Insight) -> Cited:
    return Cited(text=insight.text.rstrip("."), items=tuple(entry(one) for one in insight.facts))


def _limits(chart: Chart, fact: Fact, text: str) -> tuple[Item, ...]:
    """The entry, and the table's range where that was what it was compared with."""
    own = "fallback range" not in text and "critically" not in text
    range_item = (
        None if own else range_reference(fact, chart.record.person, pregnant=chart.pregnant)
    )
    return (entry(fact), *((range_item,) if range_item else ()))


def _others(chart: Chart, rest: Sequence[Insight]) -> Flag:
    stale = all(one.facts[0].stale for one in rest)
    title = f"{'Older results' if stale else 'Other results'} outside their range"
    lines = [
        Cited(
            text=f"{_title(one)}: {figure_of(one.facts[0])}, {_day(one.facts[0])}"
            + (", so far off that the unit is in doubt" if "in doubt" in one.text else ""),
            items=_limits(chart, one.facts[0], one.text),
        )
        for one in rest[:_SHOWN_IN_GROUP]
    ]
    more = len(rest) - len(lines)
    if more:
        lines.append(Cited(text=f"And {more} more, none of them critical"))
    return Flag(
        category="labs",
        severity="info",
        title=title,
        description=tuple(lines),
        rule="abnormal-others",
        weight=1.0,
    )


def _category(fact: Fact) -> Category:
    return "other" if fact.group in {"vital-signs", "survey", "social-history"} else "labs"


def trend_flags(insights: Sequence[Insight]) -> Iterator[Flag]:
    """Readings that move out of their range and that no other flag names; the rest is for charts."""
    named = {short_name(one.facts[0]) for one in insights if one.kind == "abnormal"}
    for insight in insights:
        fact = insight.facts[0]
        if insight.kind != "trend" or insight.severity == "info" or short_name(fact) in named:
            continue
        yield Flag(
            category=_category(fact),
            severity=insight.severity,
            title=insight.title,
            description=(_moving(insight),),
            rule=insight.rule,
            weight=_WEIGHT["trend"],
        )


def conflict_flags(chart: Chart, insights: Sequence[Insight]) -> Iterator[Flag]:
    """A medicine against an allergy, and a medicine against a result."""
    if chart.died:
        return
    for insight in insights:
        if insight.kind == "drug_allergy":
            yield _allergy(insight)
        elif insight.kind == "drug_lab":
            yield _against_result(chart, insight)


def _allergy(insight: Insight) -> Flag:
    medicine, allergy = insight.facts
    conflict = allergy_conflict(medicine.name, allergy.name)
    text = conflict.text if conflict else insight.text
    why = text.rstrip(".")
    if conflict and ": " in why:  # of two medicines: what they have in common, or what is known
        why = f"{conflict.allergen} and {conflict.ingredient}: {why.partition(': ')[2]}"
    named = plain(allergy.name)
    reacted = f" ({', '.join(allergy.reactions)})" if allergy.reactions else ""
    cited = allergy_reference(
        medicine=conflict.ingredient if conflict else medicine.name,
        allergen=conflict.allergen if conflict else allergy.name,
        text=text,
        source=conflict.source if conflict else "",
    )
    return Flag(
        category="medications",
        severity=insight.severity,
        title=f"{opening(conflict.ingredient if conflict else plain(medicine.name))} and the "
        f"recorded allergy: {named}",
        description=(
            Cited(
                text=f"{plain(medicine.name)} is {medicine.status}, and an allergy is recorded: "
                f"{named}{reacted}; {why}",
                items=(entry(medicine), entry(allergy), cited),
            ),
        ),
        rule=insight.rule,
        action=_another(insight, medicine, allergy),
        weight=_WEIGHT["drug_allergy"],
    )


def _another(insight: Insight, medicine: Fact, allergy: Fact) -> Cited | None:
    """Ask what the reaction was where the record does not say; where it may matter, another medicine."""
    asks = [] if allergy.reactions else [f"checking what the reaction to {plain(allergy.name)} was"]
    if insight.severity != "info":
        asks.append(f"another medicine than {plain(medicine.name)}")
    if not asks:
        return None
    return Cited(text=f"Consider {', and '.join(asks)}", items=(entry(allergy), entry(medicine)))


def _against_result(chart: Chart, insight: Insight) -> Flag:
    about, result = insight.facts
    rule = monitoring_rule(insight.rule)
    items = (entry(about), entry(result), *((monitoring_reference(rule),) if rule else ()))
    text = insight.text.partition(" (source: ")[0].rstrip(".")
    generics = ingredients_of(about.name) if about.category == "medications" else ()
    name = called(about.name, "/".join(generics)) if generics else plain(about.name)
    taken_once = about.category == "medications" and about.stale
    old = taken_once and chart.old and not result.stale
    if taken_once:
        text += "; ordered long ago, so check that it is still taken"
    return Flag(
        category="medications",
        severity=MILDER[insight.severity] if old else insight.severity,
        title=f"{opening(name)} and {inside(short_name(result))}",
        description=(Cited(text=text, items=items),),
        rule=insight.rule,
        action=Cited(
            text=f"Consider reviewing {name} against {inside(short_name(result))}", items=items[-1:]
        ),
        weight=_WEIGHT["drug_lab"],
        about=analyte_key(result),
    )


def contradiction_flags(chart: Chart) -> Iterator[Flag]:
    """Entries that cannot both be right, and that no other flag names; several of one kind share one."""
    kinds: dict[str, list[Contradiction]] = {}
    for found in chart.record.contradictions:
        if found.rule in _SAID_ELSEWHERE or (chart.died and found.rule in _OF_TREATMENT):
            continue
        kinds.setdefault(found.rule, []).append(found)
    for rule, some in kinds.items():
        names = list(dict.fromkeys(map(_about, some)))
        more = len(names) - _NAMED
        lines = [
            Cited(text=one.text.rstrip("."), items=tuple(entry(fact) for fact in one.facts[:4]))
            for one in some[:_SHOWN_IN_GROUP]
        ]
        if len(some) > len(lines):
            lines.append(Cited(text=f"And {len(some) - len(lines)} more of this kind"))
        yield Flag(
            category="medications" if rule == "medicine-twice" else "other",
            severity="info" if rule in _MILD else "warning",
            title=_TWO_SIDES.get(rule, "The record contradicts itself").format(
                name=f"{', '.join(names[:_NAMED])} and {more} more" if more > 0 else joined(names)
            ),
            description=tuple(lines),
            rule=rule,
            weight=3.0,
        )


def _about(found: Contradiction) -> str:
    """What a contradiction is about, as its title says."""
    first = found.facts[0]
    if found.rule == "medicine-twice":
        return opening("/".join(ingredients_of(first.name)) or plain(first.name))
    return short_name(first) if first.category == "observations" else plain(first.name)
