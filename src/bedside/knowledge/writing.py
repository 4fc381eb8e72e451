"""Rows of documents: absent, then words, then ready. Each step is one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    insert,
    not_,
    select,
    update,
)

from bedside.core.value import value
from bedside.knowledge.cut import ChunkRow
from bedside.knowledge.document import Labels
from bedside.knowledge.embed.protocol import Floats2d
from bedside.storage.tables.knowledge import chunk_vector, chunk_words, knowledge_change
from bedside.storage.tables.source import chunk, source

__all__ = [
    "Draft",
    "Outcome",
    "Pending",
    "finish",
    "lacking",
    "next_pending",
    "remove",
    "stage",
    "unembedded",
    "write_words",
]

Kind = Literal["guideline", "document", "note"]
_EMBEDDED = source.c.kind.in_(("guideline", "document", "note"))
"""What gets vectors."""
_SHARED = and_(source.c.kind == "guideline", source.c.patient.is_(None))
"""What of it may be embedded by somebody else's machine."""


@value
class Draft:
    """A parsed document ready to be written."""

    tenant: str
    id: str
    kind: Kind
    patient: str | None
    text: str
    media_type: str
    labels: Labels
    chunks: tuple[ChunkRow, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@value
class Outcome:
    """What became of a draft: `id` is that of the document that now holds the text."""

    id: str
    revision: int
    what: Literal["added", "revised", "skipped"]
    absent: str = ""
    """The older edition that it names and that is not here; should it come, it comes as superseded."""


def write_words(connection: Connection, draft: Draft, *, at: datetime) -> Outcome:
    """Write a document with its words (tx 1), or find that it is there already.

    A changed text under the same id becomes its next revision: the older one keeps its text for
    citations, and leaves the search. A text that another document of the scope holds is skipped.
    """
    digest, stored = draft.digest, draft.labels.as_json()
    own = connection.execute(
        select(source.c.revision, source.c.sha256, source.c.meta, source.c.title, source.c.dated)
        .where(source.c.tenant == draft.tenant, source.c.id == draft.id)
        .order_by(source.c.revision.desc())
    ).first()
    if own is not None:
        same = (own.sha256, own.meta, own.title, own.dated)
        if same == (digest, stored, draft.labels.title, draft.labels.published):
            return Outcome(id=draft.id, revision=own.revision, what="skipped")
    elif not draft.labels.id:
        twin = connection.execute(_scope(draft).where(source.c.sha256 == digest)).first()
        if twin is not None:
            return Outcome(id=twin.id, revision=twin.revision, what="skipped")
    revision = 1 if own is None else own.revision + 1
    if own is not None:
        _retire(connection, draft.tenant, draft.id)
    _insert(connection, draft, revision=revision, digest=digest, meta=stored, at=at)
    older = draft.labels.supersedes
    there = older in {"", draft.id} or _supersede(connection, draft, older)
    what = "added" if own is None else "revised"
    return Outcome(id=draft.id, revision=revision, what=what, absent="" if there else older)


def _scope(draft: Draft):
    patient = source.c.patient
    own = patient.is_(None) if draft.patient is None else patient == draft.patient
    has_chunks = exists().where(
        chunk.c.tenant == source.c.tenant,
        chunk.c.source == source.c.id,
        chunk.c.revision == source.c.revision,
    )
    return select(source.c.id, source.c.revision).where(
        source.c.tenant == draft.tenant, own, source.c.kind == draft.kind, has_chunks
    )


def _insert(
    connection: Connection, draft: Draft, *, revision: int, digest: str, meta: str, at: datetime
) -> None:
    newer = select(source.c.id).where(
        source.c.tenant == draft.tenant,
        source.c.superseded.is_(False),
        source.c.kind == draft.kind,
        source.c.id != draft.id,
        source.c.meta.contains(f'"supersedes": "{draft.id}"', autoescape=True),
    )
    connection.execute(
        insert(source).values(
            tenant=draft.tenant,
            id=draft.id,
            revision=revision,
            kind=draft.kind,
            patient=draft.patient,
            title=draft.labels.title,
            dated=draft.labels.published,
            superseded=connection.execute(newer).first() is not None,
            text=draft.text,
            sha256=digest,
            media_type=draft.media_type,
            meta=meta,
            state="words" if draft.chunks else "ready",
            created_at=at,
        )
    )
    total = len(draft.chunks)
    ids = [f"{draft.id}:{revision}:{number:04d}" for number in range(total)]
    if total:
        connection.execute(
            insert(chunk),
            [
                {
                    "tenant": draft.tenant,
                    "id": ids[number],
                    "source": draft.id,
                    "revision": revision,
                    "patient": draft.patient,
                    "ordinal": number,
                    "total": total,
                    "section": row.chunk.section,
                    "prefix": row.chunk.prefix,
                    "start": row.chunk.start,
                    "end": row.chunk.end,
                    "tokens": row.tokens,
                }
                for number, row in enumerate(draft.chunks)
            ],
        )
        connection.execute(
            insert(chunk_words),
            [
                {
                    "tenant": draft.tenant,
                    "chunk": ids[number],
                    "length": row.length,
                    "data": row.words,
                }
                for number, row in enumerate(draft.chunks)
            ],
        )
    _log(connection, draft.tenant, draft.id, revision, "words", patient=draft.patient)


def _retire(connection: Connection, tenant: str, name: str) -> None:
    """Take every revision of a document out of the search; their texts stay for citations."""
    connection.execute(delete(chunk).where(chunk.c.tenant == tenant, chunk.c.source == name))
    connection.execute(
        update(source)
        .where(source.c.tenant == tenant, source.c.id == name)
        .values(superseded=True, state="ready")
    )


def _supersede(connection: Connection, draft: Draft, older: str) -> bool:
    """Mark the edition that this one replaces; it stays searchable below the current one.

    Whether there is such an edition.
    """
    marked = connection.execute(
        update(source)
        .where(
            source.c.tenant == draft.tenant, source.c.id == older, source.c.superseded.is_(False)
        )
        .values(superseded=True)
    )
    if marked.rowcount:
        _log(connection, draft.tenant, older, 0, "marked", patient=draft.patient)
        return True
    there = select(source.c.id).where(source.c.tenant == draft.tenant, source.c.id == older)
    return connection.execute(there).first() is not None


def remove(connection: Connection, tenant: str, name: str) -> int:
    """Remove a document with all its revisions, chunks and vectors; how many revisions went."""
    patient = connection.execute(
        select(source.c.patient).where(source.c.tenant == tenant, source.c.id == name)
    ).scalar()
    connection.execute(delete(chunk).where(chunk.c.tenant == tenant, chunk.c.source == name))
    gone = connection.execute(
        delete(source).where(source.c.tenant == tenant, source.c.id == name)
    ).rowcount
    if gone:
        _log(connection, tenant, name, 0, "gone", patient=patient)
    return gone


def _log(
    connection: Connection, tenant: str, name: str, revision: int, what: str, *, patient: str | None
) -> None:
    """Shared knowledge is logged for the snapshots; a patient's documents leave no trace there."""
    if patient is None:
        connection.execute(
            insert(knowledge_change).values(
                tenant=tenant, source=name, revision=revision, what=what
            )
        )


# ---- vectors ------------------------------------------------------------------------------------


@value
class Pending:
    """A document that has words and lacks vectors of the model."""

    tenant: str
    id: str
    revision: int
    title: str
    patient: str | None


def _lacks(model: str) -> ColumnElement[bool]:
    """Whether a chunk of a source has no vector of the model."""
    return exists().where(
        chunk.c.tenant == source.c.tenant,
        chunk.c.source == source.c.id,
        chunk.c.revision == source.c.revision,
        not_(
            exists().where(
                chunk_vector.c.tenant == chunk.c.tenant,
                chunk_vector.c.chunk == chunk.c.id,
                chunk_vector.c.model == model,
            )
        ),
    )


def lacking(connection: Connection, model: str, *, shared: bool = False) -> int:
    """How many documents of all tenants have chunks without a vector of the model; reads every chunk.

    `shared` counts guidelines alone.
    """
    which = _SHARED if shared else _EMBEDDED
    query = select(func.count()).select_from(source).where(which, _lacks(model))
    return connection.execute(query).scalar_one()


def next_pending(
    connection: Connection,
    model: str,
    *,
    tenant: str | None,
    skip: frozenset[tuple[str, str]],
    shared: bool = False,
) -> Pending | None:
    """The oldest document without all its vectors, `None` where none is left.

    `shared` looks at guidelines alone: nothing of a patient, and no note.
    """
    columns = (source.c.tenant, source.c.id, source.c.revision, source.c.title, source.c.patient)
    # New documents are found by an index; only when there are none is every chunk looked at, for
    # vectors of a model that was replaced.
    for wanted in (source.c.state == "words", _lacks(model)):
        query = (
            select(*columns)
            .where(_SHARED if shared else _EMBEDDED, wanted)
            .order_by(source.c.created_at, source.c.id)
            .limit(len(skip) + 1)
        )
        if tenant is not None:
            query = query.where(source.c.tenant == tenant)
        for row in connection.execute(query):
            if (row.tenant, row.id) not in skip:
                return Pending(
                    tenant=row.tenant,
                    id=row.id,
                    revision=row.revision,
                    title=row.title,
                    patient=row.patient,
                )
    return None


def unembedded(
    connection: Connection, work: Pending, model: str
) -> tuple[list[tuple[str, str]], int]:
    """Chunks of a document that still lack vectors, as (id, text to embed), and how many there are."""
    text = connection.execute(
        select(source.c.text).where(
            source.c.tenant == work.tenant,
            source.c.id == work.id,
            source.c.revision == work.revision,
        )
    ).scalar()
    done = exists().where(
        chunk_vector.c.tenant == chunk.c.tenant,
        chunk_vector.c.chunk == chunk.c.id,
        chunk_vector.c.model == model,
    )
    rows = connection.execute(
        select(chunk.c.id, chunk.c.prefix, chunk.c.start, chunk.c.end, chunk.c.total)
        .where(
            chunk.c.tenant == work.tenant,
            chunk.c.source == work.id,
            chunk.c.revision == work.revision,
            not_(done),
        )
        .order_by(chunk.c.ordinal)
    ).all()
    if text is None:
        return [], 0
    found = []
    for row in rows:
        head = row.prefix if work.title in row.prefix else f"{work.title}. {row.prefix}"
        found.append((row.id, head + text[row.start : row.end]))
    return found, rows[0].total if rows else 0


def stage(
    connection: Connection, work: Pending, model: str, vectors: Sequence[tuple[str, int, Floats2d]]
) -> bool:
    """Write vectors of a document in work: (chunk id, first window, rows). They are not yet seen.

    Returns False where the document has gone or has a newer revision, and nothing is written.
    """
    live = connection.execute(
        select(chunk.c.id).where(
            chunk.c.tenant == work.tenant,
            chunk.c.source == work.id,
            chunk.c.revision == work.revision,
        )
    )
    known = {row.id for row in live}
    if not known:
        return False
    ids = sorted({name for name, _, _ in vectors} & known)
    connection.execute(
        delete(chunk_vector).where(
            and_(
                chunk_vector.c.tenant == work.tenant,
                chunk_vector.c.chunk.in_(ids),
                chunk_vector.c.model == model,
            )
        )
    )
    rows = [
        {
            "tenant": work.tenant,
            "chunk": name,
            "model": model,
            "window": first + number,
            "data": np.ascontiguousarray(row, dtype="<f4").tobytes(),
        }
        for name, first, block in vectors
        if name in known
        for number, row in enumerate(block)
    ]
    if rows:
        connection.execute(insert(chunk_vector), rows)
    return True


def finish(connection: Connection, work: Pending, model: str) -> bool:
    """Flip all vectors of a document into sight (tx 2). False where it changed meanwhile."""
    left, _ = unembedded(connection, work, model)
    if left:
        return False
    flipped = connection.execute(
        update(source)
        .where(
            source.c.tenant == work.tenant,
            source.c.id == work.id,
            source.c.revision == work.revision,
        )
        .values(state="ready")
    ).rowcount
    if flipped:
        _log(connection, work.tenant, work.id, work.revision, "ready", patient=work.patient)
    return bool(flipped)
