"""The rows of a patient: which they are in every table, and how they go."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
)

from bedside.core.errors import NotFound
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.core.value import value
from bedside.storage import access
from bedside.storage.tables import metadata
from bedside.storage.tables.erasure import erasure
from bedside.storage.tables.jobs import meta
from bedside.storage.tables.record import directory, patient, resource
from bedside.storage.tables.source import chunk, source
from bedside.storage.tables.turn import session, turn

__all__ = [
    "KEPT",
    "Tombstone",
    "bury",
    "is_erased",
    "known_patients",
    "leftovers",
    "put",
    "reached",
    "remove_rows",
    "scope",
    "tombstones",
]

KEPT = frozenset({"audit", "catalogue", "erasure", "knowledge_change", "meta", "record_directory"})
"""Tables that are about no patient. Ids in `audit`, `meta` and `record_directory` go by name."""
_LAST = ("chunk", "turn", "source", "session", "patient")
"""What the scopes of other tables are found by; removed after them, in this order."""


@value
class Tombstone:
    """That somebody was erased. `patient` is a keyed hash (`storage.secret.reference`)."""

    tenant: str
    id: str
    patient: str
    actor: str
    at: datetime


def reached() -> tuple[Table, ...]:
    """Every table with rows of patients, in the order in which they are emptied.

    Any table of the schema that `KEPT` does not name is here, so a new one cannot be forgotten.
    """
    first = [table for table in reversed(metadata.sorted_tables) if table.name not in KEPT]
    leaves = [table for table in first if table.name not in _LAST]
    return (*leaves, *(metadata.tables[name] for name in _LAST))


def scope(table: Table, *, tenant: str, who: str) -> ColumnElement[bool]:
    """The rows of one patient in a table: by patient, conversation, turn, source or chunk.

    Raises:
        LookupError: the table has no column that could say whose its rows are.
    """
    by = _ids(tenant, who)
    own: list[ColumnElement[bool]] = []
    if "patient" in table.c:
        own.append(table.c.patient == who)
    own += [table.c[name].in_(ids) for name, ids in by.items() if name in table.c]
    if table is patient:
        own.append(patient.c.id == who)
    if not own:
        message = f"no column of {table.name!r} says whose a row is"
        raise LookupError(message)
    return and_(table.c.tenant == tenant, or_(*own))


def _ids(tenant: str, who: str) -> Mapping[str, Select[tuple[str]]]:
    sessions = select(session.c.id).where(session.c.tenant == tenant, session.c.patient == who)
    turns = select(turn.c.id).where(
        turn.c.tenant == tenant, or_(turn.c.patient == who, turn.c.session.in_(sessions))
    )
    sources = select(source.c.id).where(
        source.c.tenant == tenant, or_(source.c.patient == who, source.c.session.in_(sessions))
    )
    chunks = select(chunk.c.id).where(
        chunk.c.tenant == tenant, or_(chunk.c.patient == who, chunk.c.source.in_(sources))
    )
    return {"session": sessions, "turn": turns, "source": sources, "chunk": chunks}


def remove_rows(connection: Connection, *, tenant: str, who: str) -> dict[str, int]:
    """Remove every row of the patient; how many went from each table. Inside a write transaction."""
    removed: dict[str, int] = {}
    named = _directory_rows(connection, tenant, who)
    for table in reached():
        gone = connection.execute(delete(table).where(scope(table, tenant=tenant, who=who)))
        removed[table.name] = gone.rowcount
    ends = meta.c.key.endswith(f":{tenant}:{who}", autoescape=True)
    removed["meta"] = connection.execute(delete(meta).where(ends)).rowcount
    for key in named:
        connection.execute(
            delete(directory).where(directory.c.tenant == tenant, directory.c.key == key)
        )
    removed["record_directory"] = len(named)
    return removed


def _directory_rows(connection: Connection, tenant: str, who: str) -> list[str]:
    """Names that came with this record alone: their key holds the id, and nobody else refers there."""
    keys = connection.execute(
        select(directory.c.key).where(
            directory.c.tenant == tenant, directory.c.key.contains(who, autoescape=True)
        )
    ).scalars()
    wanted = {key: key.encode() for key in keys}
    if not wanted:
        return []
    others = connection.execute(
        select(resource.c.raw).where(resource.c.tenant == tenant, resource.c.patient != who)
    ).scalars()
    for raw in others:
        body = zlib.decompress(raw)
        wanted = {key: text for key, text in wanted.items() if text not in body}
    return list(wanted)


def bury(
    connection: Connection,
    *,
    tenant: TenantId,
    who: PatientId,
    actor: ActorId,
    ident: str,
    at: datetime,
    now: datetime | None = None,
    purpose: str = "",
) -> tuple[Tombstone, dict[str, int]]:
    """Remove the patient, leave a tombstone and an audit entry; all of it or none.

    Call inside a write transaction. In the trail the id gives way to its keyed hash; what was done
    to whose record when, and by whom, stays provable to somebody who knows the id. `at` is the time
    of the erasure, `now` that of the entry where it is another (a replay).

    Raises:
        NotFound: the tenant has no row of such a patient.
    """
    if who not in known_patients(connection, tenant):
        raise NotFound("patient", who, hint="`bedside patients` lists them.")
    talks = select(session.c.id).where(session.c.tenant == tenant, session.c.patient == who)
    sessions = connection.execute(talks).scalars().all()
    removed = remove_rows(connection, tenant=tenant, who=who)
    known = access.reference_of(connection, tenant=tenant, patient=who)
    stone = Tombstone(tenant=tenant, id=ident, patient=known, actor=actor, at=at)
    put(connection, stone)
    access.redact(connection, tenant=tenant, patient=who, sessions=sessions)
    access.note(
        connection,
        tenant=tenant,
        actor=actor,
        action="erase",
        at=now or at,
        patient=PatientId(known),
        purpose=purpose,
    )
    return stone, removed


def put(connection: Connection, stone: Tombstone) -> None:
    """Write a tombstone."""
    connection.execute(
        insert(erasure).values(
            tenant=stone.tenant,
            id=stone.id,
            patient=stone.patient,
            actor=stone.actor,
            at=stone.at,
        )
    )


def is_erased(connection: Connection, *, tenant: TenantId, who: str) -> bool:
    """True where a tombstone is this patient's. Call inside a write transaction."""
    known = access.reference_of(connection, tenant=tenant, patient=who)
    query = select(erasure.c.id).where(erasure.c.tenant == tenant, erasure.c.patient == known)
    return connection.execute(query).first() is not None


