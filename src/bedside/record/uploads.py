"""Documents that came with an intake case: how far each has got, and what was read in it.

The bytes and the inventory line are `record.documents`'. Here stands what the case asks: a status
that is worked out anew at every reading from the row, its job and the time, never stored halfway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from sqlalchemy import Connection, Row, insert, select, update

from bedside.core.access import Grant
from bedside.core.errors import NotFound
from bedside.core.value import value
from bedside.record import documents
from bedside.record.paces import remaining
from bedside.storage import jobs
from bedside.storage.tables.jobs import job
from bedside.storage.tables.record import document
from bedside.storage.tables.uploads import upload

__all__ = [
    "EXPIRES", "KIND", "Outcome", "Upload", "UploadStatus", "Why", "contract_of", "excuse",
    "expire", "finish",
    "one_upload", "pages_in", "register", "uploads_of", "uploads_of_cases",
]  # fmt: skip

KIND = "intake.extract_document"
EXPIRES = timedelta(hours=72)
"""An upload that nobody could read for so long expires: its bytes go, and it is asked for anew."""

UploadStatus = Literal[
    "queued",
    "processing",
    "complete",
    "stored",
    "failed_transient",
    "failed_permanent",
    "expired",
    "not_applicable",
]
Why = Literal[
    "",
    "no_words",
    "unclear",
    "unrecognised",
    "not_asked",
    "no_findings",
    "unreadable",
    "locked",
    "gave_up",
    "not_needed",
]
"""Why a document is stored, failed or not needed: a code, never content.

"no_words": a picture without text; "unclear": OCR or a model was not sure; "unrecognised": no
document type fits; "not_asked": a type that this contract does not ask for; "no_findings": of a
type that is asked for, stating nothing that is; "unreadable": no try can read it; "locked": a password is on it; "gave_up": three
tries failed.
"""
_OVER = frozenset({"complete", "stored", "failed_permanent", "expired", "not_applicable"})
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_MOST_PAGES = 500


@value
class Upload:
    """One document of a case.

    `findings` maps a name of the contract to {"value", "unit", "quote", "start", "end"} and is empty
    unless `status` is "complete". `eta_seconds` is set while it waits or is read. `named` is the
    type that its file name claims, "" for none. `problem` says why it could not be read.
    """

    id: str
    type: str
    status: UploadStatus
    label: str
    file_name: str
    findings: Mapping[str, Any] = field(default_factory=dict)
    eta_seconds: int | None = None
    why: Why = ""
    problem: str = ""
    named: str = ""
    by: str = ""
    pages: int = 1
    tries: int = 0


@value
class Outcome:
    """What reading a document came to. `seconds` is how long it took, `None` where unmeasured."""

    status: Literal["complete", "stored", "failed_permanent", "expired"]
    type: str = ""
    label: str = ""
    why: Why = ""
    findings: Mapping[str, Any] = field(default_factory=dict)
    by: str = "rule"
    seconds: float | None = None
    pages: int | None = None
    problem: str = ""
    worded: bool = False
    """True where its text was stored, so that it can be cited."""


def pages_in(content: bytes) -> int:
    """About how many pages a file has, in [1, 500]; for an estimate of time and nothing else."""
    if content[:1024].find(b"%PDF-") < 0:
        return 1
    return min(max(len(_PAGE.findall(content)), 1), _MOST_PAGES)


def register(
    connection: Connection,
    grant: Grant,
    *,
    content: bytes,
    file_name: str,
    media_type: str,
    named: tuple[str, str],
    contract: str,
    now: datetime,
) -> str:
    """Keep an upload and queue its reading; returns the document's id.

    The same bytes again are the same document: what was read stays, what failed or expired is
    queued anew.

    Args:
        connection: Inside a write transaction.
        grant: For the case.
        content: The file.
        file_name: Its name.
        media_type: By its content.
        named: (type, label) as the file's name claims; ("", "") for none.
        contract: Id of the contract to read it by.
        now: The present.

    Raises:
        AccessDenied: the grant names no case.
        NotFound: the tenant has no such case.
    """
    made = documents.attach(
        connection, grant, content=content, file_name=file_name, media_type=media_type, now=now
    )
    row = _row(connection, grant, made.id)
    if row is not None and _status(row, now) not in ("failed_permanent", "expired"):
        return made.id
    tries = 1 if row is None else 1 + int(row.job.rpartition("-")[2])
    fresh: dict[str, Any] = {
        "contract": contract,
        "named": named[0],
        "type": "",
        "label": named[1],
        "why": "",
        "findings": "{}",
        "by": "",
        "job": f"extract-{made.id}-{tries}",
        "pages": pages_in(content),
        "picture": int(media_type.startswith("image/")),
        "seconds": None,
        "created_at": now,
        "expires_at": now + EXPIRES,
    }
    if row is None:
        keys = {"tenant": grant.tenant, "id": made.id, "patient": made.patient}
        connection.execute(insert(upload).values(**keys, **fresh))
    else:
        connection.execute(update(upload).where(*_mine(grant, made.id)).values(**fresh))
        connection.execute(
            update(document)
            .where(document.c.tenant == grant.tenant, document.c.id == made.id)
            .values(content=content, status="queued", problem="", updated_at=now)
        )
    work = jobs.NewJob(
        tenant=str(grant.tenant),
        id=str(fresh["job"]),
        kind=KIND,
        payload={"document": made.id},
        patient=made.patient,
    )
    jobs.put(connection, [work], now=now)
    return made.id


def uploads_of(connection: Connection, grant: Grant, *, now: datetime) -> tuple[Upload, ...]:
    """The case's documents, oldest first, each with its status at `now`."""
    rows = connection.execute(
        _select(grant).order_by(upload.c.created_at, document.c.created_at, upload.c.id)
    )
    return tuple(_upload(connection, row, now) for row in rows.all())


