"""What the models of one conversation cost: its turns' calls, and those of the jobs after them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.clock import Clock
from bedside.core.errors import NotFound
from bedside.storage.tables.turn import turn
from bedside.wiring.ask import Who
from bedside.wiring.engine import Engine
from bedside.wiring.reading import note_access, read_trace

__all__ = ["cost_of"]


async def cost_of(engine: Engine, who: Who, session: str) -> dict[str, Any]:
    """The cost of a case: a conversation's turns that the caller may read, jobs included.

    `cost_usd` is `None` where the cost of any call is unknown (then `known_usd` is the sum of the
    others), and 0 where no model was called. `calls` and `by_model` count failed calls too.

    Raises:
        NotFound: no turn of such a conversation is in the caller's scope.
    """
    return await engine.store.write(lambda c: _cost(c, who, session, engine.clock))


def _cost(connection: Connection, who: Who, session: str, clock: Clock) -> dict[str, Any]:
    rows = connection.execute(
        select(turn.c.id, turn.c.result, turn.c.patient)
        .where(turn.c.tenant == who.tenant, turn.c.session == session)
        .order_by(turn.c.started_at)
    ).all()
    turns, running, calls = 0, 0, list[dict[str, Any]]()
    patients = set[str]()
    for row in rows:
        try:
            trace = read_trace(connection, who=who, turn_id=row.id, clock=None)
        except NotFound:
            continue
        turns += 1
        patients |= {row.patient} - {None}
        running += row.result is None
        calls += json.loads(row.result)["calls"] if row.result else []
        calls += [call for event in trace.get("observers", ()) for call in event["calls"]]
    if not turns:
        raise NotFound("session", session)
    for patient in sorted(patients):
        note_access(connection, who=who, patient=patient, purpose="cost", clock=clock)
    by_model: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        by_model.setdefault(f"{call['provider']}:{call['model']}", []).append(call)
    unknown = running or any(call["cost_usd"] is None for call in calls)
    return {
        "session_id": session,
        "turns": turns,
        "calls": len(calls),
        "cost_usd": None if unknown else _sum(calls),
        "known_usd": _sum(calls),
        "by_model": [
            {
                "model": model,
                "calls": len(those),
                "input": sum(call["input"] or 0 for call in those),
                "output": sum(call["output"] or 0 for call in those),
                "known_usd": _sum(those),
            }
            for model, those in by_model.items()
        ],
    }


def _sum(calls: list[dict[str, Any]]) -> float:
    return float(sum(Decimal(str(call["cost_usd"] or 0)) for call in calls))
