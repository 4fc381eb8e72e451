"""One patient's prepared entries against what is stored: what is new, changed, gone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from bedside.core.errors import Conflict
from bedside.core.ids import TenantId
from bedside.core.value import value
from bedside.record.needs import Fact, Person
from bedside.record.rows import READER, is_about_patient, payload_of
from bedside.storage.tables.record import directory, document, entry, patient, resource
from bedside.storage.tables.source import source

__all__ = [
    "Attachment",
    "Kept",
    "Known",
    "Prepared",
    "known_of",
    "write_directory",
    "write_patient",
    "write_resources",
]

T = TypeVar("T")
_MANY = 400


@value
class Attachment:
    """A text that came inside a resource. `content` is `None` when it could not be read."""

    id: str
    title: str
    category: str
    dated: date | None
    facility: str
    file_name: str
    media_type: str
    origin: str
    content: bytes | None
    problem: str = ""


@value
class Prepared:
    """One resource, ready to be stored: `facts` is `None` for a type without a reader."""

    key: str
    type: str
    sha256: str
    raw: bytes
    facts: tuple[Fact, ...] | None
    attachments: tuple[Attachment, ...] = ()


@value
class Known:
    """What is stored of a patient before an import."""

    revision: int = 0
    name: str = ""
    birth_date: date | None = None
    identifiers: tuple[str, ...] = ()
    resources: Mapping[str, str]
    """Key to SHA-256 of the resource as received."""
    readers: Mapping[str, int]
    """Key to the reader version that made its facts."""


@value
class Kept:
    """What a write did, in entries, and the documents that now wait to be parsed."""

    changed: int
    unchanged: int
    documents: tuple[str, ...] = ()


def known_of(connection: Connection, tenant: TenantId, ident: str) -> Known:
    """What is stored of a patient; `revision` 0 for nobody."""
    mine = (patient.c.tenant == tenant, patient.c.id == ident)
    row = connection.execute(select(patient).where(*mine)).mappings().first()
    if row is None:
        return Known(resources={}, readers={})
    stored = connection.execute(
        select(resource.c.key, resource.c.sha256).where(
            resource.c.tenant == tenant, resource.c.patient == ident
        )
    )
    readers = connection.execute(
        select(entry.c.resource, entry.c.reader).where(
            entry.c.tenant == tenant, entry.c.patient == ident
        )
    )
    return Known(
        revision=row["revision"],
        name=row["name"],
        birth_date=row["birth_date"],
        identifiers=tuple(json.loads(row["identifiers"])),
        resources={key: sha for key, sha in stored},  # noqa: C416 - rows are not tuples to dict()
        readers={key: version for key, version in readers},  # noqa: C416
    )


def write_directory(connection: Connection, tenant: TenantId, names: Mapping[str, str]) -> None:
    """Keep what organisations, people and places are called; a newer name wins."""
    for some in _batches(sorted(names)):
        connection.execute(
            delete(directory).where(directory.c.tenant == tenant, directory.c.key.in_(some))
        )
        connection.execute(
            insert(directory), [{"tenant": tenant, "key": key, "name": names[key]} for key in some]
        )


def _batches(keys: Sequence[T]) -> Iterable[Sequence[T]]:
    """A bound on the variables of one statement, and on the rows held twice."""
    for at in range(0, len(keys), _MANY):
        yield keys[at : at + _MANY]


def write_patient(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    *,
    person: Person | None,
    prepared: Sequence[Prepared],
    known: Known,
    now: datetime,
) -> Kept:
    """Store what is new or differs, all of it inside the caller's transaction.

    A changed line becomes a new revision of its source; an unchanged one stays the row it is.

    Raises:
        Conflict: somebody else changed this patient since `known` was read: read again.
    """
    _claim(connection, tenant, ident, person=person, known=known, now=now, prepared=prepared)
    facts = [(item, fact) for item in prepared for fact in item.facts or ()]
    current = _current(connection, tenant, [fact.source.id for _, fact in facts])
    rows: list[dict[str, Any]] = []
    for item, fact in facts:
        rows.append(_settle(item, fact, current.get(fact.source.id), known=known))
    changed = [row for row in rows if row["fresh"]]
    _write_sources(connection, tenant, ident, changed, now=now)
    _write_entries(connection, tenant, ident, rows, prepared)
    write_resources(connection, tenant, ident, prepared)
    waiting = _write_documents(connection, tenant, ident, prepared, now=now)
    fresh = {row["resource"] for row in changed}
    new = {item.key for item in prepared if known.resources.get(item.key) != item.sha256}
    touched = len(fresh | new)
    return Kept(changed=touched, unchanged=len(prepared) - touched, documents=waiting)


def _claim(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    *,
    person: Person | None,
    known: Known,
    now: datetime,
    prepared: Sequence[Prepared],
) -> None:
    """The patient row first: it fences two imports of one patient."""
    moments = [
        fact.when
        for item in prepared
        for fact in item.facts or ()
        if fact.when is not None and fact.when <= now and is_about_patient(fact)
    ]
    fields: dict[str, Any] = {"revision": known.revision + 1, "updated_at": now}
    if person is not None:
        fields |= _person_fields(person)
    mine = (patient.c.tenant == tenant, patient.c.id == ident)
    if known.revision == 0:
        if person is None:
            raise Conflict(f"patient {ident}", why="nobody by this id is stored")
        fields["as_of"] = max(moments, default=None)
        if connection.execute(select(patient.c.id).where(*mine)).first() is not None:
            raise Conflict(f"patient {ident}", why="it was stored meanwhile")
        connection.execute(insert(patient).values(tenant=tenant, id=ident, **fields))
        return
    before = connection.execute(select(patient.c.as_of).where(*mine)).scalar()
    fields["as_of"] = max([*moments, *([before] if before else [])], default=None)
    done = connection.execute(
        update(patient).where(*mine, patient.c.revision == known.revision).values(**fields)
    )
    if done.rowcount == 0:
        raise Conflict(f"patient {ident}", why="it was changed meanwhile")


def _person_fields(person: Person) -> dict[str, Any]:
    gone = person.deceased
    written = gone.isoformat() if isinstance(gone, date) else None
    if isinstance(gone, bool):
        written = "yes" if gone else "no"
    return {
        "name": person.name,
        "name_key": person.name.casefold(),
        "birth_date": person.birth_date,
        "sex": person.sex,
        "deceased": written,
        "identifiers": json.dumps(list(person.identifiers), ensure_ascii=False),
    }


def _current(
    connection: Connection, tenant: TenantId, ids: Sequence[str]
) -> dict[str, tuple[int, str]]:
    """Source id to its current revision and the digest of its line."""
    found: dict[str, tuple[int, str]] = {}
    for some in _batches(ids):
        query = (
            select(entry.c.source, entry.c.revision, source.c.sha256)
            .join(
                source,
                (source.c.tenant == entry.c.tenant)
                & (source.c.id == entry.c.source)
                & (source.c.revision == entry.c.revision),
            )
            .where(entry.c.tenant == tenant, entry.c.source.in_(some))
        )
        for ident, revision, sha in connection.execute(query):
            found[ident] = (revision, sha)
    return found


def _settle(
    item: Prepared, fact: Fact, current: tuple[int, str] | None, *, known: Known
) -> dict[str, Any]:
    """One entry row, and whether its line needs a new revision."""
    sha = hashlib.sha256(fact.line.encode()).hexdigest()
    as_received = known.resources.get(item.key) == item.sha256
    if current is None:
        revision, fresh = 1, True
    elif current[1] == sha or as_received:  # a newer renderer does not touch a line already said
        revision, fresh = current[0], False
    else:
        revision, fresh = current[0] + 1, True
    return {
        "source": fact.source.id,
        "revision": revision,
        "resource": item.key,
        "fact": fact,
        "sha256": item.sha256,
        "line_sha": sha,
        "fresh": fresh,
    }


def _write_sources(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    now: datetime,
) -> None:
    older = [row["source"] for row in rows if row["revision"] > 1]
    for some in _batches(older):
        connection.execute(
            update(source)
            .where(source.c.tenant == tenant, source.c.id.in_(some))
            .values(superseded=True)
        )
    for some in _batches(rows):
        connection.execute(
            insert(source),
            [
                {
                    "tenant": tenant,
                    "id": row["source"],
                    "revision": row["revision"],
                    "kind": "record",
                    "patient": ident,
                    "title": row["fact"].source.title,
                    "section": row["fact"].source.section,
                    "dated": row["fact"].source.dated,
                    "superseded": False,
                    "text": row["fact"].line,
                    "sha256": row["line_sha"],
                    "media_type": "text/plain",
                    "meta": "{}",
                    "state": "ready",
                    "created_at": now,
                }
                for row in some
            ],
        )


def _write_entries(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    rows: Sequence[Mapping[str, Any]],
    prepared: Sequence[Prepared],
) -> None:
    read = [item.key for item in prepared if item.facts is not None]
    for some in _batches(read):
        connection.execute(
            delete(entry).where(
                entry.c.tenant == tenant, entry.c.patient == ident, entry.c.resource.in_(some)
            )
        )
    for some in _batches(rows):
        connection.execute(
            insert(entry),
            [
                {
                    "tenant": tenant,
                    "source": row["source"],
                    "revision": row["revision"],
                    "patient": ident,
                    "resource": row["resource"],
                    "part": "",
                    "category": row["fact"].category,
                    "when": row["fact"].when,
                    "counted": is_about_patient(row["fact"]),
                    "payload": payload_of(row["fact"]),
                    "sha256": row["sha256"],
                    "reader": READER,
                }
                for row in some
            ],
        )


def write_resources(
    connection: Connection, tenant: TenantId, ident: str, prepared: Sequence[Prepared]
) -> None:
    """Keep resources as received."""
    for some in _batches([item.key for item in prepared]):
        connection.execute(
            delete(resource).where(
                resource.c.tenant == tenant,
                resource.c.patient == ident,
                resource.c.key.in_(some),
            )
        )
    for kept in _batches(prepared):
        connection.execute(
            insert(resource),
            [
                {
                    "tenant": tenant,
                    "patient": ident,
                    "key": item.key,
                    "type": item.type,
                    "known": item.facts is not None,
                    "sha256": item.sha256,
                    "raw": item.raw,
                }
                for item in kept
            ],
        )


def _write_documents(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    prepared: Sequence[Prepared],
    *,
    now: datetime,
) -> tuple[str, ...]:
    waiting = []
    for item in prepared:
        for found in item.attachments:
            content = found.content or b""
            sha = hashlib.sha256(content).hexdigest()
            mine = (document.c.tenant == tenant, document.c.id == found.id)
            before = connection.execute(select(document.c.sha256).where(*mine)).scalar()
            if before == sha:
                continue
            connection.execute(delete(document).where(*mine))
            failed = found.content is None
            connection.execute(
                insert(document).values(
                    tenant=tenant,
                    id=found.id,
                    patient=ident,
                    title=found.title,
                    category=found.category,
                    dated=found.dated,
                    facility=found.facility,
                    file_name=found.file_name,
                    media_type=found.media_type,
                    status="failed_permanent" if failed else "queued",
                    index="absent",
                    origin=found.origin,
                    problem=found.problem,
                    sha256=sha,
                    size=len(content),
                    content=found.content,
                    created_at=now,
                    updated_at=now,
                )
            )
            if not failed:
                waiting.append(found.id)
    return tuple(waiting)
