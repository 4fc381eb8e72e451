"""What a conversation holds between its turns: messages, numbers, and the rows of its state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from bedside.storage.tables.source import source as source_table
from bedside.storage.tables.turn import message, session, session_source, state, turn

__all__ = [
    "append_trace",
    "history_of",
    "load_state",
    "numbering_of",
    "pinned_of",
    "save_state",
    "session_exists",
]


def append_trace(
    connection: Connection, *, tenant: str, turn_id: str, event: Mapping[str, Any]
) -> None:
    """Add what an observer did to the trace of its turn."""
    where = (turn.c.tenant == tenant, turn.c.id == turn_id)
    row = connection.execute(select(turn.c.trace).where(*where)).first()
    if row is None:
        return
    trace = json.loads(row.trace or '{"events": []}')
    trace.setdefault("observers", []).append(dict(event))
    connection.execute(
        update(turn).where(*where).values(trace=json.dumps(trace, ensure_ascii=False))
    )


def history_of(
    connection: Connection, tenant: str, session_id: str, *, person: str, but: str
) -> tuple[tuple[str, str, str], ...]:
    """(role, text, source id) of one person's conversation, oldest first; cut turns left out."""
    rows = connection.execute(
        select(message.c.role, source_table.c.text, message.c.source, turn.c.status)
        .join(
            source_table,
            (source_table.c.tenant == message.c.tenant) & (source_table.c.id == message.c.source),
        )
        .join(turn, (turn.c.tenant == message.c.tenant) & (turn.c.id == message.c.turn))
        .where(message.c.tenant == tenant, message.c.session == session_id, message.c.turn != but)
        .where(message.c.person == person)
        .order_by(message.c.ordinal)
    )
    return tuple((row.role, row.text, row.source) for row in rows if row.status == "complete")


def load_state(connection: Connection, *, tenant: str, session_id: str, person: str) -> str | None:
    """The JSON of one state row; `None` where it was never written."""
    return connection.execute(
        select(state.c.body).where(
            state.c.tenant == tenant, state.c.session == session_id, state.c.person == person
        )
    ).scalar()


def numbering_of(
    connection: Connection, tenant: str, session_id: str
) -> dict[tuple[str, int], int]:
    """(source, revision) -> its number in the session."""
    rows = connection.execute(
        select(session_source).where(
            session_source.c.tenant == tenant, session_source.c.session == session_id
        )
    )
    return {(row.source, row.revision): row.n for row in rows}


def pinned_of(stored: str) -> dict[str, str]:
    """What was pinned when the session began."""
    return dict(json.loads(stored))


def save_state(
    connection: Connection, *, tenant: str, session_id: str, person: str, body: str
) -> None:
    """Write one state row."""
    where = (state.c.tenant == tenant, state.c.session == session_id, state.c.person == person)
    if connection.execute(update(state).where(*where).values(body=body)).rowcount == 0:
        connection.execute(
            insert(state).values(tenant=tenant, session=session_id, person=person, body=body)
        )


def session_exists(connection: Connection, *, tenant: str, session_id: str) -> bool:
    """True where the conversation has begun."""
    query = select(session.c.id).where(session.c.tenant == tenant, session.c.id == session_id)
    return connection.execute(query).first() is not None
