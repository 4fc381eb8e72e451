"""A patient's documents: what was attached or came inside a resource, and how far it has got.

Rows and metadata are here. Parsing, chunking and indexing are the knowledge room's; wiring takes
what waits here, hands it over, and writes the outcome back with `set_state` and `describe`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied, InvalidArgument, NotFound
from bedside.core.ids import SourceId, TenantId
from bedside.core.source import Source
from bedside.core.value import value
from bedside.record.fhir.around import entry_id
from bedside.record.fhir.dates import spoken_date
from bedside.record.needs import Fact
from bedside.record.rows import READER, payload_of
from bedside.storage.tables.record import document, entry, patient
from bedside.storage.tables.source import source
from bedside.storage.tables.uploads import upload

__all__ = [
    "IndexState",
    "PatientDocument",
    "Status",
    "attach",
    "content_of",
    "describe",
    "documents_of",
    "one_document",
    "set_state",
    "waiting",
]

Status = Literal[
    "queued",
    "processing",
    "complete",
    "stored",
    "failed_transient",
    "failed_permanent",
    "expired",
    "not_applicable",
]
IndexState = Literal["absent", "words", "ready"]


@value
class PatientDocument:
    """One document of one patient.

    `source` is the citable text once it was parsed, `None` before. `origin` is the resource that it
    came in, "" for an upload. `problem` says why it failed. `dated` is the date of its content.
    """

    id: str
    patient: str
    title: str
    media_type: str
    status: Status
    index: IndexState
    category: str = ""
    dated: date | None = None
    facility: str = ""
    file_name: str = ""
    source: SourceId | None = None
    origin: str = ""
    problem: str = ""
    size: int = 0

    def as_json(self) -> dict[str, Any]:
        """The contract's JSON of `bedside attach`."""
        return {
            "document_id": self.id,
            "status": self.status,
            "index": self.index,
            "title": self.title,
            "category": self.category,
            "date": self.dated.isoformat() if self.dated else None,
            "facility": self.facility,
            "problem": self.problem,
        }


_STATUSES = frozenset(Status.__args__)
_STATES = frozenset(IndexState.__args__)


def attach(
    connection: Connection,
    grant: Grant,
    *,
    content: bytes,
    file_name: str,
    media_type: str,
    now: datetime,
    title: str = "",
    category: str = "",
    dated: date | None = None,
    facility: str = "",
) -> PatientDocument:
    """Register an upload and keep its bytes, queued. The same bytes again are the same document.

    Raises:
        AccessDenied: the grant names no patient.
        NotFound: the tenant has no such patient.
    """
    who = _granted(connection, grant)
    sha = hashlib.sha256(content).hexdigest()
    ident = "doc-" + hashlib.sha256(f"{who}\nupload\n{sha}".encode()).hexdigest()[:20]
    stored = _row(connection, grant, ident)
    if stored is not None:
        return _document(stored)
    made = PatientDocument(
        id=ident,
        patient=who,
        title=title or file_name or "Document",
        media_type=media_type,
        status="queued",
        index="absent",
        category=category,
        dated=dated,
        facility=facility,
        file_name=file_name,
        size=len(content),
    )
    connection.execute(
        insert(document).values(
            tenant=grant.tenant,
            **{name: getattr(made, name) for name in _COLUMNS},
            sha256=sha,
            content=content,
            created_at=now,
            updated_at=now,
        )
    )
    _write_line(connection, grant, made, now=now)
    return made


def describe(
    connection: Connection,
    grant: Grant,
    ident: str,
    *,
    now: datetime,
    title: str = "",
    category: str = "",
    dated: date | None = None,
    facility: str = "",
) -> PatientDocument:
    """Fill in what is still unknown of an upload; what was given or known stays.

    The inventory line gets a new revision where it changes. A document that came inside a resource
    keeps the metadata of its resource.

    Raises:
        NotFound: the patient has no such document.
    """
    before = one_document(connection, grant, ident)
    if before.origin:
        return before
    unnamed = before.title in {"", before.file_name, "Document"}
    after = replace(
        before,
        title=(title or before.title) if unnamed else before.title,
        category=before.category or category,
        dated=before.dated or dated,
        facility=before.facility or facility,
    )
    if after != before:
        connection.execute(
            update(document)
            .where(document.c.tenant == grant.tenant, document.c.id == ident)
            .values(
                title=after.title,
                category=after.category,
                dated=after.dated,
                facility=after.facility,
                updated_at=now,
            )
        )
        _write_line(connection, grant, after, now=now)
    return after


def set_state(
    connection: Connection,
    grant: Grant,
    ident: str,
    *,
    now: datetime,
    status: Status | None = None,
    index: IndexState | None = None,
    source_id: str | None = None,
    problem: str | None = None,
) -> PatientDocument:
    """Write how far a document has got; `None` leaves a field as it is.

    Raises:
        InvalidArgument: an unknown status or index state.
        NotFound: the patient has no such document.
    """
    if status is not None and status not in _STATUSES:
        raise InvalidArgument("status", found=status, want=", ".join(sorted(_STATUSES)))
    if index is not None and index not in _STATES:
        raise InvalidArgument("index", found=index, want=", ".join(sorted(_STATES)))
    before = one_document(connection, grant, ident)
    fields: dict[str, Any] = {
        "status": status,
        "index": index,
        "source": source_id,
        "problem": problem,
    }
    given = {name: found for name, found in fields.items() if found is not None}
    connection.execute(
        update(document)
        .where(
            document.c.tenant == grant.tenant,
            document.c.id == ident,
            document.c.patient == before.patient,
        )
        .values(**given, updated_at=now)
    )
    return one_document(connection, grant, ident)


