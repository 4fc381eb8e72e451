"""The rows of a turn: begin under a lease, finish under its fence, look up by idempotency key.

Nothing here knows what a flow is; `flows.ledger` joins these rows with a flow's state.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from bedside.core.errors import Conflict, NotFound
from bedside.core.ids import TenantId
from bedside.core.value import value
from bedside.storage.conversations import history_of, numbering_of
from bedside.storage.tables.source import source as source_table
from bedside.storage.tables.turn import (
    citation,
    message,
    prompt_part,
    session,
    session_source,
    turn,
    turn_prompt,
)

__all__ = [
    "Begun",
    "Busy",
    "Earlier",
    "NewTurn",
    "begin",
    "fence_holds",
    "finish",
    "owner",
    "recover",
    "renew",
    "stored_result",
]


@value
class NewTurn:
    """What a door asks to begin. `request_sha256` tells one request from another under one key."""

    tenant: TenantId
    turn: str
    session: str
    flow: str
    actor: str
    patient: str | None
    key: str | None
    request_sha256: str
    text: str
    person: str
    as_of: date
    pinned: Mapping[str, str]
    open_to_others: bool = False
    """True where the flow itself decides who takes part; else a session is its actor's alone."""


@value
class Begun:
    """A turn row that is ours. `history` is (role, text), oldest first, this message excluded."""

    turn: str
    session: str
    fence: int
    revision: int
    as_of: date
    pinned: Mapping[str, str]
    numbering: Mapping[tuple[str, int], int]
    history: tuple[tuple[str, str, str], ...]


@value
class Earlier:
    """The key was used before: the turn, its status and its stored result (`None` while open)."""

    turn: str
    status: str
    result: str | None


@value
class Busy:
    """Another turn of this conversation holds the lease until `until`."""

    turn: str
    until: datetime


def owner() -> str:
    """This process, as `host:pid`, so that a dead neighbour's lease need not be waited for."""
    return f"{socket.gethostname()}:{os.getpid()}"


def begin(
    connection: Connection, new: NewTurn, *, now: datetime, lease: timedelta
) -> Begun | Earlier | Busy:
    """Transaction 1: session, lease, turn row, message. Call inside a write transaction.

    A turn under the same key that was cut is taken up again under its own id: one answer a key.

    Raises:
        Conflict: the key belongs to a different request.
        NotFound: the session belongs to another patient, actor or flow.
    """
    if new.key is not None:
        earlier = _earlier(connection, new)
        if earlier is not None and earlier.status == "open":
            earlier = _unless_dead(connection, new.tenant, earlier, now)
        if earlier is not None and earlier.status != "incomplete":
            return earlier
        if earlier is not None:
            new = _again(connection, new, earlier)
    row = connection.execute(
        select(session).where(session.c.tenant == new.tenant, session.c.id == new.session)
    ).first()
    if row is None:
        connection.execute(
            insert(session).values(
                tenant=new.tenant,
                id=new.session,
                flow=new.flow,
                patient=new.patient,
                actor=new.actor,
                as_of=new.as_of,
                pinned=json.dumps(dict(new.pinned), sort_keys=True),
                revision=0,
                fence=0,
                created_at=now,
            )
        )
        as_of, pinned, revision, fence = new.as_of, dict(new.pinned), 0, 0
    else:
        foreign = row.actor != new.actor and not new.open_to_others
        if (row.flow, row.patient) != (new.flow, new.patient) or foreign:
            raise NotFound("session", new.session, hint="Begin a new one for this patient.")
        if row.lease_turn is not None and _alive(row.lease_owner, row.lease_until, now):
            return Busy(turn=row.lease_turn, until=row.lease_until)
        if row.lease_turn is not None:
            _close_cut(connection, new.tenant, row.lease_turn, now)
        as_of, pinned = row.as_of, json.loads(row.pinned)
        revision, fence = row.revision, row.fence
    fence += 1
    connection.execute(
        update(session)
        .where(session.c.tenant == new.tenant, session.c.id == new.session)
        .values(fence=fence, lease_turn=new.turn, lease_owner=owner(), lease_until=now + lease)
    )
    history = history_of(connection, new.tenant, new.session, person=new.person, but=new.turn)
    _put_turn(connection, new, fence=fence, now=now)
    return Begun(
        turn=new.turn,
        session=new.session,
        fence=fence,
        revision=revision,
        as_of=as_of,
        pinned=pinned,
        numbering=numbering_of(connection, new.tenant, new.session),
        history=history,
    )


def _earlier(connection: Connection, new: NewTurn) -> Earlier | None:
    row = connection.execute(
        select(turn).where(
            turn.c.tenant == new.tenant, turn.c.actor == new.actor, turn.c.key == new.key
        )
    ).first()
    if row is None:
        return None
    if row.request_sha256 != new.request_sha256:
        raise Conflict(
            "idempotency key",
            why="it was used for a different request",
            do="Use a new key for a new request.",
        )
    return Earlier(turn=row.id, status=row.status, result=row.result)


