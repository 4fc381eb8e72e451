"""Taking back: everything of a person, and everything that came from words that were withdrawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, Table, delete, insert, or_, select

from bedside.core.ids import PatientId, TenantId
from bedside.storage.tables.memory import (
    memory_consent,
    memory_fact,
    memory_hidden,
    memory_message,
    memory_session,
    memory_summary,
)
from bedside.storage.tables.source import source as source_table
from bedside.storage.tables.turn import message

__all__ = ["RUN", "erase_person", "purge", "repeats"]

RUN = 6
"""So many words in a row that another text shares are taken for the same words."""
_FEWEST = 3
"""A text of fewer words ("Yes, always") stands anywhere: it goes by its message alone."""
_OWNED: tuple[Table, ...] = (
    memory_fact, memory_summary, memory_session, memory_message, memory_consent,
)  # fmt: skip


def erase_person(
    connection: Connection,
    *,
    tenant: TenantId,
    person: str,
    patient: PatientId | None = None,
    session: str | None = None,
) -> dict[str, int]:
    """Remove all that is remembered of a person; how many rows went, by table.

    With `patient` only what was remembered under that patient, with `session` only what is of that
    conversation: consent, which is of none, then stays. Call inside a write transaction.
    """
    removed: dict[str, int] = {}
    for table in _OWNED:
        order = delete(table).where(table.c.tenant == tenant, table.c.owner == person)
        if session is not None and "session" not in table.c:
            continue
        if session is not None:
            order = order.where(table.c.session == session)
        if patient is not None:
            order = order.where(table.c.patient == patient)
        removed[table.name] = connection.execute(order).rowcount
    return removed


def purge(
    connection: Connection,
    *,
    tenant: TenantId,
    session: str,
    sources: Sequence[str],
    texts: Sequence[str],
    at: datetime,
) -> dict[str, int]:
    """Take back shared words on both sides: what was learned from them, and that they were said.

    In every conversation of those who take part in `session`: facts and profile entries go whose
    words lie in one of `sources`, or repeat a run of six words of `texts`; summaries and session
    vectors of the conversations that this touches, which are made anew from what is left; vectors of
    the messages that repeat them. These messages are never recalled again; stored messages themselves
    stay where they are. Call inside a write transaction; safe to repeat.

    Returns:
        Rows removed by table, and under "memory_hidden" the messages newly out of reach.
    """
    people = set(
        connection.execute(
            select(message.c.person).where(message.c.tenant == tenant, message.c.session == session)
        ).scalars()
    )
    touched = _repeating(connection, tenant, people, texts)
    touched |= dict.fromkeys(sources, session)
    sessions = {session, *touched.values()}
    gone = _facts(connection, tenant, people, touched, texts)
    removed = {"memory_fact": gone}
    for table in (memory_summary, memory_session):
        order = delete(table).where(
            table.c.tenant == tenant, table.c.owner.in_(people), table.c.session.in_(sessions)
        )
        removed[table.name] = connection.execute(order).rowcount
    order = delete(memory_message).where(
        memory_message.c.tenant == tenant, memory_message.c.source.in_(touched)
    )
    removed["memory_message"] = connection.execute(order).rowcount
    known = set(
        connection.execute(
            select(memory_hidden.c.source).where(memory_hidden.c.tenant == tenant)
        ).scalars()
    )
    new = {ident: of for ident, of in sorted(touched.items()) if ident not in known}
    for ident, of in new.items():
        connection.execute(
            insert(memory_hidden).values(tenant=tenant, source=ident, session=of, at=at)
        )
    removed["memory_hidden"] = len(new)
    return removed


def _facts(
    connection: Connection,
    tenant: str,
    people: Iterable[str],
    touched: Iterable[str],
    texts: Sequence[str],
) -> int:
    """Remove facts that lie in a touched message or repeat a withdrawn text; how many."""
    sources = set(touched)
    found = connection.execute(
        select(memory_fact).where(
            memory_fact.c.tenant == tenant,
            or_(memory_fact.c.owner.in_(people), memory_fact.c.source.in_(sources)),
        )
    ).all()
    gone = 0
    for row in found:
        said = (row.text, row.quote)
        if row.source in sources or any(repeats(text, one) for text in texts for one in said):
            order = delete(memory_fact).where(
                memory_fact.c.tenant == tenant,
                memory_fact.c.owner == row.owner,
                memory_fact.c.kind == row.kind,
                memory_fact.c.id == row.id,
            )
            gone += connection.execute(order).rowcount
    return gone


def _repeating(
    connection: Connection, tenant: str, people: Iterable[str], texts: Iterable[str]
) -> dict[str, str]:
    """Messages of these people in which a withdrawn text stands, with their sessions."""
    rows = connection.execute(
        select(message.c.source, message.c.session, source_table.c.text)
        .join(
            source_table,
            (source_table.c.tenant == message.c.tenant) & (source_table.c.id == message.c.source),
        )
        .where(message.c.tenant == tenant, message.c.person.in_(people))
    )
    wanted = tuple(texts)
    return {
        row.source: row.session for row in rows if any(repeats(text, row.text) for text in wanted)
    }


def repeats(withdrawn: str, text: str) -> bool:
    """Does `text` hold a run of six words of what was withdrawn, or all of it where it is shorter?"""
    words, there = _words(withdrawn), _words(text)
    if len(words) < _FEWEST:
        return False
    size = min(RUN, len(words))
    runs = {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
    return any(tuple(there[at : at + size]) in runs for at in range(len(there) - size + 1))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())
