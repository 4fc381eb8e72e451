"""Reads the documents of intake cases: text, type, findings. One job, three tries, resumable.

The handler reads apart from this process and outside of any transaction. What it returns writes the
text, the findings and the status together with the job's end, so a kill at any moment leaves the
document as it was and another worker takes it over.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import BadInput, NotFound, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.core.value import value
from bedside.jobs.runner import Handler, Write
from bedside.knowledge.ingest import Labels, drafted
from bedside.knowledge.parse import Parsed
from bedside.knowledge.parse.apart import parse_apart
from bedside.knowledge.parse.image import NO_TEXT
from bedside.knowledge.writing import Draft, write_words
from bedside.language.sections import sections
from bedside.record import documents, uploads
from bedside.record.guess import guess
from bedside.record.uploads import Outcome, Upload, Why
from bedside.sop.contract import Contract, Finding
from bedside.sop.findings import read_findings
from bedside.sop.recognise import DocumentKind, kinds_of, recognise
from bedside.storage import access
from bedside.storage.jobs import Claimed
from bedside.storage.store import Store

__all__ = ["SECONDS", "Look", "Picture", "Seen", "extraction"]

SECONDS = 150.0
"""One try; reading apart gives up after 120 s of OCR."""
LEAST_SURE = 0.8
"""Mean confidence of OCR, or a model's own, below which a document is kept and not interpreted."""
_FEW_LETTERS = 12
"""A picture with fewer is no page of text: a film has its side and a date."""
MOST_TRIES = 3
_WORDLESS = (NO_TEXT, "it has no text layer")
"""Why a file was refused that is whole, and holds no words."""

Contracts = Callable[[str, str], Awaitable[Sequence[Contract]]]
"""(tenant, contract id) to the contract, then every other whose document types may turn up."""


@value
class Picture:
    """A picture without words that a model may look at."""

    tenant: str
    case: str
    name: str
    content: bytes
    kinds: tuple[DocumentKind, ...]


@value
class Seen:
    """What a model saw: its own words, which are stored as the text, and how sure it was, in [0, 1]."""

    text: str
    type: str
    confidence: float
    by: str


Look = Callable[[Picture], Awaitable[Seen | None]]
"""Shows a picture to a model; `None` where none is configured or none may see it."""


def extraction(
    store: Store,
    *,
    clock: Clock,
    contracts: Contracts,
    look: Look | None = None,
    count: Callable[[str], int] | None = None,
) -> Handler:
    """The handler of `uploads.KIND`.

    Args:
        store: Where documents and results are.
        clock: For times and the measured pace.
        contracts: What to read a document by.
        look: For pictures without words; without it they are kept and not interpreted.
        count: Tokens of a text, for cutting it into chunks.
    """

    async def handle(claimed: Claimed) -> Write:
        if claimed.patient is None:
            raise NotFound("case", "")
        case = PatientId(claimed.patient)
        grant = await store.write(
            lambda c: access.grant(
                c,
                tenant=TenantId(claimed.tenant),
                actor=ActorId("worker"),
                action="write",
                at=clock.now(),
                patient=case,
                purpose="intake: read a document",
            )
        )
        ident = claimed.payload["document"]
        before, contract, content = await store.read(
            lambda c: (
                uploads.one_upload(c, grant, ident, now=clock.now()),
                uploads.contract_of(c, grant, ident),
                documents.content_of(c, grant, ident),
            )
        )
        if before.status == "expired":
            return _ends(grant, ident, Outcome(status="expired"), clock)
        known = await contracts(claimed.tenant, contract)
        started = clock.monotonic()
        parsed, refused = await _parsed(content, before, last=claimed.attempt >= MOST_TRIES)
        kinds = kinds_of(known[0], known[1:])
        if parsed is None or _letters(parsed.text) < _FEW_LETTERS:
            if refused is not None and not refused.why.startswith(_WORDLESS):
                return _ends(grant, ident, _failed(refused), clock)
            picture = Picture(
                tenant=claimed.tenant,
                case=str(case),
                name=before.file_name,
                content=content,
                kinds=kinds,
            )
            parsed, outcome = await _looked(picture, look, generic=known[0].generic)
        else:
            outcome = _read(parsed, kinds, before, generic=known[0].generic)
        outcome = replace(outcome, seconds=clock.monotonic() - started)
        if parsed is None:
            return _ends(grant, ident, outcome, clock)
        draft = drafted(
            parsed,
            name=before.file_name or ident,
            tenant=claimed.tenant,
            patient=str(case),
            labels=_labels(parsed, before, outcome, ident),
            count=count,
        )
        return _ends(grant, ident, outcome, clock, draft=draft, said=parsed.text)

    return handle


