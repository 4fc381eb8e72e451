"""Flags about results: outside their range, moving, against a medicine, against themselves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bedside.clinical.dosing import egfr_ckd_epi_2021
from bedside.clinical.drugs import ingredients_of
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.context import Item
from bedside.flows.briefing.findings import MILDER, Category, Cited, Flag
from bedside.flows.briefing.medicines import Kidney
from bedside.flows.briefing.phrases import opening
from bedside.flows.briefing.reading import Chart, age_at, plain
from bedside.flows.briefing.references import (
    allergy_reference,
    egfr_reference,
    entry,
    monitoring_reference,
    monitoring_rule,
    range_reference,
)
from bedside.record.abnormal import figure_of, short_name
from bedside.record.contradictions import allergy_conflict
from bedside.record.fhir.dates import spoken_date
from bedside.record.matching import analyte_key
from bedside.record.needs import Fact, Insight

__all__ = [
    "REPEAT",
    "abnormal_flags",
    "conflict_flags",
    "contradiction_flags",
    "kidney_of",
    "trend_flags",
]

REPEAT = "Consider repeating "
"""How an option begins that asks for a result again."""
_SHOWN_OLD = 3
_SHOWN_IN_GROUP = 12
_YOUNGEST = 18
_WEIGHT = {"drug_allergy": 10.0, "drug_lab": 8.0, "abnormal": 7.0, "trend": 4.0}
_SAID_ELSEWHERE = {"allergy-medicine", "class-twice"}
_MILD = {"active-past-end", "two-values", "medicine-twice"}
_SLOW = {"bmi", "weight", "waist"}
"""Measurements that nobody acts on the same day."""
_PASSING = {"temperature", "heart_rate", "respiratory_rate", "oxygen_saturation", "pain"}
"""Measurements of one moment: an old one is not worth repeating for its own sake."""
_PRESSURES = {"systolic_bp", "diastolic_bp"}


def kidney_of(chart: Chart) -> Kidney | None:
    """The newest filtration rate: a recorded eGFR, or one computed from a newer creatinine.

    The calculator is deterministic and its inputs are said. `None` where there is neither, or
    where age or sex is unknown.
    """
    recorded = next(iter(_dated(chart, "egfr")), None)
    creatinine = next(iter(_dated(chart, "creatinine")), None)
    if recorded is not None and not (
        creatinine and creatinine.when and recorded.when and creatinine.when > recorded.when
    ):
        if recorded.value is None or recorded.comparator:
            return None
        return Kidney(
            rate=recorded.value,
            said=f"the newest eGFR is {figure_of(recorded)} ({_day(recorded)}"
            f"{'; stale' if recorded.stale else ''})",
            items=(entry(recorded),),
            stale=recorded.stale,
        )
    return _computed(chart, creatinine) if creatinine is not None else None


def _computed(chart: Chart, creatinine: Fact) -> Kidney | None:
    if creatinine.when is None or creatinine.value is None or creatinine.comparator:
        return None
    age = age_at(chart.record.person.birth_date, creatinine.when.date())
    if age is None or age < _YOUNGEST or chart.sex not in {"female", "male"}:
        return None
    try:
        level = convert(creatinine.value, creatinine.unit, "mg/dL", "creatinine")
    except (UnknownUnit, IncompatibleUnits):
        return None
    if level <= 0:
        return None
    rate = egfr_ckd_epi_2021(level, age_years=age, sex=chart.sex)
    return Kidney(
        rate=rate,
        said=f"the eGFR computed by CKD-EPI 2021 is {rate} mL/min/1.73 m2, from creatinine "
        f"{figure_of(creatinine)} ({_day(creatinine)}{'; stale' if creatinine.stale else ''}), "
        f"{age} years, {chart.sex}",
        items=(entry(creatinine), egfr_reference()),
        stale=creatinine.stale,
    )


def _dated(chart: Chart, key: str) -> Iterator[Fact]:
    return (fact for fact in chart.readings.get(key, ()) if fact.when is not None)


def _day(fact: Fact) -> str:
    return spoken_date(fact.when.date()) if fact.when else "date not recorded"


def abnormal_flags(chart: Chart, insights: Sequence[Insight]) -> Iterator[Flag]:
    """Latest readings outside their range, each with its trend.

    Fresh ones stand for themselves. Of old ones the three furthest outside do; the others, and
    those that mean little alone, share one flag. Parts of one entry (a blood pressure) share one too.
    """
    trends = {
        short_name(one.facts[0]): one
        for one in insights
        if one.kind == "trend" and one.severity != "info"
    }
    found = sorted((one for one in insights if one.kind == "abnormal"), key=_rank)
    together: dict[str, list[Insight]] = {}
    rest: list[Insight] = []
    old = 0
    for insight in found:
        fact = insight.facts[0]
        key = str(fact.source.id)
        if key in together and insight.rule != "abnormal-minor":
            together[key].append(insight)
        elif insight.rule == "abnormal-minor" or (
            fact.stale and old >= _SHOWN_OLD and not _grave(insight)
        ):
            rest.append(insight)
        else:
            old += fact.stale
            together[key] = [insight]
    for place, some in enumerate(together.values()):
        yield _abnormal(chart, some, trends, place)
    if rest:
        rest.sort(key=lambda one: one.rule == "abnormal-minor")
        yield _others(chart, rest)


def _abnormal(
    chart: Chart, some: Sequence[Insight], trends: dict[str, Insight], place: int
) -> Flag:
    first = some[0]
    fact = first.facts[0]
    moving = [trends[name] for one in some if (name := short_name(one.facts[0])) in trends]
    severity = first.severity
    if _grave(first) and severity == "info":
        severity = "warning"  # an old one: nobody telephones now, and nobody should miss it
    key = analyte_key(fact)
    slow = key in _SLOW
    if slow and severity == "warning":
        severity = "info"
    passed = fact.stale and key in _PASSING
    ask = (fact.stale or severity == "critical") and not (slow or passed or chart.died)
    name = "blood pressure" if key in _PRESSURES else short_name(fact)
    return Flag(
        category=_category(fact),
        severity=severity,
        title=_title(first),
        description=(
            *(Cited(text=_read(one), items=_limits(chart, one.facts[0], one.text)) for one in some),
            *(_moving(one) for one in moving),
        ),
        rule=first.rule,
        action=Cited(
            text=f"{REPEAT}{name}, last measured {_day(fact)}",
            items=(entry(fact),),
        )
        if ask
        else None,
        weight=_WEIGHT["abnormal"] - place / 100,
    )


def _grave(insight: Insight) -> bool:
    return "critically" in insight.title


def _rank(insight: Insight) -> tuple[bool, bool]:
    """Critical values first, slow measurements last, else as the record room has them."""
    return not _grave(insight), analyte_key(insight.facts[0]) in _SLOW


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
            text=f"{_title(one)}: {figure_of(one.facts[0])}, {_day(one.facts[0])}",
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
    cited = allergy_reference(
        medicine=conflict.ingredient if conflict else medicine.name,
        allergen=conflict.allergen if conflict else allergy.name,
        text=text,
        source=conflict.source if conflict else "",
    )
    return Flag(
        category="medications",
        severity=insight.severity,
        title=insight.title,
        description=(
            Cited(
                text=f"{medicine.name} is {medicine.status}, and an allergy is recorded: "
                f"{allergy.name}; {text.rstrip('.')}",
                items=(entry(medicine), entry(allergy), cited),
            ),
        ),
        rule=insight.rule,
        action=Cited(
            text=f"Consider what reaction was meant, and another medicine than {medicine.name}",
            items=(entry(allergy), entry(medicine)),
        ),
        weight=_WEIGHT["drug_allergy"],
    )


def _against_result(chart: Chart, insight: Insight) -> Flag:
    about, result = insight.facts
    rule = monitoring_rule(insight.rule)
    items = (entry(about), entry(result), *((monitoring_reference(rule),) if rule else ()))
    text = insight.text.partition(" (source: ")[0].rstrip(".")
    generics = ingredients_of(about.name) if about.category == "medications" else ()
    name = "/".join(generics) if generics else plain(about.name)
    taken_once = about.category == "medications" and about.stale
    old = taken_once and chart.old and not result.stale
    if taken_once:
        text += "; ordered long ago, so check that it is still taken"
    return Flag(
        category="medications",
        severity=MILDER[insight.severity] if old else insight.severity,
        title=f"{opening(name)} and {short_name(result)}",
        description=(Cited(text=text, items=items),),
        rule=insight.rule,
        action=Cited(
            text=f"Consider reviewing {name} against {short_name(result)}", items=items[-1:]
        ),
        weight=_WEIGHT["drug_lab"],
    )


def contradiction_flags(chart: Chart) -> Iterator[Flag]:
    """Entries that cannot both be right, and that no other flag names."""
    for found in chart.record.contradictions:
        if found.rule in _SAID_ELSEWHERE:
            continue
        yield Flag(
            category="medications" if found.rule == "medicine-twice" else "other",
            severity="info" if found.rule in _MILD else "warning",
            title="The record contradicts itself",
            description=(
                Cited(
                    text=found.text.rstrip("."),
                    items=tuple(entry(fact) for fact in found.facts[:4]),
                ),
            ),
            rule=found.rule,
            weight=3.0,
        )
