"""The record room behind the engine's operations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from bedside.clinical.interactions import Interactions
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import BadInput, NotFound
from bedside.core.ids import PatientId, TenantId
from bedside.core.value import value
from bedside.knowledge.search import SHARED_TENANT
from bedside.record.fetch import fetch, find_patient, list_patients
from bedside.record.importing import Also, import_bundle
from bedside.record.importing import import_paths as import_record_paths
from bedside.record.insights import changes, priorities
from bedside.record.needs import Category, Fact, Insight, RecordFacts, RecordNeed
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.jobs import meta
from bedside.storage.tables.record import document
from bedside.storage.tables.record import patient as patient_table
from bedside.storage.tables.source import source
from bedside.wiring.ask import Who
from bedside.wiring.cases import with_intake
from bedside.wiring.identity import identifying
from bedside.wiring.names import Names

__all__ = [
    "Known",
    "check_documents",
    "check_patient",
    "import_bytes",
    "import_paths",
    "known_of",
    "listed",
    "mark_synthetic",
    "no_longer_synthetic",
    "opening",
    "resolve_patient",
]

SHORT_NAME = 2  # letters; shorter parts of a name are too common to veil
ALL: tuple[Category, ...] = (
    "demographics", "allergies", "alerts", "conditions", "observations", "medications",
    "timeline", "procedures", "orders", "documents",
)  # fmt: skip

_PATIENT = select(patient_table.c.id).where(
    patient_table.c.tenant == bindparam("tenant"), patient_table.c.id == bindparam("patient")
)


def check_patient(connection: Connection, tenant: TenantId, patient: PatientId) -> None:
    """Check that the tenant has this patient.

    Raises:
        NotFound: it has not.
    """
    found = connection.execute(_PATIENT, {"tenant": tenant, "patient": patient}).first()
    if found is None:
        raise NotFound("patient", patient, hint="`bedside patients` lists them.")


def resolve_patient(connection: Connection, tenant: TenantId, text: str) -> str:
    """The id of the one patient with this id, record number or name."""
    return find_patient(connection, tenant, text).id


@value
class Known:
    """What the engine knows of a turn's people, and no flow is told.

    `veil` must not leave this machine; `synthetic` is true for a bundled patient; `others` are
    other patients' names (with no patient everybody is somebody else); `demo` is true in a home
    that holds the demonstration.
    """

    veil: tuple[str, ...]
    synthetic: bool
    others: tuple[str, ...]
    demo: bool


def known_of(
    connection: Connection, tenant: TenantId, patient: PatientId | None, names: Names
) -> Known:
    """Read it.

    Raises:
        NotFound: the tenant has no such patient.
    """
    others = names.others(connection, tenant, patient)
    demo = _has(connection, f"home:{tenant}")
    if patient is None:
        return Known(veil=(), synthetic=False, others=others, demo=demo)
    check_patient(connection, tenant, patient)
    person = find_patient(connection, tenant, patient)
    words = [person.name, *person.identifiers, person.id]
    words += [part for part in person.name.split() if len(part) > SHORT_NAME]
    if person.birth_date is not None:
        words.append(person.birth_date.isoformat())
    words += identifying(connection, tenant, patient)
    return Known(
        veil=tuple(dict.fromkeys(word for word in words if word)),
        synthetic=_has(connection, _synthetic_key(tenant, patient), value="bundled"),
        others=others,
        demo=demo,
    )


def _has(connection: Connection, key: str, *, value: str | None = None) -> bool:
    found = connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar()
    return found is not None and value in (None, found)


def _synthetic_key(tenant: str, patient: str) -> str:
    return f"synthetic:{tenant}:{patient}"


def mark_synthetic(connection: Connection, tenant: TenantId, patients: Sequence[str]) -> None:
    """Remember that these patients are bundled and synthetic (exempt from egress rules)."""
    for patient in patients:
        key = _synthetic_key(tenant, patient)
        if connection.execute(select(meta.c.key).where(meta.c.key == key)).first() is None:
            connection.execute(insert(meta).values(key=key, value="bundled"))


def no_longer_synthetic(connection: Connection, tenant: TenantId, patients: Sequence[str]) -> None:
    """What somebody adds to a bundled patient may be real: the exemption ends, for good."""
    keys = [_synthetic_key(tenant, patient) for patient in patients]
    connection.execute(update(meta).where(meta.c.key.in_(keys)).values(value="added to"))


def check_documents(
    connection: Connection,
    tenant: TenantId,
    patient: PatientId | None,
    documents: Sequence[str],
) -> None:
    """Check that each document is the patient's, or knowledge of the tenant.

    Raises:
        NotFound: one is neither; nothing is asked, so that it cannot be passed over in silence.
    """
    for name in documents:
        own = source.c.patient.is_(None) & (source.c.kind == "guideline")
        if patient is not None:
            own = own | (source.c.patient == patient)
        known = connection.execute(
            select(source.c.id).where(
                source.c.tenant.in_((tenant, SHARED_TENANT)), source.c.id == name, own
            )
        ).first()
        attached = connection.execute(
            select(document.c.id).where(
                document.c.tenant == tenant,
                document.c.patient == (patient or ""),
                document.c.id == name,
            )
        ).first()
        if known is None and attached is None:
            raise NotFound("document", name, hint="The patient's page lists its documents.")


def listed(connection: Connection, *, who: Who, clock: Clock) -> list[dict[str, Any]]:
    """The tenant's patients by name. Intake cases are none: they are listed at their own desk."""
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="list",
        at=clock.now(),
        purpose="patients",
    )
    cases = with_intake(connection, who.tenant)
    return [
        {
            "id": item.id,
            "name": item.name,
            "birth_date": item.birth_date.isoformat() if item.birth_date else None,
            "sex": item.sex,
            "documents": item.documents,
        }
        for item in list_patients(connection, who.tenant)
        if item.id not in cases
    ]


