"""Fetch the granted patient's record: the smallest set that was asked for, with provenance."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import get_args

from sqlalchemy import ColumnElement, Connection, and_, func, select, true

from bedside.clinical.interactions import Interactions
from bedside.core.access import Grant
from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import TenantId
from bedside.core.value import value
from bedside.record.contradictions import contradictions_in
from bedside.record.insights import NEEDED, insights_in
from bedside.record.matching import matches
from bedside.record.needs import Category, Fact, Person, RecordFacts, RecordNeed
from bedside.record.provenance import with_notes
from bedside.record.rows import fact_of, no_known_allergy, person_of, says_none_known
from bedside.storage.tables.record import document, entry, patient
from bedside.storage.tables.source import source

__all__ = ["LIMITS", "ListedPatient", "fetch", "find_patient", "list_patients"]

LIMITS: dict[Category, int] = {
    "conditions": 20,
    "observations": 50,
    "medications": 30,
    "timeline": 10,
    "documents": 15,
    "orders": 15,
    "procedures": 20,
    "immunizations": 20,
    "reports": 15,
    "goals": 15,
    "careplans": 15,
    "family_history": 20,
}
"""EN-R2, and our own for the categories that it does not name. Allergies and alerts have none."""

PER_GROUP = 10
_ALWAYS: tuple[Category, ...] = ("allergies", "alerts")
_CROSS: tuple[Category, ...] = ("allergies", "conditions", "medications")
_OPEN = {
    "conditions": {"active", "recurrence", "relapse"},
    "medications": {"active", "on-hold", "intended"},
    "orders": {"active", "on-hold", "draft"},
    "goals": {"proposed", "planned", "accepted", "active", "on-hold"},
    "careplans": {"active", "on-hold"},
}


@value
class ListedPatient:
    """A line of the patient list. `documents` counts what the inventory holds."""

    id: str
    name: str
    birth_date: date | None
    sex: str
    documents: int


def fetch(
    connection: Connection,
    grant: Grant,
    need: RecordNeed,
    *,
    as_of: date,
    interactions: Interactions | None = None,
) -> RecordFacts:
    """The categories asked for, newest first inside each, within the fetch limits.

    Allergies and alerts always come along. Ages and staleness count from `as_of`. What was entered
    in error, refuted, cancelled or not done is no fact and is left out. Contradictions are looked
    for in all entries of the categories asked for (beyond the limits too), and in all allergies,
    conditions and medicines, whatever was asked. `interactions` are the tables that insights rest
    on, `None` for those that ship.

    Raises:
        AccessDenied: the grant names no patient.
        NotFound: the tenant has no such patient.
    """
    person_row = _patient_row(connection, grant)
    asked = tuple(dict.fromkeys((*need.categories, *_ALWAYS)))
    wanted = set(asked) | set(_CROSS)
    if "insights" in asked:
        wanted |= set(NEEDED)
    everything = _read(connection, grant, wanted)
    by_category: dict[Category, list[Fact]] = defaultdict(list)
    for fact in everything:
        by_category[fact.category].append(fact)
    by_category["documents"] = _with_states(connection, grant, by_category["documents"])
    noted = {category: with_notes(facts, as_of=as_of) for category, facts in by_category.items()}
    every = [fact for facts in noted.values() for fact in facts]
    if need.names:
        named = [fact for fact in noted.get("observations", []) if matches(fact, need.names)]
        noted["observations"] = named
    person = person_of(person_row)
    chosen: list[Fact] = []
    totals: list[tuple[str, int]] = []
    for category in asked:
        if category == "insights":
            continue
        facts = noted.get(category, [])
        totals.append((category, len(facts)))
        chosen += limited(category, facts) if need.limits else facts
    return RecordFacts(
        person=person,
        facts=tuple(chosen),
        total=tuple(totals),
        contradictions=contradictions_in(every, as_of=as_of),
        insights=insights_in(every, person, as_of=as_of, interactions=interactions)
        if "insights" in asked
        else (),
        as_of=person_row["as_of"],
        no_known_allergies=_none_known(by_category["allergies"]),
    )


def _patient_row(connection: Connection, grant: Grant):
    if grant.patient is None:
        raise AccessDenied("reading a patient's record", need="a grant for that patient")
    row = (
        connection.execute(
            select(patient).where(patient.c.tenant == grant.tenant, patient.c.id == grant.patient)
        )
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound("patient", str(grant.patient), hint="`bedside patients` lists them.")
    return row


def _read(connection: Connection, grant: Grant, categories: Iterable[Category]) -> list[Fact]:
    """Every fact of these categories, newest first, undated last."""
    query = (
        select(
            entry.c.source,
            entry.c.revision,
            entry.c.category,
            entry.c.payload,
            source.c.title,
            source.c.dated,
            source.c.text,
        )
        .join(
            source,
            (source.c.tenant == entry.c.tenant)
            & (source.c.id == entry.c.source)
            & (source.c.revision == entry.c.revision)
            & (source.c.patient == entry.c.patient),
        )
        .where(
            entry.c.tenant == grant.tenant,
            entry.c.patient == grant.patient,
            entry.c.category.in_(sorted(set(categories) & set(get_args(Category)))),
            entry.c.counted,
        )
    )
    facts = [fact_of(row) for row in connection.execute(query).mappings()]
    return sorted(facts, key=_newest_first)


_STATES = {
    "queued": "text not read yet",
    "processing": "text is being read",
    "failed_transient": "text not read yet, being tried again",
    "failed_permanent": "text could not be read",
    "expired": "text has expired",
}


def _with_states(connection: Connection, grant: Grant, facts: Sequence[Fact]) -> list[Fact]:
    """Say of a document whose text is not there that it is not."""
    ids = [fact.document for fact in facts if fact.document]
    if not ids:
        return list(facts)
    states = {
        row.id: row.status
        for row in connection.execute(
            select(document.c.id, document.c.status).where(
                document.c.tenant == grant.tenant,
                document.c.patient == grant.patient,
                document.c.id.in_(ids),
            )
        )
    }
    return [replace(fact, note=_STATES.get(states.get(fact.document, ""), "")) for fact in facts]


_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)


def _newest_first(fact: Fact) -> tuple[float, str, str]:
    return (-(fact.when or _EARLIEST).timestamp(), fact.name, fact.source.id)


def _none_known(allergies: Sequence[Fact]) -> bool:
    """True only where it was recorded, and nothing recorded says otherwise."""
    positive = [fact for fact in allergies if no_known_allergy(fact)]
    real = [
        fact
        for fact in allergies
        if not says_none_known(fact) and fact.status not in {"resolved", "inactive"}
    ]
    return bool(positive) and not real


def limited(category: Category, facts: Sequence[Fact]) -> list[Fact]:
    """The facts of one category within its limit, newest first.

    Open problems, medicines, orders, goals and plans come before closed ones; of observations the
    latest of each kind comes before an earlier one of another, at most ten of a group.
    """
    limit = LIMITS.get(category)
    if limit is None:
        return list(facts)
    if category == "observations":
        kept = _observations(facts, limit)
    else:
        open_states = _OPEN.get(category, set())
        ranked = sorted(facts, key=lambda fact: fact.status not in open_states)
        kept = {fact.source.id for fact in ranked[:limit]}
    return [fact for fact in facts if fact.source.id in kept]


def _observations(facts: Sequence[Fact], limit: int) -> set[str]:
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, Fact]] = []
    for place, fact in enumerate(facts):
        kind = fact.code or fact.name
        ranked.append((seen[kind], place, fact))
        seen[kind] += 1
    groups: Counter[str] = Counter()
    kept: list[str] = []
    for _, _, fact in sorted(ranked, key=lambda item: item[:2]):
        if groups[fact.group] < PER_GROUP and len(kept) < limit:
            groups[fact.group] += 1
            kept.append(fact.source.id)
    return set(kept)


def list_patients(connection: Connection, tenant: TenantId) -> tuple[ListedPatient, ...]:
    """The tenant's patients by name. Listing is audited by the caller's grant, not here."""
    documents = (
        select(entry.c.patient, func.count().label("n"))
        .where(entry.c.tenant == tenant, entry.c.category == "documents", entry.c.counted)
        .group_by(entry.c.patient)
        .subquery()
    )
    rows = connection.execute(
        select(patient, func.coalesce(documents.c.n, 0).label("documents"))
        .outerjoin(documents, documents.c.patient == patient.c.id)
        .where(patient.c.tenant == tenant)
        .order_by(patient.c.name_key, patient.c.id)
    ).mappings()
    return tuple(_listed(row) for row in rows)


def _listed(row) -> ListedPatient:
    return ListedPatient(
        id=row["id"],
        name=row["name"],
        birth_date=row["birth_date"],
        sex=row["sex"],
        documents=row["documents"],
    )


def find_patient(connection: Connection, tenant: TenantId, text: str) -> Person:
    """The one patient of the tenant with this id, record number or name (case ignored).

    Raises:
        NotFound: none fits, or more than one does; the hint says how many.
    """
    key = " ".join(text.casefold().split())
    quoted = json.dumps(text, ensure_ascii=False)
    wanted: tuple[tuple[ColumnElement[bool], Callable[[Person], bool]], ...] = (
        (patient.c.id == text, bool),
        (
            patient.c.identifiers.contains(quoted, autoescape=True),
            lambda person: text in person.identifiers,
        ),
        (patient.c.name_key == key, bool),
        (
            and_(
                true(),
                *(patient.c.name_key.contains(word, autoescape=True) for word in key.split()),
            ),
            lambda person: bool(key) and set(key.split()) <= set(person.name.casefold().split()),
        ),
    )
    for where, holds in wanted if key else ():
        rows = connection.execute(select(patient).where(patient.c.tenant == tenant, where))
        fits = [person for row in rows.mappings() if holds(person := person_of(row))]
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise NotFound("single patient", text, hint=f"{len(fits)} fit; give the id.")
    raise NotFound("patient", text, hint="`bedside patients` lists them.")
