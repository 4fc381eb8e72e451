"""Reading back: sources, turns, prompts, traces, the audit trail. Every read writes its audit row."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, and_, insert, or_, select, update

from bedside import __version__
from bedside.core.clock import Clock
from bedside.core.errors import BadInput, Conflict, InvalidArgument, NotFound
from bedside.core.ids import PatientId
from bedside.flows.result import unanswered_body
from bedside.knowledge.search import SHARED_TENANT
from bedside.storage import access
from bedside.storage.tables.source import chunk, source
from bedside.storage.tables.turn import (
    message,
    prompt_part,
    report,
    session,
    turn,
    turn_prompt,
)
from bedside.wiring.ask import Who
from bedside.wiring.flows import flow_named

__all__ = [
    "DECIDED",
    "audit_entries",
    "note_access",
    "put_report",
    "put_review",
    "read_knowledge",
    "read_prompt",
    "read_reports",
    "read_source",
    "read_trace",
    "read_turn",
    "read_turns_of",
]

DECIDED = "decided"
"""The state of a row of `report` that is a decision about an option, and stands in no inbox."""


def read_source(
    connection: Connection,
    *,
    who: Who,
    source_id: str,
    start: int | None,
    end: int | None,
    revision: int | None,
    clock: Clock,
) -> dict[str, Any]:
    """Stored text of one revision (the newest where none is named).

    Raises:
        NotFound: no such source in the caller's scope.
        InvalidArgument: a span outside the text.
    """
    query = (
        select(source)
        .where(
            or_(
                source.c.tenant == who.tenant,
                and_(source.c.tenant == SHARED_TENANT, source.c.patient.is_(None)),
            ),
            source.c.id == source_id,
        )
        .order_by(source.c.revision.desc())
    )
    if revision is not None:
        # A number that no column holds is no revision: there is no such source.
        query = query.where(source.c.revision == max(-1, min(revision, 2**31 - 1)))
    row = connection.execute(query).first()
    writer, said_in = _writer(connection, who.tenant, source_id) if row is not None else (None, "")
    if row is None or not _may_read(
        connection, who, row.patient, session_id=row.session, writer=writer, turn_id=said_in
    ):
        raise NotFound("source", source_id)
    if row.patient is not None or row.session is not None:
        note_access(connection, who=who, purpose="source", clock=clock, patient=row.patient)
    first, last = start or 0, len(row.text) if end is None else end
    if not 0 <= first <= last <= len(row.text):
        raise InvalidArgument(
            "start, end",
            found=(first, last),
            want=f"a span inside the text's {len(row.text)} characters",
        )
    return {
        "id": row.id,
        "revision": row.revision,
        "kind": row.kind,
        "title": row.title,
        "section": row.section,
        "date": row.dated.isoformat() if row.dated else None,
        "superseded": row.superseded,
        "start": first,
        "end": last,
        "length": len(row.text),
        "text": row.text[first:last],
    }


def _turn_row(connection: Connection, who: Who, turn_id: str) -> Row[Any]:
    row = connection.execute(
        select(turn).where(turn.c.tenant == who.tenant, turn.c.id == turn_id)
    ).first()
    if row is None or not _may_read(
        connection, who, row.patient, session_id=row.session, writer=row.actor, turn_id=row.id
    ):
        raise NotFound("turn", turn_id)
    return row


def _may_read(
    connection: Connection,
    who: Who,
    patient: str | None,
    *,
    session_id: str | None,
    writer: str | None = None,
    turn_id: str = "",
) -> bool:
    """May the caller read this? One who is bound to patients reads theirs alone.

    A conversation about no patient may still hold anything: it is shown to its actor, and to
    safety officers who are not bound. `writer` is the actor whose private part of a conversation
    this is: in one of two people, neither reads the other's, and no role does. A report by the writer
    opens its turn (`turn_id`) to safety officers.
    """
    if session_id is not None and _is_private(connection, who.tenant, session_id):
        if writer is not None and writer == who.actor:
            return True
        officer = who.patients is None and "safety" in who.roles
        return officer and _reported(connection, who.tenant, turn_id, writer)
    if patient is not None:
        return who.sees(patient)
    if session_id is None:
        return True  # shared knowledge
    if who.patients is None and "safety" in who.roles:
        return True
    if writer is None:
        writer = connection.execute(
            select(session.c.actor).where(
                session.c.tenant == who.tenant, session.c.id == session_id
            )
        ).scalar()
    return writer == who.actor


def _is_private(connection: Connection, tenant: str, session_id: str) -> bool:
    """Has this conversation's flow a part that is one person's own? Where nobody knows, it has."""
    name = connection.execute(
        select(session.c.flow).where(session.c.tenant == tenant, session.c.id == session_id)
    ).scalar()
    if name is None:
        return False
    try:
        return flow_named(name).private
    except (NotFound, Conflict):
        return True


def _reported(connection: Connection, tenant: str, turn_id: str, writer: str | None) -> bool:
    """Did the writer of this turn report it?"""
    query = select(report.c.id).where(
        report.c.tenant == tenant,
        report.c.turn == turn_id,
        report.c.by == writer,
        report.c.state != DECIDED,
    )
    return connection.execute(query).first() is not None


def _writer(connection: Connection, tenant: str, source_id: str) -> tuple[str | None, str]:
    """(whose private message this source is, `None` where a session shares it; the turn it is of)."""
    row = connection.execute(
        select(message.c.person, message.c.turn).where(
            message.c.tenant == tenant, message.c.source == source_id
        )
    ).first()
    return (row.person or None, row.turn) if row is not None else (None, "")


def read_turn(connection: Connection, *, who: Who, turn_id: str, clock: Clock) -> dict[str, Any]:
    """The turn as it was answered, with its review state and the turn before it.

    Raises:
        NotFound: no such turn in the caller's scope.
    """
    row = _turn_row(connection, who, turn_id)
    if row.patient is not None:
        note_access(connection, who=who, patient=row.patient, purpose="turn", clock=clock)
    body: dict[str, Any] = (
        json.loads(row.result)
        if row.result
        else unanswered_body(
            turn=row.id,
            session=row.session,
            flow=row.flow,
            status="incomplete",
            why="it is still running" if row.status == "open" else "its process ended",
            version=__version__,
        )
    )
    body["review"] = {
        "state": row.review,
        "by": row.review_by,
        "at": row.review_at.isoformat() if row.review_at else None,
    }
    body["patient"] = row.patient
    body["previous_turn"] = connection.execute(
        select(turn.c.id)
        .where(
            turn.c.tenant == who.tenant,
            turn.c.session == row.session,
            turn.c.started_at < row.started_at,
        )
        .order_by(turn.c.started_at.desc())
        .limit(1)
    ).scalar()
    return body


def read_turns_of(
    connection: Connection, *, who: Who, patient: str, clock: Clock
) -> list[dict[str, Any]]:
    """The patient's turns, newest first, without their texts."""
    note_access(connection, who=who, purpose="turns", clock=clock, action="list", patient=patient)
    rows = connection.execute(
        select(turn)
        .where(turn.c.tenant == who.tenant, turn.c.patient == patient)
        .order_by(turn.c.started_at.desc())
        .limit(200)
    )
    return [
        {
            "turn_id": row.id,
            "flow": row.flow,
            "session_id": row.session,
            "status": row.status,
            "at": row.started_at.isoformat(),
            "review": row.review,
        }
        for row in rows
    ]


