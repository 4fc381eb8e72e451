"""Uploads of intake cases behind the engine: added, read by the worker, shown with their status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from bedside.context.tokens import o200k
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import AccessDenied, BadInput
from bedside.core.ids import PatientId
from bedside.flows.intake.book import Book
from bedside.flows.intake.needs import Upload
from bedside.jobs.extraction import Look, extraction
from bedside.jobs.runner import Handler
from bedside.knowledge.parse.files import media_type_of
from bedside.record import uploads
from bedside.sop.contract import Contract
from bedside.sop.recognise import kinds_of, named_kind
from bedside.storage import access
from bedside.storage.store import Store
from bedside.wiring import records
from bedside.wiring.ask import Who
from bedside.wiring.cases import may_work

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["excuse_document", "extraction_handler", "intake_upload", "read_uploads", "upload_rows"]

_LONGEST_NAME = 120


async def intake_upload(
    engine: Engine, case: str, filename: str, body: bytes, who: Who, *, contract: Contract | str
) -> str:
    """Keep a document of a case and queue its reading; returns the document's id.

    What can be told at once is told at once: an empty file, one that is too large, and one whose
    format is not read or is not what its name says. Everything else is the worker's to find out.

    Raises:
        AccessDenied: the caller may not see this case.
        BadInput: the file is refused; nothing was kept.
        NotFound: no such case.
    """
    name = PurePath(filename).name[-_LONGEST_NAME:] or "document"
    most = engine.settings.upload_bytes
    if len(body) > most:
        raise BadInput(
            name,
            why=f"it has {len(body):,} bytes; at most {most:,} are taken",
            do="Send a smaller picture, or the pages one by one.",
        )
    if not body.strip():
        raise BadInput(name, why="it is empty", do="Send the file again.")
    media_type = media_type_of(body, name=name)
    book = Book(await engine.turning.hot.of(who.tenant))
    chosen = book.get(contract) if isinstance(contract, str) else contract
    claims = named_kind(name, kinds_of(chosen, book.contracts))

    def work(connection: Connection) -> str:
        now = engine.clock.now()
        grant = _grant(connection, engine.clock, who, case, purpose="intake: add a document")
        uploads.expire(connection, str(who.tenant), now=now)
        return uploads.register(
            connection,
            grant,
            content=body,
            file_name=name,
            media_type=media_type,
            named=(claims.type, claims.label) if claims is not None else ("", ""),
            contract=chosen.id,
            now=now,
        )

    return await engine.store.write(work)


async def excuse_document(
    engine: Engine, case: str, kind: str, who: Who, *, contract: Contract
) -> str:
    """Note that the case needs no document of this type; returns the entry's id.

    Raises:
        AccessDenied: the caller is no coordinator of this case.
        BadInput: the contract asks for no such document.
        NotFound: no such case.
    """
    if "coordinator" not in who.roles and "clinician" not in who.roles:
        raise AccessDenied("excusing a document", need="the role 'coordinator'")
    need = next((one for one in contract.documents if one.type == kind), None)
    if need is None:
        known = ", ".join(one.type for one in contract.documents)
        raise BadInput(kind, why="this contract asks for no such document", do=f"Give: {known}.")

    def work(connection: Connection) -> str:
        grant = _grant(connection, engine.clock, who, case, purpose="intake: excuse a document")
        return uploads.excuse(
            connection,
            grant,
            kind=kind,
            label=need.label,
            contract=contract.id,
            now=engine.clock.now(),
        )

    return await engine.store.write(work)


def read_uploads(connection: Connection, grant: Grant, *, now: datetime) -> tuple[Upload, ...]:
    """The case's documents as a turn sees them, oldest first, each with its status at `now`."""
    return tuple(_seen(one) for one in uploads.uploads_of(connection, grant, now=now))


def read_uploads_of(
    connection: Connection, tenant: str, cases: Sequence[str], *, now: datetime
) -> dict[str, tuple[Upload, ...]]:
    """The same for many cases, whose list the caller has put into the audit."""
    found = uploads.uploads_of_cases(connection, tenant, cases, now=now)
    return {case: tuple(_seen(one) for one in some) for case, some in found.items()}


def _seen(one: uploads.Upload) -> Upload:
    return Upload(
        id=one.id,
        type=one.type,
        status=one.status,
        label=one.label,
        findings=dict(one.findings),
        eta_seconds=one.eta_seconds,
        why=one.why,
    )


async def upload_rows(engine: Engine, case: str, who: Who) -> list[dict[str, Any]]:
    """The case's documents for a coordinator: with what the file's name claimed, and why not read.

    Raises:
        AccessDenied: the caller may not see this case.
        NotFound: no such case.
    """

    def work(connection: Connection) -> tuple[uploads.Upload, ...]:
        grant = _grant(connection, engine.clock, who, case, purpose="intake: documents")
        return uploads.uploads_of(connection, grant, now=engine.clock.now())

    return [
        {
            "id": one.id,
            "type": one.type,
            "status": one.status,
            "label": one.label,
            "file_name": one.file_name,
            "named_as": one.named or None,
            "why": one.why or None,
            "problem": one.problem or None,
            "findings": dict(one.findings),
            "read_by": one.by or None,
            "eta_seconds": one.eta_seconds,
            "tries": one.tries,
        }
        for one in await engine.store.write(work)
    ]


def extraction_handler(
    store: Store,
    *,
    clock: Clock,
    data: Callable[[str], Awaitable[dict[str, Any]]],
    look: Look | None,
) -> Handler:
    """The worker's handler, reading by the tenant's live contracts.

    `data` gives a tenant's hot data; `look` shows a picture to a model, where one may see it.
    """

    async def contracts(tenant: str, ident: str) -> Sequence[Contract]:
        book = Book(await data(tenant))
        own = book.get(ident)
        return (own, *(one for one in book.contracts if one.id != own.id and not one.generic))

    return extraction(store, clock=clock, contracts=contracts, look=look, count=o200k())


def _grant(connection: Connection, clock: Clock, who: Who, case: str, *, purpose: str) -> Grant:
    if not may_work(connection, who, case):
        raise AccessDenied("this case", need="a token that names it")
    records.check_patient(connection, who.tenant, PatientId(case))
    return access.grant(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="write",
        at=clock.now(),
        patient=PatientId(case),
        purpose=purpose,
    )
