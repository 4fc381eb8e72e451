"""Whose memory a grant opens, and which rows of conversations are theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, select

from bedside.core.access import Grant
from bedside.core.value import value
from bedside.storage.tables.memory import memory_hidden
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, session, turn

__all__ = ["Message", "messages_of", "owned", "owner_of", "patient_of", "reach", "stamp_of"]

_AT_ONCE = 400
"""Texts asked for in one query."""


@value
class Message:
    """One stored message of the owner's conversation. `role` is "user" or "assistant"."""

    source: str
    session: str
    role: str
    text: str
    day: date
    ordinal: int


def owner_of(grant: Grant) -> str:
    """The person of the conversation; the actor where the flow knows no persons."""
    return str(grant.person or grant.actor)


def patient_of(grant: Grant) -> str:
    """The patient that memory is kept under, "" for none."""
    return str(grant.patient or "")


def owned(table: Table, grant: Grant) -> ColumnElement[bool]:
    """The grant's rows of a memory table: its tenant, its person, and its patient or none.

    Every read of the room goes through this, so another person's rows cannot be named.
    """
    return and_(
        table.c.tenant == grant.tenant,
        table.c.owner == owner_of(grant),
        table.c.patient == patient_of(grant),
    )


def reach(grant: Grant, *columns: ColumnElement[Any], only: str | None = None) -> Select[Any]:
    """A query over the messages in the grant's reach, in no order; `only` names one session.

    Answers given to the person are among them; what was withdrawn and cut turns are not.
    """
    mine = message.c.person == str(grant.person or "")
    if grant.person is None:
        mine = and_(mine, session.c.actor == grant.actor)
    under = session.c.patient == grant.patient if grant.patient else session.c.patient.is_(None)
    hidden = select(memory_hidden.c.source).where(memory_hidden.c.tenant == grant.tenant)
    query = (
        select(*columns)
        .select_from(message)
        .join(
            session, and_(session.c.tenant == message.c.tenant, session.c.id == message.c.session)
        )
        .join(turn, and_(turn.c.tenant == message.c.tenant, turn.c.id == message.c.turn))
        .where(message.c.tenant == grant.tenant, mine, under, turn.c.status == "complete")
        .where(message.c.source.not_in(hidden))
    )
    return query if only is None else query.where(message.c.session == only)


def stamp_of(connection: Connection, grant: Grant, *, only: str | None = None) -> tuple[Any, ...]:
    """What changes whenever the messages in reach do.

    One that goes or is hidden lowers the count; one that comes is the newest.
    """
    query = reach(
        grant, func.count(), func.sum(message.c.ordinal), func.max(message.c.at), only=only
    )
    return tuple(connection.execute(query).one())


def messages_of(
    connection: Connection,
    grant: Grant,
    *,
    only: str | None = None,
    known: Mapping[str, Message] | None = None,
    since: datetime | None = None,
) -> list[Message]:
    """The person's own conversations in the order they were held, read from the rows.

    `only` names one session, `since` leaves out what is not newer. The text of a message that is
    `known` is not read again: a stored message is never rewritten while it is in reach.
    """
    held = known or {}
    columns: list[ColumnElement[Any]] = [
        message.c.source,
        message.c.session,
        message.c.role,
        message.c.ordinal,
        message.c.at,
    ]
    if not held:
        columns.append(source.c.text)
    query = reach(grant, *columns, only=only).order_by(
        session.c.created_at, session.c.id, message.c.ordinal
    )
    if since is not None:
        query = query.where(message.c.at > since)
    if not held:
        query = query.join(
            source, and_(source.c.tenant == message.c.tenant, source.c.id == message.c.source)
        )
    rows = connection.execute(query).all()
    if held:
        new = [row.source for row in rows if row.source not in held]
        texts = _texts(connection, grant, new)
    else:
        texts = {row.source: row.text for row in rows}
    return [
        held[row.source]
        if row.source in held
        else Message(
            source=row.source,
            session=row.session,
            role=row.role,
            text=texts[row.source],
            day=row.at.date(),
            ordinal=row.ordinal,
        )
        for row in rows
        if row.source in held or row.source in texts
    ]


def _texts(connection: Connection, grant: Grant, sources: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(sources), _AT_ONCE):
        rows = connection.execute(
            select(source.c.id, source.c.text).where(
                source.c.tenant == grant.tenant, source.c.id.in_(sources[start : start + _AT_ONCE])
            )
        )
        found.update((row.id, row.text) for row in rows)
    return found
