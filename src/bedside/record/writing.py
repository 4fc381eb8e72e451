"""One patient's prepared entries against what is stored: what is new, changed, gone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

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
    "Line",
    "Prepared",
    "batches",
    "known_of",
    "lines_of",
    "stored_of",
    "write_directory",
    "write_patient",
    "write_resources",
]

T = TypeVar("T")
MANY = 400
"""Resources of one statement: a bound on its variables."""


def batches(items: Iterable[T], many: int = MANY) -> Iterator[list[T]]:
    """Some of them at a time."""
    rest = iter(items)
    while some := list(islice(rest, many)):
        yield some


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


class Line(NamedTuple):
    """One fact as its rows hold it: the text that can be cited, and the payload behind it."""

    source: str
    title: str
    section: str
    dated: date | None
    text: str
    sha256: str
    category: str
    when: datetime | None
    counted: bool
    payload: str


class Prepared(NamedTuple):
    """One resource, ready to be stored: `lines` is `None` for a type without a reader.

    `before` is the SHA-256 of the resource as it is stored, "" where it is new.
    """

    key: str
    type: str
    sha256: str
    raw: bytes
    lines: tuple[Line, ...] | None
    before: str = ""
    attachments: tuple[Attachment, ...] = ()


@value
class Known:
    """Who is stored by an id before an import."""

    revision: int = 0
    name: str = ""
    birth_date: date | None = None
    identifiers: tuple[str, ...] = ()
    outdated: bool = False
    """Some entry was read by another reader than this version's."""


@value
class Kept:
    """What a write did, in entries, and the documents that now wait to be parsed."""

    changed: int
    unchanged: int
    documents: tuple[str, ...] = ()


def known_of(connection: Connection, tenant: TenantId, ident: str) -> Known:
    """Who is stored; `revision` 0 for nobody."""
    mine = (patient.c.tenant == tenant, patient.c.id == ident)
    row = connection.execute(select(patient).where(*mine)).mappings().first()
    if row is None:
        return Known()
    outdated = select(entry.c.source).where(
        entry.c.tenant == tenant, entry.c.patient == ident, entry.c.reader != READER
    )
    return Known(
        revision=row["revision"],
        name=row["name"],
        birth_date=row["birth_date"],
        identifiers=tuple(json.loads(row["identifiers"])),
        outdated=connection.execute(outdated.limit(1)).first() is not None,
    )


def stored_of(
    connection: Connection, tenant: TenantId, ident: str, keys: Sequence[str], *, outdated: bool
) -> dict[str, tuple[str, bool]]:
    """Of these resources those that are stored: their SHA-256, and whether an older reader read them.

    The latter is looked up only where the patient's entries are `outdated`.
    """
    shas = connection.execute(
        select(resource.c.key, resource.c.sha256).where(
            resource.c.tenant == tenant, resource.c.patient == ident, resource.c.key.in_(keys)
        )
    ).all()
    old: set[str] = set()
    if outdated:
        mine = (entry.c.tenant == tenant, entry.c.patient == ident, entry.c.reader != READER)
        rows = connection.execute(select(entry.c.resource).where(*mine, entry.c.resource.in_(keys)))
        old.update(rows.scalars())
    return {key: (sha, key in old) for key, sha in shas}


def lines_of(facts: Iterable[Fact]) -> tuple[Line, ...]:
    """Facts as rows hold them."""
    return tuple(
        Line(
            source=fact.source.id,
            title=fact.source.title,
            section=fact.source.section,
            dated=fact.source.dated,
            text=fact.line,
            sha256=hashlib.sha256(fact.line.encode()).hexdigest(),
            category=fact.category,
            when=fact.when,
            counted=is_about_patient(fact),
            payload=payload_of(fact),
        )
        for fact in facts
    )


def write_directory(
    connection: Connection, tenant: TenantId, names: Iterable[tuple[str, str]]
) -> None:
    """Keep what organisations, people and places are called, by key; a newer name wins."""
    for some in batches(names):
        keys = [key for key, _ in some]
        connection.execute(
            delete(directory).where(directory.c.tenant == tenant, directory.c.key.in_(keys))
        )
        connection.execute(
            insert(directory), [{"tenant": tenant, "key": key, "name": name} for key, name in some]
        )