def _again(connection: Connection, new: NewTurn, earlier: Earlier) -> NewTurn:
    row = connection.execute(
        select(turn.c.session).where(turn.c.tenant == new.tenant, turn.c.id == earlier.turn)
    ).one()
    return replace(new, turn=earlier.turn, session=row.session)


def _unless_dead(connection: Connection, tenant: str, earlier: Earlier, now: datetime) -> Earlier:
    """The open turn as it is, or closed where nobody works at it any more."""
    held = connection.execute(
        select(session.c.lease_owner, session.c.lease_until)
        .join(turn, (turn.c.tenant == session.c.tenant) & (turn.c.session == session.c.id))
        .where(turn.c.tenant == tenant, turn.c.id == earlier.turn)
        .where(session.c.lease_turn == earlier.turn)
    ).first()
    if held is not None and _alive(held.lease_owner, held.lease_until, now):
        return earlier
    _close_cut(connection, tenant, earlier.turn, now)
    return replace(earlier, status="incomplete")


def _alive(who: str | None, until: datetime | None, now: datetime) -> bool:
    if until is None or until <= now or who is None:
        return False
    host, _, pid = who.rpartition(":")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _close_cut(connection: Connection, tenant: str, turn_id: str, now: datetime) -> None:
    connection.execute(
        update(turn)
        .where(turn.c.tenant == tenant, turn.c.id == turn_id, turn.c.status == "open")
        .values(status="incomplete", ended_at=now)
    )


def _put_turn(connection: Connection, new: NewTurn, *, fence: int, now: datetime) -> None:
    again = connection.execute(
        update(turn)
        .where(turn.c.tenant == new.tenant, turn.c.id == new.turn)
        .values(status="open", fence=fence, started_at=now, ended_at=None)
    )
    if again.rowcount:
        return
    connection.execute(
        insert(turn).values(
            tenant=new.tenant,
            id=new.turn,
            session=new.session,
            flow=new.flow,
            patient=new.patient,
            actor=new.actor,
            key=new.key,
            request_sha256=new.request_sha256,
            status="open",
            fence=fence,
            started_at=now,
        )
    )
    put_message(connection, new=new, role="user", text=new.text, now=now)


def put_message(
    connection: Connection, *, new: NewTurn, role: str, text: str, now: datetime
) -> str:
    """Append a message; its text is a citable revision of kind "message". Returns its source id."""
    ordinal = connection.execute(
        select(func.coalesce(func.max(message.c.ordinal), -1) + 1).where(
            message.c.tenant == new.tenant, message.c.session == new.session
        )
    ).scalar_one()
    source_id = f"msg-{new.session}-{ordinal}"
    connection.execute(
        insert(source_table).values(
            tenant=new.tenant,
            id=source_id,
            revision=1,
            kind="message",
            patient=new.patient,
            session=new.session,
            title=f"{role} message {ordinal + 1}",
            section="",
            dated=now.date(),
            superseded=False,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            media_type="text/plain",
            meta="{}",
            state="ready",
            created_at=now,
        )
    )
    connection.execute(
        insert(message).values(
            tenant=new.tenant,
            session=new.session,
            ordinal=ordinal,
            turn=new.turn,
            person=new.person,
            role=role,
            source=source_id,
            at=now,
        )
    )
    return source_id


def fence_holds(connection: Connection, *, tenant: str, session_id: str, fence: int) -> bool:
    """True while no later turn has taken the conversation."""
    found = connection.execute(
        select(session.c.fence).where(session.c.tenant == tenant, session.c.id == session_id)
    ).scalar()
    return found == fence


def renew(
    connection: Connection, *, tenant: str, session_id: str, fence: int, until: datetime
) -> bool:
    """Hold the conversation until `until`; False where a later turn has taken it."""
    held = connection.execute(
        update(session)
        .where(
            session.c.tenant == tenant,
            session.c.id == session_id,
            session.c.fence == fence,
            session.c.lease_turn.is_not(None),
        )
        .values(lease_until=until)
    )
    return held.rowcount == 1