def documents_of(connection: Connection, grant: Grant) -> tuple[PatientDocument, ...]:
    """The patient's documents, newest content first, undated ones last."""
    who = _granted(connection, grant)
    rows = connection.execute(_OF_PATIENT, {"tenant": grant.tenant, "patient": who})
    found = [_document(row) for row in rows.mappings()]
    return tuple(sorted(found, key=lambda item: (item.dated or date.min, item.id), reverse=True))


def one_document(connection: Connection, grant: Grant, ident: str) -> PatientDocument:
    """One document of the granted patient.

    Raises:
        NotFound: there is none by this id, or it is another patient's: the two look alike.
    """
    _granted(connection, grant)
    row = _row(connection, grant, ident)
    if row is None:
        raise NotFound("document", ident)
    return _document(row)


def content_of(connection: Connection, grant: Grant, ident: str) -> bytes:
    """The bytes as received.

    Raises:
        NotFound: the patient has no such document, or its bytes are not kept here.
    """
    who = _granted(connection, grant)
    found = connection.execute(
        select(document.c.content).where(
            document.c.tenant == grant.tenant,
            document.c.patient == who,
            document.c.id == ident,
        )
    ).scalar()
    if found is None:
        raise NotFound("document content", ident)
    return bytes(found)


def waiting(connection: Connection, tenant: TenantId) -> tuple[tuple[str, str], ...]:
    """(patient, document) of everything that is to be parsed, oldest first; for the worker.

    Uploads of intake cases have jobs of their own and are not here.
    """
    rows = connection.execute(
        select(document.c.patient, document.c.id)
        .where(
            document.c.tenant == tenant,
            document.c.status.in_(("queued", "processing", "failed_transient")),
            document.c.id.not_in(select(upload.c.id).where(upload.c.tenant == tenant)),
        )
        .order_by(document.c.created_at, document.c.id)
    )
    return tuple((row.patient, row.id) for row in rows)


_COLUMNS = tuple(PatientDocument.__dataclass_fields__)


_SELECTED = select(*(document.c[name] for name in _COLUMNS))
_OF_PATIENT = _SELECTED.where(
    document.c.tenant == bindparam("tenant"), document.c.patient == bindparam("patient")
)
_PATIENT = select(patient.c.id).where(
    patient.c.tenant == bindparam("tenant"), patient.c.id == bindparam("patient")
)


def _document(row: Mapping[Any, Any]) -> PatientDocument:
    return PatientDocument(**{name: row[name] for name in _COLUMNS})


def _row(connection: Connection, grant: Grant, ident: str) -> Mapping[Any, Any] | None:
    return (
        connection.execute(
            _SELECTED.where(
                document.c.tenant == grant.tenant,
                document.c.patient == grant.patient,
                document.c.id == ident,
            )
        )
        .mappings()
        .first()
    )


def _granted(connection: Connection, grant: Grant) -> str:
    if grant.patient is None:
        raise AccessDenied("reading a patient's documents", need="a grant for that patient")
    named = {"tenant": grant.tenant, "patient": grant.patient}
    known = connection.execute(_PATIENT, named).scalar()
    if known is None:
        raise NotFound("patient", str(grant.patient), hint="`bedside patients` lists them.")
    return str(known)


def _line(made: PatientDocument) -> str:
    name = made.category or made.title
    day = spoken_date(made.dated) if made.dated else "unknown date"
    said = [made.title if made.title != name else "", made.file_name, made.facility, "uploaded"]
    remark = "; ".join(dict.fromkeys(part for part in said if part and part != name))
    return f"{name}: document of {day} ({remark})"


def _write_line(
    connection: Connection, grant: Grant, made: PatientDocument, *, now: datetime
) -> None:
    """The inventory line of an upload: an entry of the record like any other."""
    key = f"Document/{made.id}"
    ident = entry_id(made.patient, key)
    mine = (entry.c.tenant == grant.tenant, entry.c.source == ident)
    revision = (connection.execute(select(entry.c.revision).where(*mine)).scalar() or 0) + 1
    name, text = made.category or made.title, _line(made)
    when = (
        datetime.combine(made.dated, datetime.min.time(), tzinfo=now.tzinfo) if made.dated else None
    )
    fact = Fact(
        source=Source(
            id=ident,
            revision=revision,
            kind="record",
            title=name,
            section="documents",
            dated=made.dated,
        ),
        category="documents",
        line=text,
        name=name,
        synonyms=tuple(n for n in dict.fromkeys((made.title, made.file_name)) if n and n != name),
        when=when,
        status="current",
        facility=made.facility,
        resource=key,
        document=made.id,
    )
    connection.execute(
        update(source)
        .where(source.c.tenant == grant.tenant, source.c.id == ident)
        .values(superseded=True)
    )
    connection.execute(
        insert(source).values(
            tenant=grant.tenant,
            id=ident,
            revision=revision,
            kind="record",
            patient=made.patient,
            title=name,
            section="documents",
            dated=made.dated,
            superseded=False,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            media_type="text/plain",
            meta=json.dumps({}),
            state="ready",
            created_at=now,
        )
    )
    connection.execute(delete(entry).where(*mine))
    connection.execute(
        insert(entry).values(
            tenant=grant.tenant,
            source=ident,
            revision=revision,
            patient=made.patient,
            resource=key,
            part="",
            category="documents",
            when=when,
            counted=True,
            payload=payload_of(fact),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            reader=READER,
        )
    )