def import_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    who: Who,
    clock: Clock,
    progress: Any = None,
    bundled: bool = False,
) -> dict[str, Any]:
    """Import files and folders; the contract's JSON. What is not `bundled` ends an exemption."""
    report = import_record_paths(
        store,
        list(paths),
        tenant=who.tenant,
        actor=who.actor,
        clock=clock,
        progress=progress,
        also=None if bundled else _added_by(who),
    )
    return report.as_json()


def _added_by(who: Who) -> Also:
    """With what is written to a patient its exemption ends, though the import be stopped after."""
    return lambda c, patient: no_longer_synthetic(c, who.tenant, [patient])


def import_bytes(
    store: Store, files: Sequence[tuple[str, bytes]], *, who: Who, clock: Clock
) -> dict[str, Any]:
    """Import uploads; a file that cannot be read is rejected with its reason."""
    total: dict[str, Any] = {
        "patients": [],
        "resources": {},
        "unknown": {},
        "rejected": [],
        "documents": [],
    }
    for name, body in files:
        try:
            report = import_bundle(
                store,
                body,
                tenant=who.tenant,
                actor=who.actor,
                clock=clock,
                what=name,
                also=_added_by(who),
            ).as_json()
        except BadInput as error:
            total["rejected"].append({"path": name, "reason": str(error)})
            continue
        for key in ("patients", "rejected", "documents"):
            total[key] += report[key]
        for key in ("resources", "unknown"):
            for kind, n in report[key].items():
                total[key][kind] = total[key].get(kind, 0) + n
    return total


def opening(
    connection: Connection, grant: Grant, *, today: date, interactions: Interactions | None = None
) -> dict[str, Any]:
    """Banner, at most three priorities, what changed since the last encounter.

    `interactions` are the tables in force, `None` for those that ship.
    """
    need = RecordNeed(name="opening", categories=(*ALL, "insights"), limits=False)
    facts = fetch(connection, grant, need, as_of=today, interactions=interactions)
    return {
        "banner": _banner(facts, today),
        "priorities": [
            {
                "severity": item.severity,
                "title": item.title,
                "text": item.text,
                "kind": item.kind,
                "rule": item.rule,
                "sources": [_source(connection, grant.tenant, fact) for fact in item.facts[:4]],
            }
            for item in priorities(facts)
        ],
        "changes": [
            {
                "title": item.title,
                "text": item.text,
                "severity": item.severity,
                "source": _source(connection, grant.tenant, item.facts[0]) if item.facts else None,
            }
            for item in sorted(changes(facts), key=_as_it_was)
        ],
        "checked": "abnormal values, trends, monitoring; medicines against results, allergies, problems and "
        "one another",
    }


def _as_it_was(change: Insight) -> bool:
    """The line that counts results without a change says "other", so it stands last."""
    return change.title.endswith("without notable change")


def _banner(facts: RecordFacts, today: date) -> dict[str, Any]:
    person = facts.person
    allergies = [fact for fact in facts.of("allergies") if fact.name]
    listed = list(dict.fromkeys(fact.name for fact in allergies))
    if listed:
        names = ", ".join(listed)
    else:
        names = "none known (recorded)" if facts.no_known_allergies else "not recorded"
    age = None
    if person.birth_date is not None and not person.deceased:
        before = (today.month, today.day) < (person.birth_date.month, person.birth_date.day)
        age = today.year - person.birth_date.year - int(before)
    alerts = list(dict.fromkeys(fact.name for fact in facts.of("alerts") if fact.name))
    high = {
        fact.name
        for fact in allergies
        if fact.severity == "high" or any("(severe)" in one for one in fact.reactions)
    }
    return {
        "id": person.id,
        "name": person.name,
        "sex": person.sex,
        "age": age,
        "birth_date": person.birth_date.isoformat() if person.birth_date else None,
        "deceased": bool(person.deceased),
        "allergies": names,
        "allergies_recorded": bool(allergies),
        "allergies_high_risk": [name for name in listed if name in high],
        "allergies_other": [name for name in listed if name not in high],
        "alerts": ", ".join(alerts),
        "alert_list": alerts,
        "as_of": facts.as_of.date().isoformat() if facts.as_of else None,
    }


def _source(connection: Connection, tenant: TenantId, fact: Fact) -> dict[str, Any]:
    length = connection.execute(
        select(source.c.text).where(
            source.c.tenant == tenant,
            source.c.id == fact.source.id,
            source.c.revision == fact.source.revision,
        )
    ).scalar()
    return {
        "id": fact.source.id,
        "revision": fact.source.revision,
        "title": fact.name,
        "date": fact.when.date().isoformat() if fact.when else None,
        "length": len(length or ""),
    }