def uploads_of_cases(
    connection: Connection, tenant: str, cases: Sequence[str], *, now: datetime
) -> dict[str, tuple[Upload, ...]]:
    """Each case's documents as `uploads_of` gives them, for a list whose reading was audited."""
    rows = connection.execute(
        _joined()
        .where(upload.c.tenant == tenant, upload.c.patient.in_(cases))
        .order_by(upload.c.created_at, document.c.created_at, upload.c.id)
    ).all()
    found: dict[str, list[Upload]] = {}
    for row in rows:
        found.setdefault(row.patient, []).append(_upload(connection, row, now))
    return {case: tuple(some) for case, some in found.items()}


def one_upload(connection: Connection, grant: Grant, ident: str, *, now: datetime) -> Upload:
    """One document of the case.

    Raises:
        NotFound: there is none by this id, or it is another case's: the two look alike.
    """
    row = _row(connection, grant, ident)
    if row is None:
        raise NotFound("upload", ident)
    return _upload(connection, row, now)


def contract_of(connection: Connection, grant: Grant, ident: str) -> str:
    """Id of the contract that the document is read by.

    Raises:
        NotFound: the case has no such upload.
    """
    row = _row(connection, grant, ident)
    if row is None:
        raise NotFound("upload", ident)
    return str(row.contract)


def finish(
    connection: Connection, grant: Grant, ident: str, outcome: Outcome, *, now: datetime
) -> None:
    """Write what reading came to; call inside the transaction that ends the job.

    Raises:
        NotFound: the document is gone, as after an erasure.
    """
    before = one_upload(connection, grant, ident, now=now)
    measured = {"seconds": outcome.seconds, "pages": outcome.pages or before.pages}
    connection.execute(
        update(upload)
        .where(*_mine(grant, ident))
        .values(
            type=outcome.type,
            label=outcome.label or before.label,
            why=outcome.why,
            findings=json.dumps(dict(outcome.findings), ensure_ascii=False),
            by=outcome.by,
            **measured,
        )
    )
    documents.set_state(
        connection,
        grant,
        ident,
        now=now,
        status=outcome.status,
        index="words" if outcome.worded else None,
        source_id=ident if outcome.worded else None,
        problem=outcome.problem,
    )
    if outcome.status == "expired":
        _let_go(connection, str(grant.tenant), ident)


