"""What a clinician decided about single options and flags of a briefing; kept beside the reports.

A decision orders nothing and files nothing: it says who saw an option and what they made of it. The
newest one of a target stands; older ones stay in the store.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, insert, select

from bedside.core.clock import Clock
from bedside.core.errors import BadInput, NotFound
from bedside.core.ids import PatientId
from bedside.storage import access
from bedside.storage.tables.turn import report, turn
from bedside.wiring.ask import Who
from bedside.wiring.reading import DECIDED, read_turn

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["Decided", "decide", "decisions"]

Decided = Literal["accepted", "edited", "dismissed"]
_FIELDS = {"action": "suggested_actions", "flag": "flags"}


async def decide(
    engine: Engine,
    who: Who,
    *,
    turn_id: str,
    target: str,
    state: Decided,
    text: str = "",
    reason: str = "",
) -> dict[str, Any]:
    """Note a decision about one option (`action:0`) or flag (`flag:0`) of a briefing.

    Args:
        engine: The engine.
        who: Who decides; the role clinician is needed.
        turn_id: The briefing's turn.
        target: `action:<i>` or `flag:<i>`, from 0, as the turn lists them.
        state: What was decided.
        text: The words after editing; needed for `edited`.
        reason: Why; needed for `dismissed`.

    Raises:
        NotFound: no such turn in the caller's scope, or no such option in it.
        BadInput: no words after editing, no reason, or an incomplete turn.
    """
    engine.needs_role(who, "clinician")
    note = {"accepted": "", "edited": text, "dismissed": reason}[state].strip()
    if state != "accepted" and not note:
        want = "its words" if state == "edited" else "a reason"
        raise BadInput(target, why=f"{state} without {want}", do=f"Give {want}.")
    return await engine.store.write(
        lambda c: _put(
            c, who, turn_id=turn_id, target=target, state=state, note=note, clock=engine.clock
        )
    )


def _put(
    connection: Connection,
    who: Who,
    *,
    turn_id: str,
    target: str,
    state: Decided,
    note: str,
    clock: Clock,
) -> dict[str, Any]:
    body = read_turn(connection, who=who, turn_id=turn_id, clock=clock)
    if body["status"] != "complete":
        raise BadInput(f"turn {turn_id}", why="it has no complete answer", do="Brief again.")
    kind, _, place = target.partition(":")
    listed = (body.get("briefing") or {}).get(_FIELDS.get(kind, ""), ())
    if not place.isdigit() or int(place) >= len(listed):
        raise NotFound("option of this briefing", target)
    owner = connection.execute(
        select(turn.c.patient).where(turn.c.tenant == who.tenant, turn.c.id == turn_id)
    ).scalar()
    at = clock.now()
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="review",
        at=at,
        patient=PatientId(owner) if owner else None,
        purpose=f"{kind} {state}",
    )
    connection.execute(
        insert(report).values(
            tenant=who.tenant,
            id=f"decision-{uuid.uuid4().hex[:20]}",
            turn=turn_id,
            patient=owner,
            target=target,
            kind=state,
            note=note,
            by=who.actor,
            at=at,
            state=DECIDED,
        )
    )
    return _shape(target, state, note, who.actor, at.isoformat())


async def decisions(engine: Engine, who: Who, *, turn_id: str) -> list[dict[str, Any]]:
    """The decision that stands for each target of a turn, in the order in which they were made.

    Raises:
        NotFound: no such turn in the caller's scope.
    """

    def read(connection: Connection) -> list[dict[str, Any]]:
        read_turn(connection, who=who, turn_id=turn_id, clock=engine.clock)
        rows = connection.execute(
            select(report)
            .where(
                report.c.tenant == who.tenant,
                report.c.turn == turn_id,
                report.c.state == DECIDED,
            )
            .order_by(report.c.at)
        )
        stands = {
            row.target: _shape(row.target, row.kind, row.note, row.by, row.at.isoformat())
            for row in rows
        }
        return list(stands.values())

    return await engine.store.write(read)


def _shape(target: str, state: str, note: str, by: str, at: str) -> dict[str, Any]:
    return {
        "target": target,
        "state": state,
        "text": note if state == "edited" else None,
        "reason": note if state == "dismissed" else None,
        "by": by,
        "at": at,
    }
