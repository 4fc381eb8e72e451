"""Abnormal now: the latest reading of each measurement that lies outside its range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal

from bedside.clinical.analytes import analyte
from bedside.record.fhir.dates import spoken_date
from bedside.record.fhir.shapes import brief, unit_shown
from bedside.record.limits import Standing, standing
from bedside.record.matching import analyte_key
from bedside.record.needs import Fact, Insight, Person
from bedside.record.provenance import kind_of

__all__ = ["abnormal_now", "figure_of", "latest_readings", "readings_of", "short_name"]

_MINOR = {
    "bmi",
    "chloride",
    "globulin",
    "height",
    "hematocrit",
    "mch",
    "mchc",
    "mpv",
    "pain",
    "pdw",
    "rbc",
    "rdw",
    "weight",
}
"""Measurements that mislead on their own: information, unless they are critical."""

_LITTLE_WHEN_LOW = {
    "alp",
    "alt",
    "ast",
    "bilirubin",
    "creatinine",
    "crp",
    "esr",
    "ldl",
    "total_cholesterol",
    "triglycerides",
    "urea",
    "uric_acid",
}
"""Measurements whose low values seldom mean anything: information, unless they are critical."""

_DOUBTFUL = Decimal(10)
"""So many widths of the range away from it, a value is more likely in another unit."""

_WORDS = {
    "critical_low": "critically low",
    "low": "low",
    "high": "high",
    "critical_high": "critically high",
}


def readings_of(observations: Iterable[Fact], *, as_of: date) -> dict[str, list[Fact]]:
    """Every measured value by what it measures, newest first; components stand for themselves.

    A component carries the date, status and facility of its observation. What is dated after
    `as_of` is left out.
    """
    found: dict[str, list[Fact]] = {}
    for fact in observations:
        if fact.when is not None and fact.when.date() > as_of:
            continue
        for item in (fact, *(_lifted(part, fact) for part in fact.parts)):
            if item.value is not None:
                key = analyte_key(item) or kind_of(item)
                found.setdefault(key, []).append(item)
    return found


def _lifted(part: Fact, whole: Fact) -> Fact:
    return replace(
        part,
        line=whole.line,
        when=whole.when,
        status=whole.status,
        group=whole.group,
        stale=whole.stale,
        facility=whole.facility,
        resource=whole.resource,
        note=whole.note,
    )


def latest_readings(readings: dict[str, list[Fact]]) -> Iterator[tuple[str, Fact]]:
    """The newest dated reading of each measurement."""
    for key, some in readings.items():
        dated = [fact for fact in some if fact.when is not None]
        if dated:
            yield key, dated[0]


def figure_of(fact: Fact) -> str:
    """Say "8.2 %": the value as written; a unit that is only a remark loses its braces."""
    return f"{fact.comparator}{fact.figure} {unit_shown(fact.unit)}".strip()


def short_name(fact: Fact) -> str:
    """The everyday name of a measurement, else its name without the laboratory's details."""
    key = analyte_key(fact)
    return analyte(key).name if key else brief(fact.name)


def abnormal_now(
    readings: dict[str, list[Fact]], person: Person, *, pregnant: bool | None
) -> Iterator[Insight]:
    """One insight for each latest reading outside its range: critical ones, then the furthest outside.

    A stale one, and one that means little alone, is only information. One so far outside a fallback
    range that its unit is in doubt is told last, and says so.
    """
    found: list[tuple[bool, Decimal, Insight]] = []
    for key, fact in latest_readings(readings):
        where = standing(fact, person, pregnant=pregnant)
        if where is None:
            if fact.interpretation in {"abnormal", "critically abnormal"}:
                grave = fact.interpretation != "abnormal"
                said = _insight(fact, fact.interpretation, "so says the laboratory", critical=grave)
                found.append((not grave, Decimal(1), said))
            continue
        if where.level == "normal":
            continue
        doubted = where.by != "laboratory" and where.beyond > _DOUBTFUL
        little = key in _MINOR or (where.level == "low" and key in _LITTLE_WHEN_LOW)
        minor = doubted or (little and not where.critical)
        reason = _reason(where) + (", so far off that the unit is in doubt" if doubted else "")
        said = _insight(
            fact, _WORDS[where.level], reason, critical=where.critical and not doubted, minor=minor
        )
        mild = not where.critical or doubted
        found.append((mild, Decimal(-1) if doubted else where.beyond, said))
    for _, _, insight in sorted(found, key=lambda item: (item[0], -item[1])):
        yield insight


def _reason(where: Standing) -> str:
    if where.by == "laboratory":
        return f"the laboratory's range is {where.limits}" if where.limits else "as flagged there"
    reviewed = ", not clinically reviewed" if "not clinically reviewed" in where.by else ""
    return f"the record brings no range; fallback range {where.limits}{reviewed}"


def _insight(fact: Fact, word: str, reason: str, *, critical: bool, minor: bool = False) -> Insight:
    day = spoken_date(fact.when.date()) if fact.when else "an unknown date"
    old = "; the value is stale" if fact.stale else ""
    return Insight(
        kind="abnormal",
        severity="info" if fact.stale or minor else ("critical" if critical else "warning"),
        title=f"{short_name(fact)} {word}: {figure_of(fact)}",
        text=f"{short_name(fact)} was {figure_of(fact)} on {day}: {word} ({reason}{old}).",
        facts=(fact,),
        rule="abnormal-minor" if minor else "abnormal-now",
    )
