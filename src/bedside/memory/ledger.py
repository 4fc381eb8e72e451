"""Facts, summaries and the profile in their rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, delete, insert, select

from bedside.core.access import Grant
from bedside.core.errors import InvalidArgument
from bedside.memory import summaries
from bedside.memory.consent import require
from bedside.memory.facts import Diff, Fact, Own, Refused, Upsert, apply, merge
from bedside.memory.notes import MOST_NOTES, read_note
from bedside.memory.owner import messages_of, owned, owner_of, patient_of
from bedside.memory.summaries import Summary
from bedside.storage.tables.memory import memory_fact, memory_summary

__all__ = [
    "MOST_PROFILE",
    "add_note",
    "consolidate",
    "facts_of",
    "forget",
    "learn",
    "put_facts",
    "save_summary",
    "summary_of",
]

Kind = Literal["session", "profile", "note"]
MOST_PROFILE = 50


def learn(
    connection: Connection, grant: Grant, diff: Diff, *, at: datetime
) -> tuple[tuple[Fact, ...], tuple[Refused, ...]]:
    """Apply a diff to the ledger of the grant's session; the ledger after it, and what was refused.

    The words of a fact are looked for in the person's own stored messages of this session, and
    nowhere else. Call inside a write transaction.

    Raises:
        InvalidArgument: the grant names no session.
    """
    session = _session(grant)
    own = [
        Own(source=one.source, text=one.text)
        for one in messages_of(connection, grant, only=session)
        if one.role == "user"
    ]
    facts, refused = apply(facts_of(connection, grant, "session", session=session), diff, own)
    put_facts(connection, grant, "session", facts, at=at, session=session)
    return facts, refused


def facts_of(
    connection: Connection, grant: Grant, kind: Kind, *, session: str | None = None
) -> tuple[Fact, ...]:
    """The owner's facts of a kind, in their order; of one session where it is named."""
    query = (
        select(memory_fact)
        .where(owned(memory_fact, grant), memory_fact.c.kind == kind)
        .order_by(memory_fact.c.ordinal, memory_fact.c.id)
    )
    if session is not None:
        query = query.where(memory_fact.c.session == session)
    return tuple(
        Fact(
            id=row.id,
            category=row.category,
            text=row.text,
            source=row.source,
            revision=row.revision,
            start=row.start,
            end=row.end,
            quote=row.quote,
        )
        for row in connection.execute(query)
    )


def put_facts(
    connection: Connection,
    grant: Grant,
    kind: Kind,
    facts: Sequence[Fact],
    *,
    at: datetime,
    session: str,
) -> None:
    """Write a ledger in place of the one before: a session's own, or the whole profile or notes."""
    here = [owned(memory_fact, grant), memory_fact.c.kind == kind]
    rows = connection.execute(
        select(memory_fact.c.id, memory_fact.c.session, memory_fact.c.at).where(*here)
    )
    known = {row.id: (row.session, row.at) for row in rows}
    gone = delete(memory_fact).where(*here)
    if kind == "session":
        gone = gone.where(memory_fact.c.session == session)
    connection.execute(gone)
    for ordinal, fact in enumerate(facts):
        of, since = known.get(fact.id, (session, at))
        connection.execute(
            insert(memory_fact).values(
                tenant=grant.tenant,
                owner=owner_of(grant),
                kind=kind,
                id=fact.id,
                ordinal=ordinal,
                session=of,
                patient=patient_of(grant),
                category=fact.category,
                source=fact.source,
                revision=fact.revision,
                start=fact.start,
                end=fact.end,
                at=since,
                quote=fact.quote,
                text=fact.text,
            )
        )


def consolidate(connection: Connection, grant: Grant, *, at: datetime) -> tuple[Fact, ...]:
    """Bring the facts of this session into the person's profile, at most 50, newest kept.

    Raises:
        AccessDenied: the person has not consented to be remembered across sessions.
        InvalidArgument: the grant names no session.
    """
    require(connection, grant, "profile")
    session = _session(grant)
    before = facts_of(connection, grant, "profile")
    new = facts_of(connection, grant, "session", session=session)
    profile = merge(before, new, most=MOST_PROFILE)
    put_facts(connection, grant, "profile", profile, at=at, session=session)
    return profile


def add_note(connection: Connection, grant: Grant, *, source: str, at: datetime) -> Fact | None:
    """Keep what a stored message of the owner's asks to have remembered; `None` where it asks nothing.

    Kept under the grant's patient, and then recalled with no other. The oldest of more than 20 goes.

    Raises:
        AccessDenied: the owner has not consented to notes.
        InvalidArgument: the grant names no session.
    """
    require(connection, grant, "notes")
    session = _session(grant)
    messages = messages_of(connection, grant, only=session)
    text = next((one.text for one in messages if one.source == source and one.role == "user"), "")
    found = read_note(text)
    if found is None or found.why:
        return None
    quote = text[found.start : found.end]
    diff = Diff(upsert=(Upsert(category="Work", text=quote, quote=quote, source=source),))
    before = facts_of(connection, grant, "note")[-(MOST_NOTES - 1) :]
    after, _ = apply(before, diff, [Own(source=source, text=text)], categories=("Work",))
    put_facts(connection, grant, "note", after, at=at, session=session)
    return next((fact for fact in after if fact.source == source), None)


def forget(connection: Connection, grant: Grant, ids: Sequence[str]) -> int:
    """Remove facts, profile entries or notes of the owner by their ids; how many rows went."""
    gone = delete(memory_fact).where(owned(memory_fact, grant), memory_fact.c.id.in_(ids))
    return connection.execute(gone).rowcount


def save_summary(connection: Connection, grant: Grant, summary: Summary, *, at: datetime) -> None:
    """Keep the summary of the grant's session, in place of the one before.

    Raises:
        InvalidArgument: the grant names no session.
    """
    session = _session(grant)
    here = (owned(memory_summary, grant), memory_summary.c.session == session)
    connection.execute(delete(memory_summary).where(*here))
    connection.execute(
        insert(memory_summary).values(
            tenant=grant.tenant,
            owner=owner_of(grant),
            session=session,
            patient=patient_of(grant),
            upto=summary.upto,
            at=at,
            body=summaries.dump(summary),
        )
    )


def summary_of(connection: Connection, grant: Grant, *, session: str) -> Summary | None:
    """The owner's summary of a session; `None` where none was made yet."""
    body = connection.execute(
        select(memory_summary.c.body).where(
            owned(memory_summary, grant), memory_summary.c.session == session
        )
    ).scalar()
    return None if body is None else summaries.load(body)


def _session(grant: Grant) -> str:
    if grant.session is None:
        raise InvalidArgument("grant", found="no session", want="of one conversation")
    return str(grant.session)
