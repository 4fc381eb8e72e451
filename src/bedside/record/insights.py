"""Insights by rule (CO-13): what a record says without being asked, each with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bedside.clinical.allergy import allergy_pack
from bedside.clinical.interactions import Interactions, shipped
from bedside.record.abnormal import abnormal_now, readings_of
from bedside.record.changes import changes_since_last_encounter
from bedside.record.contradictions import allergy_conflict, is_current
from bedside.record.interplay import interplay, results_together
from bedside.record.limits import is_pregnant
from bedside.record.monitoring import drug_lab_conflicts, overdue
from bedside.record.needs import Category, Fact, Insight, Person, RecordFacts
from bedside.record.rows import says_none_known
from bedside.record.trends import trends

__all__ = ["NEEDED", "changes", "insights_in", "priorities"]

NEEDED: tuple[Category, ...] = (
    "alerts",
    "allergies",
    "conditions",
    "documents",
    "immunizations",
    "medications",
    "observations",
    "orders",
    "procedures",
    "reports",
    "timeline",
)
"""The categories that the rules read."""

_SEVERITY = {"critical": 0, "warning": 1, "info": 2}
_KIND = {
    "drug_allergy": 0,
    "combination": 1,
    "drug_lab": 2,
    "abnormal": 3,
    "drug_drug": 4,
    "drug_condition": 5,
    "trend": 6,
    "overdue": 7,
    "change": 8,
}
_ADULT = 18
_TOP = 3


def insights_in(
    facts: Sequence[Fact],
    person: Person,
    *,
    as_of: date,
    interactions: Interactions | None = None,
) -> tuple[Insight, ...]:
    """Every insight, gravest first; among equals by kind, then newest evidence.

    Abnormal values of one grade come by how far outside their range they lie.

    Args:
        facts: All entries of `NEEDED`, with their notes, newest first inside each category.
        person: Whose they are.
        as_of: The day that ages and staleness count from.
        interactions: The tables in force; `None` for those that ship.
    """
    kinds: dict[str, list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(fact.category, []).append(fact)
    conditions, medicines = kinds.get("conditions", []), kinds.get("medications", [])
    current = [fact for fact in medicines if is_current(fact, as_of=as_of)]
    pregnant = is_pregnant(conditions, as_of=as_of)
    readings = readings_of(kinds.get("observations", []), as_of=as_of)
    dead = person.deceased not in {None, False}
    tables = interactions or shipped()
    found = [
        *_drug_allergies(kinds.get("allergies", []), current),
        *drug_lab_conflicts(current, conditions, readings),
        *(() if dead else interplay(current, conditions, tables=tables, as_of=as_of)),
        *(results_together(readings, pregnant=pregnant) if _adult(person, as_of) else ()),
        *abnormal_now(readings, person, pregnant=pregnant),
        *trends(readings, person, pregnant=pregnant),
        *(() if dead else overdue(current, conditions, readings, person, as_of=as_of)),
        *changes_since_last_encounter(facts, person, as_of=as_of, pregnant=pregnant),
    ]
    return tuple(sorted(found, key=_order))


def _adult(person: Person, as_of: date) -> bool:
    """Whether the person lives and is known to be of age."""
    born = person.birth_date
    if born is None or person.deceased not in {None, False}:
        return False
    return as_of.year - born.year - ((as_of.month, as_of.day) < (born.month, born.day)) >= _ADULT


def _order(insight: Insight) -> tuple[int, int, int]:
    newest = max((fact.when.date() for fact in insight.facts if fact.when), default=date.min)
    if insight.kind == "abnormal":  # these come furthest outside first
        newest = date.min
    return _SEVERITY[insight.severity], _KIND[insight.kind], -newest.toordinal()


def _drug_allergies(allergies: Sequence[Fact], medicines: Sequence[Fact]) -> list[Insight]:
    found = []
    state = allergy_pack().state
    for allergy in allergies:
        if says_none_known(allergy) or allergy.status in {"resolved", "inactive"}:
            continue
        for medicine in medicines:
            conflict = allergy_conflict(medicine.name, allergy.name)
            if conflict is None:
                continue
            source = f" (source: {conflict.source}; {state})" if conflict.source else ""
            found.append(
                Insight(
                    kind="drug_allergy",
                    severity=conflict.severity,
                    title=f"{medicine.name} and the recorded allergy: {allergy.name}",
                    text=f"{medicine.name} is {medicine.status}, and an allergy is recorded: "
                    f"{allergy.name}. {conflict.text}{source}",
                    facts=(medicine, allergy),
                    rule="drug-allergy",
                )
            )
    return found


def priorities(record: RecordFacts) -> tuple[Insight, ...]:
    """At most three insights to show first, gravest first; changes are listed apart.

    One entry speaks once: a second insight on the same evidence gives way to another. Fewer than
    three, or none, where no rule found more: that is no statement that all is well.
    """
    chosen: list[Insight] = []
    seen: set[str] = set()
    for insight in record.insights:
        about = {fact.resource for fact in insight.facts}
        if insight.kind == "change" or insight.rule == "abnormal-minor" or about & seen:
            continue
        chosen.append(insight)
        seen |= about
        if len(chosen) == _TOP:
            break
    return tuple(chosen)


def changes(record: RecordFacts) -> tuple[Insight, ...]:
    """What changed since the last encounter, warnings first."""
    return tuple(insight for insight in record.insights if insight.kind == "change")