def known_patients(connection: Connection, tenant: str) -> set[str]:
    """Every patient that any row of the tenant names, also where the record itself is missing."""
    found = set(
        connection.execute(select(patient.c.id).where(patient.c.tenant == tenant)).scalars()
    )
    for table in _by_patient():
        query = select(table.c.patient).where(table.c.tenant == tenant).distinct()
        found.update(connection.execute(query).scalars())
    return found - {None, ""}


def leftovers(connection: Connection) -> dict[tuple[str, str], dict[str, int]]:
    """Rows of patients who are not there: (tenant, patient) to counts by table. Empty is right."""
    there = {
        (row.tenant, row.id) for row in connection.execute(select(patient.c.tenant, patient.c.id))
    }
    found: dict[tuple[str, str], dict[str, int]] = {}
    for table in _by_patient():
        query = select(table.c.tenant, table.c.patient, func.count()).group_by(
            table.c.tenant, table.c.patient
        )
        for tenant, who, n in connection.execute(query):
            if who and (tenant, who) not in there:
                found.setdefault((tenant, who), {})[table.name] = n
    return found


def _by_patient() -> Iterator[Table]:
    return (table for table in reached() if "patient" in table.c)


def tombstones(connection: Connection) -> Sequence[Tombstone]:
    """Every tombstone, oldest first."""
    rows = connection.execute(select(erasure).order_by(erasure.c.at, erasure.c.id))
    return [
        Tombstone(tenant=row.tenant, id=row.id, patient=row.patient, actor=row.actor, at=row.at)
        for row in rows
    ]
