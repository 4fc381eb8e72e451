"""Whose memory a grant opens, and which rows of conversations are theirs."""

from __future__ import annotations

from datetime import date

from sqlalchemy import ColumnElement, Connection, Table, and_, select

from bedside.core.access import Grant
from bedside.core.value import value
from bedside.storage.tables.memory import memory_hidden
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, session, turn

__all__ = ["Message", "messages_of", "owned", "owner_of", "patient_of"]


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


def messages_of(connection: Connection, grant: Grant, *, only: str | None = None) -> list[Message]:
    """The person's own conversations in the order they were held, read from the rows.

    Answers given to the person are among them; what was withdrawn and cut turns are not. `only`
    names one session.
    """
    mine = message.c.person == str(grant.person or "")
    if grant.person is None:
        mine = and_(mine, session.c.actor == grant.actor)
    under = session.c.patient == grant.patient if grant.patient else session.c.patient.is_(None)
    hidden = select(memory_hidden.c.source).where(memory_hidden.c.tenant == grant.tenant)
    query = (
        select(
            message.c.source,
            message.c.session,
            message.c.role,
            message.c.ordinal,
            message.c.at,
            source.c.text,
        )
        .join(
            session, and_(session.c.tenant == message.c.tenant, session.c.id == message.c.session)
        )
        .join(source, and_(source.c.tenant == message.c.tenant, source.c.id == message.c.source))
        .join(turn, and_(turn.c.tenant == message.c.tenant, turn.c.id == message.c.turn))
        .where(message.c.tenant == grant.tenant, mine, under, turn.c.status == "complete")
        .where(message.c.source.not_in(hidden))
        .order_by(session.c.created_at, session.c.id, message.c.ordinal)
    )
    if only is not None:
        query = query.where(message.c.session == only)
    return [
        Message(
            source=row.source,
            session=row.session,
            role=row.role,
            text=row.text,
            day=row.at.date(),
            ordinal=row.ordinal,
        )
        for row in connection.execute(query)
    ]
