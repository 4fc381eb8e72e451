"""Index entries from database rows."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, or_, select

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.knowledge.embed.protocol import Floats2d
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.sought import headings, sort_of
from bedside.storage.tables.knowledge import chunk_vector, chunk_words, knowledge_change
from bedside.storage.tables.source import chunk, source

__all__ = [
    "document_of",
    "head_of_log",
    "is_aside",
    "load_knowledge",
    "load_patient",
    "pending",
    "reading",
    "source_value",
    "sources_digest",
]

_AT_ONCE = 200
_ASIDE = re.compile(
    r"(?:\d+\.?\s*)?(?:sources?|references?|bibliography|further reading|literature|citations?|"
    r"acknowledge?ments?|disclosures?|index|table of contents|contents)(?: and notes)?",
    re.IGNORECASE,
)

_ATTRIBUTION = 4
"""Telling words up to which a body with "source" among them is an attribution and no more."""

_NEWEST = select(func.max(knowledge_change.c.seq)).where(
    knowledge_change.c.tenant == bindparam("tenant")
)


def head_of_log(connection: Connection, tenant: str) -> int:
    """The newest change of a tenant's knowledge, 0 where there was none."""
    return connection.execute(_NEWEST, {"tenant": tenant}).scalar() or 0


def changed(connection: Connection, tenant: str, after: int) -> list[str]:
    """Ids of the sources that changed after a number of the log, each once, in order."""
    rows = connection.execute(
        select(knowledge_change.c.source)
        .where(knowledge_change.c.tenant == tenant, knowledge_change.c.seq > after)
        .order_by(knowledge_change.c.seq)
    )
    return list(dict.fromkeys(row.source for row in rows))


def load_knowledge(
    connection: Connection, tenant: str, *, model: str | None, only: Sequence[str] | None = None
) -> list[Entry]:
    """Chunks of shared knowledge of one tenant, in order of id; `only` these sources if given."""
    scope = and_(
        source.c.tenant == tenant, source.c.patient.is_(None), source.c.kind == "guideline"
    )
    if only is None:
        return _load(connection, scope, model)
    found: list[Entry] = []
    for at in range(0, len(only), _AT_ONCE):
        ids = list(only[at : at + _AT_ONCE])
        found.extend(_load(connection, and_(scope, source.c.id.in_(ids)), model))
    return sorted(found, key=lambda entry: entry.id)


def load_patient(
    connection: Connection, tenant: str, patient: str, *, model: str | None
) -> list[Entry]:
    """Chunks of one patient's own documents and notes, in order of id."""
    scope = and_(
        source.c.tenant == tenant,
        source.c.patient == patient,
        or_(source.c.kind == "document", source.c.kind == "note"),
    )
    return _load(connection, scope, model)


def pending(connection: Connection, tenant: str, patient: str | None) -> int:
    """How many documents of a scope have words but no vectors in sight yet."""
    own = source.c.patient.is_(None) if patient is None else source.c.patient == patient
    kinds = ("guideline",) if patient is None else ("document", "note")
    query = (
        select(func.count())
        .select_from(source)
        .where(source.c.tenant == tenant, own, source.c.kind.in_(kinds), source.c.state == "words")
    )
    return connection.execute(query).scalar() or 0


def _load(connection: Connection, scope: ColumnElement[bool], model: str | None) -> list[Entry]:
    of_source = and_(
        chunk.c.tenant == source.c.tenant,
        chunk.c.source == source.c.id,
        chunk.c.revision == source.c.revision,
    )
    own_words = and_(chunk_words.c.tenant == chunk.c.tenant, chunk_words.c.chunk == chunk.c.id)
    columns = [column for column in source.c if column.name not in {"text", "sha256"}]
    documents = {
        (row.tenant, row.id, row.revision): document_of(row)
        for row in connection.execute(select(*columns).where(scope))
    }
    rows = connection.execute(
        select(
            chunk.c.id,
            chunk.c.tenant,
            chunk.c.source,
            chunk.c.revision,
            chunk.c.section,
            chunk_words.c.length,
            chunk_words.c.data,
        )
        .select_from(chunk.join(source, of_source).join(chunk_words, own_words))
        .where(scope)
        .order_by(chunk.c.id)
    ).all()
    vectors = _vectors(connection, scope, of_source, model) if model else {}
    return [
        Entry(
            id=name,
            document=documents[tenant, of, revision],
            words=data,
            length=length,
            vectors=vectors.get((tenant, name)),
            aside=is_aside(path, data, length),
            sort=int(sort_of(path)),
            heading=path.rpartition(" > ")[2],
        )
        for name, tenant, of, revision, path, length, data in rows
    ]