def finish(
    connection: Connection,
    *,
    new: NewTurn,
    begun: Begun,
    status: str,
    answer: str,
    result: Mapping[str, Any],
    trace: Mapping[str, Any],
    numbering: Mapping[tuple[str, int], int],
    prompts: Sequence[Sequence[tuple[str, str, str]]],
    now: datetime,
    apply: Callable[[Connection], None] | None = None,
    cited: Mapping[tuple[str, int], tuple[str, str, str]] | None = None,
) -> None:
    """Transaction 2: result, answer, citations, numbering, prompts; the lease is given back.

    `prompts` holds, per model call, (role, SHA-256, text) parts in wire order. `cited` are whole
    texts that came from a pack, as (source id, revision) -> (kind, title, text): those that are not
    stored yet are, so that what was cited can be read back after the pack has changed.

    Raises:
        Conflict: a later turn took the conversation, or this one has ended; nothing is written.
    """
    still = connection.execute(
        select(turn.c.status).where(turn.c.tenant == new.tenant, turn.c.id == begun.turn)
    ).scalar()
    if still != "open" or not fence_holds(
        connection, tenant=new.tenant, session_id=new.session, fence=begun.fence
    ):
        raise Conflict(
            "turn",
            why="another process took this conversation over",
            do="Ask again with the same idempotency key.",
        )
    if apply is not None:
        apply(connection)
    for key, text in (cited or {}).items():
        _keep(connection, new.tenant, key, text, now=now)
    connection.execute(
        update(turn)
        .where(turn.c.tenant == new.tenant, turn.c.id == begun.turn)
        .values(
            status=status,
            ended_at=now,
            result=json.dumps(result, ensure_ascii=False),
            trace=json.dumps(trace, ensure_ascii=False),
        )
    )
    if status == "complete" and answer:
        put_message(connection, new=new, role="assistant", text=answer, now=now)
    _put_citations(connection, new.tenant, begun.turn, result)
    for key, n in numbering.items():
        if key not in begun.numbering:
            connection.execute(
                insert(session_source).values(
                    tenant=new.tenant, session=new.session, n=n, source=key[0], revision=key[1]
                )
            )
    _put_prompts(connection, new, begun.turn, prompts)
    connection.execute(
        update(session)
        .where(session.c.tenant == new.tenant, session.c.id == new.session)
        .values(revision=begun.revision + 1, lease_turn=None, lease_owner=None, lease_until=None)
    )


def _keep(
    connection: Connection,
    tenant: str,
    key: tuple[str, int],
    content: tuple[str, str, str],
    *,
    now: datetime,
) -> None:
    kind, title, text = content
    known = connection.execute(
        select(source_table.c.id).where(
            source_table.c.tenant == tenant,
            source_table.c.id == key[0],
            source_table.c.revision == key[1],
        )
    ).first()
    if known is None:
        connection.execute(
            insert(source_table).values(
                tenant=tenant,
                id=key[0],
                revision=key[1],
                kind=kind,
                title=title,
                section="",
                superseded=False,
                text=text,
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                media_type="text/plain",
                meta="{}",
                state="ready",
                created_at=now,
            )
        )


def _put_citations(
    connection: Connection, tenant: str, turn_id: str, result: Mapping[str, Any]
) -> None:
    connection.execute(
        delete(citation).where(citation.c.tenant == tenant, citation.c.turn == turn_id)
    )
    rows = [
        {
            "tenant": tenant,
            "turn": turn_id,
            "ordinal": index,
            "n": cited["n"],
            "source": cited["source"]["id"],
            "revision": cited["source"]["revision"],
            "start": cited["start"],
            "end": cited["end"],
            "answer_start": cited["answer_start"],
            "answer_end": cited["answer_end"],
        }
        for index, cited in enumerate(result.get("citations", ()))
    ]
    if rows:
        connection.execute(insert(citation), rows)


def _put_prompts(
    connection: Connection,
    new: NewTurn,
    turn_id: str,
    prompts: Sequence[Sequence[tuple[str, str, str]]],
) -> None:
    connection.execute(
        delete(turn_prompt).where(turn_prompt.c.tenant == new.tenant, turn_prompt.c.turn == turn_id)
    )
    patient = new.patient or ""
    for call, parts in enumerate(prompts):
        for ordinal, (role, sha256, text) in enumerate(parts):
            known = connection.execute(
                select(prompt_part.c.sha256).where(
                    prompt_part.c.tenant == new.tenant,
                    prompt_part.c.patient == patient,
                    prompt_part.c.sha256 == sha256,
                )
            ).first()
            if known is None:
                connection.execute(
                    insert(prompt_part).values(
                        tenant=new.tenant, patient=patient, sha256=sha256, body=text
                    )
                )
            connection.execute(
                insert(turn_prompt).values(
                    tenant=new.tenant,
                    turn=turn_id,
                    call=call,
                    ordinal=ordinal,
                    role=role,
                    sha256=sha256,
                )
            )


def recover(connection: Connection, *, now: datetime) -> int:
    """Close every open turn whose process is dead or whose lease ran out; return how many."""
    rows = connection.execute(
        select(turn.c.tenant, turn.c.id, turn.c.session).where(turn.c.status == "open")
    ).all()
    closed = 0
    for row in rows:
        held = connection.execute(
            select(session).where(session.c.tenant == row.tenant, session.c.id == row.session)
        ).first()
        if (
            held is not None
            and held.lease_turn == row.id
            and _alive(held.lease_owner, held.lease_until, now)
        ):
            continue
        _close_cut(connection, row.tenant, row.id, now)
        if held is not None and held.lease_turn == row.id:
            connection.execute(
                update(session)
                .where(session.c.tenant == row.tenant, session.c.id == row.session)
                .values(lease_turn=None, lease_owner=None, lease_until=None, fence=held.fence + 1)
            )
        closed += 1
    return closed


def stored_result(connection: Connection, *, tenant: str, turn_id: str) -> Earlier | None:
    """The turn's status and result, whatever its key; `None` where there is no such turn."""
    row = connection.execute(
        select(turn).where(turn.c.tenant == tenant, turn.c.id == turn_id)
    ).first()
    if row is None:
        return None
    return Earlier(turn=row.id, status=row.status, result=row.result)
