"""One person's side of conversations that have a private part: which rows it is, and how they go."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, or_, select, update

from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage import access
from bedside.storage.erasure import Tombstone, put
from bedside.storage.tables.erasure import erasure
from bedside.storage.tables.jobs import job
from bedside.storage.tables.memory import memory_hidden
from bedside.storage.tables.source import chunk, source
from bedside.storage.tables.turn import (
    citation,
    message,
    prompt_part,
    report,
    session,
    session_source,
    state,
    turn,
    turn_prompt,
)

__all__ = ["bury_side", "has_side_erased", "remove_session", "remove_side", "sessions_of", "words"]


def sessions_of(
    connection: Connection, *, tenant: str, person: str, flow: str, only: str | None = None
) -> list[str]:
    """Conversations of the flow in which the person has rows, oldest first; `only` of that id."""
    mine = [
        select(table.c.session).where(table.c.tenant == tenant, own)
        for table, own in (
            (state, state.c.person == person),
            (message, message.c.person == person),
            (turn, turn.c.actor == person),
        )
    ]
    query = select(session.c.id).where(
        session.c.tenant == tenant,
        session.c.flow == flow,
        or_(session.c.actor == person, *(session.c.id.in_(one) for one in mine)),
    )
    if only is not None:
        query = query.where(session.c.id == only)
    return list(connection.execute(query.order_by(session.c.created_at, session.c.id)).scalars())


def words(
    connection: Connection, *, tenant: str, person: str, sessions: Collection[str]
) -> list[str]:
    """What the person wrote there: messages, and what the private part keeps of their words."""
    query = (
        select(source.c.text)
        .join(message, (message.c.tenant == source.c.tenant) & (message.c.source == source.c.id))
        .where(message.c.tenant == tenant, message.c.person == person, message.c.role == "user")
        .where(message.c.session.in_(sessions))
    )
    found = list(connection.execute(query).scalars())
    rows = select(state.c.body).where(
        state.c.tenant == tenant, state.c.person == person, state.c.session.in_(sessions)
    )
    for body in connection.execute(rows).scalars():
        tree: Any = json.loads(body)
        for name in ("drafts", "facts", "kept", "people"):
            for one in tree.get(name) or ():
                found += [str(one[part]) for part in ("text", "line", "quote") if one.get(part)]
    return found


def remove_side(
    connection: Connection,
    *,
    tenant: str,
    person: str,
    sessions: Collection[str],
    heirs: Mapping[str, str],
) -> dict[str, int]:
    """Remove the person's rows of these conversations; how many went from each table.

    `heirs` are the people who stay, by conversation: one that the person began is theirs then. A turn of anybody's that runs there can no longer commit: it may have read what is removed.
    Inside a write transaction.
    """
    turns = select(turn.c.id).where(
        turn.c.tenant == tenant, turn.c.session.in_(sessions), turn.c.actor == person
    )
    messages = select(message.c.source).where(
        message.c.tenant == tenant, message.c.session.in_(sessions), message.c.person == person
    )
    own_turns = list(connection.execute(turns).scalars())
    own_sources = list(connection.execute(messages).scalars())
    removed = {"prompt_part": _parts(connection, tenant, turns)}
    for table, here in _scopes(person, sessions, own_turns, own_sources):
        gone = connection.execute(delete(table).where(table.c.tenant == tenant, here)).rowcount
        removed[table.name] = removed.get(table.name, 0) + gone
    removed["job"] = _jobs(connection, tenant, person, sessions, frozenset(own_turns))
    connection.execute(
        update(session)
        .where(session.c.tenant == tenant, session.c.id.in_(sessions))
        .values(fence=session.c.fence + 1, lease_turn=None, lease_owner=None, lease_until=None)
    )
    for one, heir in heirs.items():
        begun = (session.c.id == one) & (session.c.actor == person)
        connection.execute(
            update(session).where(session.c.tenant == tenant, begun).values(actor=heir)
        )
    return removed


def _scopes(
    person: str,
    sessions: Collection[str],
    turns: Collection[str],
    sources: Collection[str],
) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """What goes, rows that hang on others first."""
    yield turn_prompt, turn_prompt.c.turn.in_(turns)
    yield citation, or_(citation.c.turn.in_(turns), citation.c.source.in_(sources))
    yield report, report.c.turn.in_(turns)
    yield session_source, session_source.c.source.in_(sources)
    yield memory_hidden, memory_hidden.c.source.in_(sources)
    yield message, message.c.session.in_(sessions) & (message.c.person == person)
    yield chunk, chunk.c.source.in_(sources)
    yield source, source.c.id.in_(sources)
    yield state, state.c.session.in_(sessions) & (state.c.person == person)
    yield turn, turn.c.id.in_(turns)


def _parts(connection: Connection, tenant: str, turns: Select[tuple[str]]) -> int:
    """Parts of prompts that were sent in these turns alone."""
    theirs = turn_prompt.c.turn.in_(turns)
    own = set(
        connection.execute(
            select(turn_prompt.c.sha256).where(turn_prompt.c.tenant == tenant, theirs)
        ).scalars()
    )
    others = set(
        connection.execute(
            select(turn_prompt.c.sha256).where(turn_prompt.c.tenant == tenant, ~theirs)
        ).scalars()
    )
    return sum(
        connection.execute(
            delete(prompt_part).where(
                prompt_part.c.tenant == tenant, prompt_part.c.sha256 == digest
            )
        ).rowcount
        for digest in sorted(own - others)
    )


def _jobs(
    connection: Connection,
    tenant: str,
    person: str,
    sessions: Collection[str],
    turns: Collection[str],
) -> int:
    rows = connection.execute(
        select(job.c.id, job.c.turn, job.c.payload).where(
            job.c.tenant == tenant, job.c.session.in_(sessions)
        )
    ).all()
    gone = [
        row.id
        for row in rows
        if row.turn in turns or person in map(str, dict(json.loads(row.payload)).values())
    ]
    order = delete(job).where(job.c.tenant == tenant, job.c.id.in_(gone))
    return connection.execute(order).rowcount if gone else 0


def remove_session(connection: Connection, *, tenant: str, session_id: str) -> dict[str, int]:
    """Remove what is left of a conversation in which nobody takes part any more."""
    removed: dict[str, int] = {}
    for table in (job, message, source, state, turn, session_source):
        order = delete(table).where(table.c.tenant == tenant, table.c.session == session_id)
        removed[table.name] = connection.execute(order).rowcount
    order = delete(session).where(session.c.tenant == tenant, session.c.id == session_id)
    removed["session"] = connection.execute(order).rowcount
    return removed


def bury_side(
    connection: Connection,
    *,
    tenant: TenantId,
    person: str,
    only: str | None,
    actor: ActorId,
    ident: str,
    at: datetime,
) -> Tombstone:
    """Leave a tombstone and an audit entry that name the side by its keyed hash."""
    known = access.reference_of(connection, tenant=tenant, patient=_key(person, only))
    stone = Tombstone(tenant=tenant, id=ident, patient=known, actor=actor, at=at)
    put(connection, stone)
    access.note(
        connection,
        tenant=tenant,
        actor=actor,
        action="erase",
        at=at,
        patient=PatientId(known),
        purpose="companion side",
    )
    return stone


def has_side_erased(
    connection: Connection, *, tenant: TenantId, person: str, only: str | None
) -> bool:
    """Was this side erased before? Call inside a write transaction."""
    known = access.reference_of(connection, tenant=tenant, patient=_key(person, only))
    query = select(erasure.c.id).where(erasure.c.tenant == tenant, erasure.c.patient == known)
    return connection.execute(query).first() is not None


def _key(person: str, only: str | None) -> str:
    return f"person\0{person}\0{only or ''}"