def read_prompt(
    connection: Connection, *, who: Who, turn_id: str, clock: Clock
) -> list[dict[str, Any]]:
    """The prompt byte for byte, parts in wire order."""
    row = _turn_row(connection, who, turn_id)
    if row.patient is not None:
        note_access(connection, who=who, purpose="prompt", clock=clock, patient=row.patient)
    parts = connection.execute(
        select(turn_prompt, prompt_part.c.body)
        .join(
            prompt_part,
            and_(
                prompt_part.c.tenant == turn_prompt.c.tenant,
                prompt_part.c.sha256 == turn_prompt.c.sha256,
                prompt_part.c.patient == (row.patient or ""),
            ),
        )
        .where(turn_prompt.c.tenant == who.tenant, turn_prompt.c.turn == turn_id)
        .order_by(turn_prompt.c.call, turn_prompt.c.ordinal)
    )
    return [
        {"call": part.call, "role": part.role, "sha256": part.sha256, "content": part.body}
        for part in parts
    ]


def read_trace(
    connection: Connection, *, who: Who, turn_id: str, clock: Clock | None
) -> dict[str, Any]:
    """What happened, in order. Only public fields are kept, so it may be exported.

    Args:
        connection: A write transaction, for the audit row.
        who: The caller.
        turn_id: The turn.
        clock: `None` where the caller audits the reading as a part of its own.

    Raises:
        NotFound: no such turn in the caller's scope.
    """
    row = _turn_row(connection, who, turn_id)
    if clock is not None and row.patient is not None:
        note_access(connection, who=who, patient=row.patient, purpose="trace", clock=clock)
    return json.loads(row.trace) if row.trace else {"events": []}


def note_access(
    connection: Connection,
    *,
    who: Who,
    purpose: str,
    clock: Clock,
    action: access.Action = "read",
    patient: str | None = None,
) -> None:
    """Write the audit row of one access; `patient` is `None` where it concerns none by name."""
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action=action,
        at=clock.now(),
        patient=PatientId(patient) if patient else None,
        purpose=purpose,
    )


