"""Observers: flows that look at a finished turn and change the state, and nothing that was said.

An observer opens no turn and holds no lease. It reads the conversation under a grant of its own,
and its changes are reduced on the state as it is when its job ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from bedside.core.clock import Clock
from bedside.core.errors import NotFound
from bedside.core.ids import ActorId, PatientId, PersonId, SessionId, SourceId, TenantId, TurnId
from bedside.core.turn import Citation, Delta, Plan, TurnRequest
from bedside.flows.flow import Flow, Opened
from bedside.flows.ledger import Pinned, message_item
from bedside.flows.states import load_state, reduce_state
from bedside.flows.trace import Trace
from bedside.flows.turn import Services, run_flow
from bedside.storage import access, conversations
from bedside.storage.jobs import Claimed
from bedside.storage.store import Store
from bedside.storage.tables.turn import session as session_table

__all__ = ["observe"]

S = TypeVar("S")


async def observe(
    flow: Flow[S],
    claimed: Claimed,
    *,
    store: Store,
    pinned: Pinned,
    clock: Clock,
    services: Callable[[], Services[S]],
) -> Callable[[Connection], None]:
    """Run the observer that the job names; return the write that ends the job.

    Raises:
        NotFound: the flow has no such observer, or the conversation is gone (erased meanwhile).
    """
    observer = (flow.observers or {}).get(claimed.kind)
    if observer is None:
        raise NotFound("observer", claimed.kind)
    person = claimed.payload.get("person", "")
    opened = await store.write(lambda c: _open(c, flow, claimed, person, pinned, clock))
    request = TurnRequest(
        flow=observer.name,
        text="",
        session=opened.session,
        person=PersonId(person) if person else None,
        patient=opened.grant.patient,
        options=tuple(sorted(claimed.payload.items())),
    )
    trace = Trace(clock)
    view = await run_flow(observer, request, opened, services(), _nowhere, trace)
    changes = observer.changes(view)
    event: dict[str, Any] = {
        "observer": claimed.kind,
        "changes": len(changes),
        "ms": round(trace.ms(), 1),
        "calls": [
            {
                "provider": call.provider,
                "model": call.model,
                "role": call.role,
                "input": call.usage.get("input"),
                "output": call.usage.get("output"),
                "ms": round(call.ms, 1),
                "cost_usd": call.cost_usd,
                "outcome": call.outcome,
            }
            for done in view.done
            for call in done.calls
        ],
    }

    def write(connection: Connection) -> None:
        if not conversations.session_exists(
            connection, tenant=claimed.tenant, session_id=str(opened.session)
        ):
            return  # erased while the observer looked: nothing of it may come back
        if changes:
            reduce_state(flow, connection, claimed.tenant, str(opened.session), person, changes)
        if claimed.turn is not None:
            conversations.append_trace(
                connection, tenant=claimed.tenant, turn_id=claimed.turn, event=event
            )

    return write


async def _nowhere(event: Plan | Delta | Citation) -> None:
    del event


def _open(
    connection: Connection,
    flow: Flow[S],
    claimed: Claimed,
    person: str,
    pinned: Pinned,
    clock: Clock,
) -> Opened[S]:
    row = connection.execute(
        select(session_table).where(
            session_table.c.tenant == claimed.tenant, session_table.c.id == claimed.session
        )
    ).first()
    if row is None:
        raise NotFound("session", claimed.session or "")
    granted = access.grant(
        connection,
        tenant=TenantId(claimed.tenant),
        actor=ActorId(person or row.actor),
        action="read",
        at=clock.now(),
        patient=PatientId(row.patient) if row.patient else None,
        session=SessionId(row.id),
        person=PersonId(person) if person else None,
        purpose=f"{flow.name}:{claimed.kind}",
    )
    history = conversations.history_of(connection, claimed.tenant, row.id, person=person, but="")
    return Opened(
        turn=TurnId(claimed.turn or claimed.id),
        session=SessionId(row.id),
        grant=granted,
        state=load_state(flow, connection, claimed.tenant, row.id, person),
        revision=row.revision,
        history=tuple(message_item(role, text, key) for role, text, key in history),
        numbering={
            (SourceId(source), revision): n
            for (source, revision), n in conversations.numbering_of(
                connection, claimed.tenant, row.id
            ).items()
        },
        now=clock.now(),
        as_of=row.as_of,
        pinned={**dict(conversations.pinned_of(row.pinned)), **pinned.live},
        can=pinned.can,
        count=pinned.count,
        data=pinned.data,
        minimum=pinned.minimum,
        windows=pinned.windows,
        margin=pinned.margin,
    )
