"""Vectors of messages and of sessions, in rows: made after the answer, read without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select

from bedside.core.access import Grant
from bedside.core.value import value
from bedside.language.sentences import sentences
from bedside.memory import ledger
from bedside.memory.owner import owned, owner_of, patient_of, reach
from bedside.memory.summaries import render
from bedside.storage.tables.memory import (
    memory_fact,
    memory_message,
    memory_session,
    memory_summary,
)
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message

__all__ = [
    "Embeds",
    "Pending",
    "message_count",
    "message_vectors",
    "pending",
    "pieces",
    "session_vectors",
    "store",
]

Vector = NDArray[np.float32]
_SESSION_TOKENS = 400
_AT_ONCE = 200
_IN_ONE_QUERY = 400


class Embeds(Protocol):
    """The part of an embedder that memory uses; `bedside.knowledge.embed` makes them."""

    @property
    def id(self) -> str:
        """Changes whenever vectors would."""
        ...

    @property
    def dim(self) -> int:
        """Columns of every vector."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> Vector:
        """Shape (len(texts), dim), float32, rows of norm 1, order kept."""
        ...


@value
class Pending:
    """What has no vectors yet: a message's sentences, or a session's facts and summary as one text."""

    session: str
    source: str
    texts: tuple[str, ...]
    sha256: str = ""


def pieces(text: str, *, speaker: str = "") -> tuple[str, ...]:
    """The sentences of a message, each with who says it; the message where it is one sentence."""
    found = [text[start:end].strip() for start, end in sentences(text)]
    head = f"{speaker}: " if speaker else ""
    return tuple(f"{head}{one}" for one in found if one) or (f"{head}{text.strip()}",)


def pending(
    connection: Connection,
    grant: Grant,
    *,
    model: str,
    most: int = _AT_ONCE,
    names: dict[str, str] | None = None,
) -> list[Pending]:
    """What of the owner's is not embedded under `model`: sessions that changed first, then messages.

    Sessions are those with facts or a summary; at most `most` things, newest messages first.
    """
    found = _sessions(connection, grant, model)
    room = most - len(found)
    if room < 1:
        return found
    made = (
        select(memory_message.c.source)
        .where(
            owned(memory_message, grant),
            memory_message.c.model == model,
            memory_message.c.source == message.c.source,
        )
        .exists()
    )
    query = (
        reach(grant, message.c.session, message.c.role, message.c.source, source.c.text)
        .join(source, and_(source.c.tenant == message.c.tenant, source.c.id == message.c.source))
        .where(~made)
        .order_by(message.c.at.desc(), message.c.ordinal.desc())
        .limit(room)
    )
    for row in connection.execute(query):
        texts = pieces(row.text, speaker=(names or {}).get(row.role, ""))
        found.append(Pending(session=row.session, source=row.source, texts=texts))
    return found


def _sessions(connection: Connection, grant: Grant, model: str) -> list[Pending]:
    known = {
        row.session: row.sha256
        for row in connection.execute(
            select(memory_session).where(
                owned(memory_session, grant), memory_session.c.model == model
            )
        )
    }
    found: list[Pending] = []
    for session in _with_content(connection, grant):
        text = session_text(connection, grant, session)
        digest = hashlib.sha256(text.encode()).hexdigest()
        if text and known.get(session) != digest:
            found.append(Pending(session=session, source="", texts=(text,), sha256=digest))
    return found


def _with_content(connection: Connection, grant: Grant) -> list[str]:
    facts = select(memory_fact.c.session).where(
        owned(memory_fact, grant), memory_fact.c.kind == "session"
    )
    summaries = select(memory_summary.c.session).where(owned(memory_summary, grant))
    return sorted(set(connection.execute(facts.union(summaries)).scalars()))


def session_text(connection: Connection, grant: Grant, session: str) -> str:
    """The facts and the summary of a session as one text; what its vector is made of."""
    facts = ledger.facts_of(connection, grant, "session", session=session)
    lines = [fact.text for fact in facts]
    summary = ledger.summary_of(connection, grant, session=session)
    if summary is not None:
        lines.append(render(summary, count=lambda text: len(text) // 4, tokens=_SESSION_TOKENS))
    return "\n".join(line for line in lines if line)


def store(
    connection: Connection, grant: Grant, made: Sequence[tuple[Pending, Vector]], *, model: str
) -> int:
    """Keep vectors of what is still there; how many were kept. Call inside a write transaction.

    What was erased or taken back while the vectors were made is left out.
    """
    wanted = [one.source for one, _ in made if one.source]
    there = set(
        connection.execute(
            reach(grant, message.c.source).where(message.c.source.in_(wanted))
        ).scalars()
    )
    sessions = set(_with_content(connection, grant))
    kept = 0
    for one, rows in made:
        data = np.ascontiguousarray(rows, dtype="<f4").tobytes()
        own = {"tenant": grant.tenant, "owner": owner_of(grant), "model": model}
        if one.source and one.source in there:
            table, key = memory_message, memory_message.c.source == one.source
            fields = {"source": one.source}
        elif not one.source and one.session in sessions:
            table, key = memory_session, memory_session.c.session == one.session
            fields = {"sha256": one.sha256}
        else:
            continue
        connection.execute(delete(table).where(owned(table, grant), key, table.c.model == model))
        connection.execute(
            insert(table).values(
                **own, **fields, session=one.session, patient=patient_of(grant), data=data
            )
        )
        kept += 1
    return kept


def message_count(
    connection: Connection, grant: Grant, *, model: str, only: str | None = None
) -> int:
    """How many of the owner's messages have vectors under `model`."""
    query = select(func.count()).select_from(memory_message).where(*_of(grant, model, only))
    return int(connection.execute(query).scalar_one())


def message_vectors(
    connection: Connection,
    grant: Grant,
    sources: Sequence[str],
    *,
    model: str,
    dim: int,
    only: str | None = None,
) -> dict[str, Vector]:
    """The stored sentence vectors of these messages, shape (sentences, dim), where they are made."""
    query = select(memory_message.c.source, memory_message.c.data).where(*_of(grant, model, only))
    whole = len(sources) > _IN_ONE_QUERY  # many at once: all of the owner's are read
    if not whole:
        query = query.where(memory_message.c.source.in_(sources))
    wanted = set(sources)
    found: dict[str, Vector] = {}
    for row in connection.execute(query):
        if row.source in wanted:
            found[row.source] = np.frombuffer(row.data, dtype="<f4").reshape(-1, dim)
    return found


def _of(grant: Grant, model: str, only: str | None) -> list[ColumnElement[bool]]:
    here = [owned(memory_message, grant), memory_message.c.model == model]
    return here if only is None else [*here, memory_message.c.session == only]


def session_vectors(connection: Connection, grant: Grant, *, model: str) -> dict[str, Vector]:
    """The vector of each of the owner's sessions that has one."""
    rows = connection.execute(
        select(memory_session.c.session, memory_session.c.data).where(
            owned(memory_session, grant), memory_session.c.model == model
        )
    )
    return {row.session: np.frombuffer(row.data, dtype="<f4") for row in rows}