def read_knowledge(connection: Connection, *, who: Who) -> list[dict[str, Any]]:
    """The tenant's knowledge documents by title, newest edition first."""
    from sqlalchemy import func

    counts = (
        select(chunk.c.source, chunk.c.revision, func.count().label("n"))
        .where(chunk.c.tenant == who.tenant, chunk.c.patient.is_(None))
        .group_by(chunk.c.source, chunk.c.revision)
        .subquery()
    )
    rows = connection.execute(
        select(
            source.c.id,
            source.c.revision,
            source.c.title,
            source.c.dated,
            source.c.superseded,
            source.c.state,
            source.c.meta,
            counts.c.n,
        )
        .outerjoin(
            counts, and_(counts.c.source == source.c.id, counts.c.revision == source.c.revision)
        )
        .where(
            source.c.tenant == who.tenant,
            source.c.kind == "guideline",
            source.c.patient.is_(None),
            source.c.id.not_like("pack:%"),  # a cited rule of a table that ships, no document
        )
        .order_by(source.c.title, source.c.dated.desc())
    )
    return [
        {
            "document_id": row.id,
            "revision": row.revision,
            "title": row.title,
            "date": row.dated.isoformat() if row.dated else None,
            "superseded": row.superseded,
            "index": row.state,
            "chunks": row.n or 0,
            "specialty": json.loads(row.meta or "{}").get("specialty"),
        }
        for row in rows
    ]


def put_review(
    connection: Connection, *, who: Who, turn_id: str, state: str, clock: Clock
) -> dict[str, Any]:
    """Record a clinician's decision.

    Raises:
        BadInput: the turn has no answer to decide about.
    """
    row = _turn_row(connection, who, turn_id)
    if row.status != "complete":
        raise BadInput(f"turn {turn_id}", why="it has no complete answer", do="Ask again.")
    note_access(
        connection, who=who, purpose=state, clock=clock, action="review", patient=row.patient
    )
    at = clock.now()
    connection.execute(
        update(turn)
        .where(turn.c.tenant == who.tenant, turn.c.id == turn_id)
        .values(review=state, review_by=who.actor, review_at=at)
    )
    return {"state": state, "by": who.actor, "at": at.isoformat()}


def put_report(
    connection: Connection,
    *,
    who: Who,
    turn_id: str,
    report_id: str,
    target: str,
    kind: str,
    note: str,
    clock: Clock,
) -> dict[str, Any]:
    """File a report; it stands in the safety inbox with the turn's trace."""
    row = _turn_row(connection, who, turn_id)
    note_access(
        connection, who=who, purpose=kind, clock=clock, action="report", patient=row.patient
    )
    at = clock.now()
    connection.execute(
        insert(report).values(
            tenant=who.tenant,
            id=report_id,
            turn=turn_id,
            patient=row.patient,
            target=target,
            kind=kind,
            note=note,
            by=who.actor,
            at=at,
            state="open",
        )
    )
    return {"id": report_id, "turn": turn_id, "state": "open", "at": at.isoformat()}


def read_reports(connection: Connection, *, who: Who, clock: Clock) -> list[dict[str, Any]]:
    """The safety inbox, newest first. Notes may speak of patients, so the reading is noted."""
    note_access(connection, who=who, purpose="reports", clock=clock, action="list")
    rows = connection.execute(
        select(report, turn.c.session, turn.c.actor)
        .outerjoin(turn, and_(turn.c.tenant == report.c.tenant, turn.c.id == report.c.turn))
        .where(report.c.tenant == who.tenant, report.c.state != DECIDED)
        .order_by(report.c.at.desc())
    ).all()
    return [
        {
            "id": row.id,
            "turn": row.turn,
            "target": row.target,
            "kind": row.kind,
            "note": row.note,
            "by": row.by,
            "at": row.at.isoformat(),
            "state": row.state,
        }
        for row in rows
        if _may_read(
            connection, who, row.patient, session_id=row.session, writer=row.actor, turn_id=row.turn
        )
    ]


def audit_entries(connection: Connection, *, who: Who, patient: str | None) -> list[dict[str, Any]]:
    """The trail in order."""
    return [
        {
            "seq": item.seq,
            "at": item.at.isoformat(),
            "actor": item.actor,
            "action": item.action,
            "patient": item.patient,
            "session": item.session,
            "purpose": item.purpose,
            "previous": item.previous,
            "hash": item.hash,
        }
        for item in access.entries(
            connection, tenant=who.tenant, patient=PatientId(patient) if patient else None
        )
        if who.patients is None or item.patient is None or item.patient in who.patients
    ]