def excuse(
    connection: Connection, grant: Grant, *, kind: str, label: str, contract: str, now: datetime
) -> str:
    """Note that a document of this type is not needed for the case; returns the entry's id."""
    made = documents.attach(
        connection,
        grant,
        content=f"not needed: {kind}".encode(),
        file_name="",
        media_type="",
        title=label,
        now=now,
    )
    documents.set_state(connection, grant, made.id, now=now, status="not_applicable")
    _let_go(connection, str(grant.tenant), made.id)
    if _row(connection, grant, made.id) is None:
        connection.execute(
            insert(upload).values(
                tenant=grant.tenant,
                id=made.id,
                patient=made.patient,
                contract=contract,
                type=kind,
                label=label,
                why="not_needed",
                by=str(grant.actor),
                pages=0,
                picture=0,
                created_at=now,
                expires_at=now,
            )
        )
    return made.id


def expire(connection: Connection, tenant: str, *, now: datetime) -> int:
    """Close what could not be read in time and let its bytes go; how many documents."""
    rows = connection.execute(
        _joined().where(upload.c.tenant == tenant, upload.c.expires_at <= now)
    ).all()
    due = [row for row in rows if row.stored not in _OVER and _status(row, now) == "expired"]
    for row in due:
        connection.execute(
            update(document)
            .where(document.c.tenant == tenant, document.c.id == row.id)
            .values(status="expired", updated_at=now)
        )
        _let_go(connection, tenant, row.id)
    return len(due)


def _let_go(connection: Connection, tenant: str, ident: str) -> None:
    connection.execute(
        update(document)
        .where(document.c.tenant == tenant, document.c.id == ident)
        .values(content=None)
    )


# ---- reading rows


def _joined() -> Any:
    return (
        select(
            upload,
            document.c.file_name,
            document.c.problem,
            document.c.status.label("stored"),
            job.c.state.label("job_state"),
            job.c.attempts,
            job.c.lease_until,
            job.c.error,
        )
        .join(document, (document.c.tenant == upload.c.tenant) & (document.c.id == upload.c.id))
        .outerjoin(job, (job.c.tenant == upload.c.tenant) & (job.c.id == upload.c.job))
    )


def _select(grant: Grant) -> Any:
    return _joined().where(upload.c.tenant == grant.tenant, upload.c.patient == grant.patient)


def _row(connection: Connection, grant: Grant, ident: str) -> Row[Any] | None:
    return connection.execute(_select(grant).where(upload.c.id == ident)).first()


def _mine(grant: Grant, ident: str) -> tuple[Any, ...]:
    return (
        upload.c.tenant == grant.tenant,
        upload.c.patient == grant.patient,
        upload.c.id == ident,
    )


def _status(row: Row[Any], now: datetime) -> UploadStatus:
    """From what is written down, the job's state and the time."""
    if row.stored in _OVER:
        return cast("UploadStatus", row.stored)
    if row.job_state in (None, "failed", "done"):  # ended, and no outcome was written
        return "failed_permanent"
    if row.expires_at <= now:
        return "expired"
    if row.job_state == "running" and row.lease_until is not None and row.lease_until > now:
        return "processing"
    return "failed_transient" if row.attempts else "queued"


def _upload(connection: Connection, row: Row[Any], now: datetime) -> Upload:
    status = _status(row, now)
    why = row.why
    if status == "failed_permanent" and not why:
        why = "gave_up"
    waits = status in ("queued", "processing", "failed_transient")
    return Upload(
        id=row.id,
        type=row.type or row.named or "unknown",
        status=status,
        label=row.label or row.file_name or "document",
        file_name=row.file_name,
        findings=json.loads(row.findings) if status == "complete" else {},
        eta_seconds=remaining(connection, row, now=now) if waits else None,
        why=why,
        problem=row.problem,
        named=row.named,
        by=row.by,
        pages=row.pages,
        tries=row.attempts or 0,
    )