def write_patient(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    *,
    person: Person | None,
    prepared: Iterable[Sequence[Prepared]],
    newest: datetime | None,
    known: Known,
    now: datetime,
) -> Kept:
    """Store what is new or differs, all of it inside the caller's transaction.

    `prepared` comes some at a time, each key once; `newest` is the latest moment that it tells of
    the patient. A changed line becomes a new revision of its source; an unchanged one stays the row
    it is.

    Raises:
        Conflict: somebody else changed this patient since `known` was read: read again.
    """
    _claim(connection, tenant, ident, person=person, newest=newest, known=known, now=now)
    changed, unchanged, waiting = 0, 0, list[str]()
    for some in prepared:
        touched = _write_some(connection, tenant, ident, some, now=now)
        changed += touched
        unchanged += len(some) - touched
        waiting += _write_documents(connection, tenant, ident, some, now=now)
    return Kept(changed=changed, unchanged=unchanged, documents=tuple(waiting))


def _write_some(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    prepared: Sequence[Prepared],
    *,
    now: datetime,
) -> int:
    """Write the rows of some resources; says how many of them are new or differ."""
    lines = [(item, line) for item in prepared for line in item.lines or ()]
    current = _current(connection, tenant, [line.source for _, line in lines])
    rows = [_settle(item, line, current.get(line.source)) for item, line in lines]
    changed = [row for row in rows if row["fresh"]]
    _write_sources(connection, tenant, ident, changed, now=now)
    _write_entries(connection, tenant, ident, rows, prepared)
    write_resources(connection, tenant, ident, prepared)
    fresh = {row["resource"] for row in changed}
    return len(fresh | {item.key for item in prepared if item.before != item.sha256})


def _claim(
    connection: Connection,
    tenant: TenantId,
    ident: str,
    *,
    person: Person | None,
    newest: datetime | None,
    known: Known,
    now: datetime,
) -> None:
    """The patient row first: it fences two imports of one patient."""
    fields: dict[str, Any] = {"revision": known.revision + 1, "updated_at": now}
    if person is not None:
        fields |= _person_fields(person)
    mine = (patient.c.tenant == tenant, patient.c.id == ident)
    if known.revision == 0:
        if person is None:
            raise Conflict(f"patient {ident}", why="nobody by this id is stored")
        fields["as_of"] = newest
        if connection.execute(select(patient.c.id).where(*mine)).first() is not None:
            raise Conflict(f"patient {ident}", why="it was stored meanwhile")
        connection.execute(insert(patient).values(tenant=tenant, id=ident, **fields))
        return
    before = connection.execute(select(patient.c.as_of).where(*mine)).scalar()
    fields["as_of"] = max((at for at in (newest, before) if at), default=None)
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
    for some in batches(ids):
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


def _settle(item: Prepared, line: Line, current: tuple[int, str] | None) -> dict[str, Any]:
    """One entry row, and whether its line needs a new revision."""
    if current is None:
        revision, fresh = 1, True
    elif line.sha256 == current[1] or item.before == item.sha256:
        revision, fresh = current[0], False  # a newer renderer does not touch a line already said
    else:
        revision, fresh = current[0] + 1, True
    return {
        "revision": revision,
        "resource": item.key,
        "line": line,
        "sha256": item.sha256,
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
    older = [row["line"].source for row in rows if row["revision"] > 1]
    for some in batches(older):
        connection.execute(
            update(source)
            .where(source.c.tenant == tenant, source.c.id.in_(some))
            .values(superseded=True)
        )
    for some in batches(rows):
        connection.execute(
            insert(source),
            [
                {
                    "tenant": tenant,
                    "id": row["line"].source,
                    "revision": row["revision"],
                    "kind": "record",
                    "patient": ident,
                    "title": row["line"].title,
                    "section": row["line"].section,
                    "dated": row["line"].dated,
                    "superseded": False,
                    "text": row["line"].text,
                    "sha256": row["line"].sha256,
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
    read = [item.key for item in prepared if item.lines is not None and item.before]
    for some in batches(read):
        connection.execute(
            delete(entry).where(
                entry.c.tenant == tenant, entry.c.patient == ident, entry.c.resource.in_(some)
            )
        )
    for some in batches(rows):
        connection.execute(
            insert(entry),
            [
                {
                    "tenant": tenant,
                    "source": row["line"].source,
                    "revision": row["revision"],
                    "patient": ident,
                    "resource": row["resource"],
                    "part": "",
                    "category": row["line"].category,
                    "when": row["line"].when,
                    "counted": row["line"].counted,
                    "payload": row["line"].payload,
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
    for some in batches([item.key for item in prepared]):
        connection.execute(
            delete(resource).where(
                resource.c.tenant == tenant,
                resource.c.patient == ident,
                resource.c.key.in_(some),
            )
        )
    for kept in batches(prepared):
        connection.execute(
            insert(resource),
            [
                {
                    "tenant": tenant,
                    "patient": ident,
                    "key": item.key,
                    "type": item.type,
                    "known": item.lines is not None,
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