async def _parsed(
    content: bytes, before: Upload, *, last: bool
) -> tuple[Parsed | None, BadInput | None]:
    """The text, or why there is none.

    Raises:
        Unavailable: reading broke off for want of time or memory, and another try may do.
    """
    try:
        return await asyncio.to_thread(parse_apart, content, name=before.file_name), None
    except BadInput as error:
        broke = isinstance(error.__cause__, (subprocess.TimeoutExpired, json.JSONDecodeError))
        if broke and not last:
            raise Unavailable("reading a document", why="it ran out of time or memory") from error
        return None, error


def _read(
    parsed: Parsed, kinds: Sequence[DocumentKind], before: Upload, *, generic: bool
) -> Outcome:
    """What a text is, and what it states."""
    sure = parsed.meta.get("ocr_confidence")
    kind = recognise(parsed.text, kinds)
    if kind is None:
        return _stored("unrecognised", kind="", label=before.file_name)
    label = _label(kind, before, kinds)
    if isinstance(sure, float) and sure < LEAST_SURE:
        return _stored("unclear", kind=kind.type, label=label)
    if not kind.own and not generic:
        return _stored("not_asked", kind=kind.type, label=label)
    return _interpreted(parsed.text, kind.findings, kind=kind.type, label=label, by="rule")


def _interpreted(
    text: str, findings: Sequence[Finding], *, kind: str, label: str, by: str
) -> Outcome:
    found = {one.name: one.as_json() for one in read_findings(text, findings)}
    if not found:
        return _stored("no_findings", kind=kind, label=label)
    return Outcome(status="complete", type=kind, label=label, findings=found, by=by, worded=True)


async def _looked(
    picture: Picture, look: Look | None, *, generic: bool
) -> tuple[Parsed | None, Outcome]:
    """What a model sees in a picture without words; without one it is kept and not interpreted."""
    seen = await look(picture) if look is not None else None
    if seen is None:
        return None, Outcome(status="stored", why="no_words")
    text = seen.text.strip() + "\n"
    parsed = Parsed(
        text=text,
        sections=tuple(sections(text, markdown=False)),
        media_type="text/plain",
        meta={"seen_by": seen.by},
        warnings=("described by a model, nobody has checked it",),
    )
    kind = next((one for one in picture.kinds if one.type == seen.type), None)
    if kind is None:
        return parsed, _stored("unrecognised", kind="", label=picture.name)
    if seen.confidence < LEAST_SURE:
        return parsed, _stored("unclear", kind=kind.type, label=kind.label)
    if not kind.own and not generic:
        return parsed, _stored("not_asked", kind=kind.type, label=kind.label)
    return parsed, _interpreted(
        text, kind.findings, kind=kind.type, label=f"{kind.label} (seen by a model)", by=seen.by
    )


def _stored(why: Why, *, kind: str, label: str) -> Outcome:
    return Outcome(status="stored", why=why, type=kind, label=label, worded=True)


def _failed(error: BadInput) -> Outcome:
    why: Why = "locked" if "password" in error.why else "unreadable"
    return Outcome(status="failed_permanent", why=why, problem=error.why)


def _label(kind: DocumentKind, before: Upload, kinds: Sequence[DocumentKind]) -> str:
    """The type's label; where the file's name claims another, that stands with it."""
    if not before.named or before.named == kind.type:
        return kind.label
    claimed = next((one.label for one in kinds if one.type == before.named), "")
    return f"{kind.label} (the file is named as: {claimed})" if claimed else kind.label


def _letters(text: str) -> int:
    return sum(char.isalpha() for char in text)


def _labels(parsed: Parsed, before: Upload, outcome: Outcome, ident: str) -> Labels:
    seen = guess(parsed.text, file_name=before.file_name)
    return Labels(
        id=ident,
        title=outcome.label or before.file_name or "Document",
        published=seen.dated,
        category=outcome.type or seen.category,
        facility=seen.facility,
        file_name=before.file_name,
    )


def _ends(
    grant: Grant,
    ident: str,
    outcome: Outcome,
    clock: Clock,
    *,
    draft: Draft | None = None,
    said: str = "",
) -> Write:
    """The write that ends the job: text, what it says of itself, findings and status."""
    return partial(
        _write, grant=grant, ident=ident, outcome=outcome, clock=clock, draft=draft, said=said
    )


def _write(
    connection: Connection,
    *,
    grant: Grant,
    ident: str,
    outcome: Outcome,
    clock: Clock,
    draft: Draft | None,
    said: str,
) -> None:
    now = clock.now()
    before = uploads.one_upload(connection, grant, ident, now=now)  # it is still there
    if draft is not None:
        write_words(connection, draft, at=now)
        seen = guess(said, file_name=before.file_name)
        documents.describe(
            connection,
            grant,
            ident,
            now=now,
            title=outcome.label,
            category=outcome.label,
            dated=seen.dated,
            facility=seen.facility,
        )
    uploads.finish(connection, grant, ident, outcome, now=now)