def is_aside(path: str, words: bytes, length: int) -> bool:
    """Whether a chunk only tells where a text is from: by its heading, or a line such as "Source: X".

    `words` are packed stems, those of the heading among them; `length` counts the body's alone.
    """
    return _headed_aside(path) or (length <= _ATTRIBUTION and b"sourc" in words.split())


@functools.lru_cache(maxsize=20_000)
def _headed_aside(path: str) -> bool:
    return bool(_ASIDE.fullmatch(path.rpartition(" > ")[2].strip()))


def reading() -> str:
    """A fingerprint of how headings are read into entries; another reading makes other entries."""
    return hashlib.sha256(f"{_ASIDE.pattern}\0{_ATTRIBUTION}\0{headings()}".encode()).hexdigest()


def sources_digest(connection: Connection, tenant: str) -> str:
    """A digest of every source of a tenant's shared knowledge: which, of which state and content."""
    columns = [column for column in source.c if column.name not in {"text", "created_at"}]
    rows = connection.execute(
        select(*columns)
        .where(source.c.tenant == tenant, source.c.patient.is_(None), source.c.kind == "guideline")
        .order_by(source.c.id, source.c.revision)
    )
    digest = hashlib.sha256()
    for row in rows:
        digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def _vectors(
    connection: Connection, scope: ColumnElement[bool], of_source: ColumnElement[bool], model: str
) -> dict[tuple[str, str], Floats2d]:
    """Vectors of the ready documents; those of a document in work are not seen."""
    own = and_(chunk_vector.c.tenant == chunk.c.tenant, chunk_vector.c.chunk == chunk.c.id)
    rows = connection.execute(
        select(chunk_vector.c.tenant, chunk_vector.c.chunk, chunk_vector.c.data)
        .select_from(chunk_vector.join(chunk, own).join(source, of_source))
        .where(scope, source.c.state == "ready", chunk_vector.c.model == model)
        .order_by(chunk_vector.c.chunk, chunk_vector.c.window)
    ).all()
    blobs: dict[tuple[str, str], list[bytes]] = {}
    for tenant, name, data in rows:
        blobs.setdefault((tenant, name), []).append(data)
    return {
        key: np.frombuffer(b"".join(parts), dtype="<f4").reshape(len(parts), -1)
        for key, parts in blobs.items()
    }


def source_value(row: Row[Any], *, section: str = "") -> Source:
    """The public value of a source row."""
    return Source(
        id=SourceId(row.id),
        revision=row.revision,
        kind=row.kind,
        title=row.title,
        section=section,
        dated=row.dated,
        superseded=bool(row.superseded),
    )


def document_of(row: Row[Any]) -> Document:
    """A source row without its text as the filters see it."""
    meta = json.loads(row.meta or "{}")
    return Document(
        tenant=row.tenant,
        id=row.id,
        revision=row.revision,
        kind=row.kind,
        title=row.title,
        ready=row.state == "ready",
        superseded=bool(row.superseded),
        dated=row.dated,
        specialty=str(meta.get("specialty") or ""),
        type=str(meta.get("type") or ""),
        conditions=tuple(str(item) for item in meta.get("conditions") or ()),
        drugs=tuple(str(item) for item in meta.get("drugs") or ()),
        category=str(meta.get("category") or ""),
        facility=str(meta.get("facility") or ""),
        file_name=str(meta.get("file_name") or ""),
    )
