"""The rows of durable work: written by a commit, claimed under a lease, ended under a fence.

`attempts` is the fence: whoever claims a job raises it, and only that claim may end the job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, func, insert, or_, select, update

from bedside.core.errors import Conflict
from bedside.core.value import value
from bedside.storage.tables.jobs import job
from bedside.storage.turns import owner

__all__ = ["Claimed", "NewJob", "claim", "counts", "end", "fail", "give_back", "put"]

MOST_ATTEMPTS = 3
BACK_OFF = (timedelta(seconds=5), timedelta(seconds=60))
"""How long a job rests after its first and its second failure."""


@value
class NewJob:
    """Work to write down. `payload` holds ids and small numbers, never content."""

    tenant: str
    id: str
    kind: str
    payload: Mapping[str, str]
    patient: str | None = None
    session: str | None = None
    turn: str | None = None


@value
class Claimed:
    """A job that is ours until `until`. `attempt` counts from 1."""

    tenant: str
    id: str
    kind: str
    payload: Mapping[str, str]
    patient: str | None
    session: str | None
    turn: str | None
    attempt: int
    until: datetime


def put(connection: Connection, jobs: Sequence[NewJob], *, now: datetime) -> None:
    """Write jobs; call inside the transaction that makes them necessary."""
    for one in jobs:
        connection.execute(
            insert(job).values(
                tenant=one.tenant,
                id=one.id,
                kind=one.kind,
                patient=one.patient,
                session=one.session,
                turn=one.turn,
                payload=json.dumps(dict(one.payload), sort_keys=True),
                state="queued",
                attempts=0,
                run_after=now,
                created_at=now,
            )
        )


def claim(
    connection: Connection,
    *,
    now: datetime,
    lease: timedelta,
    leases: Mapping[str, timedelta] | None = None,
    kinds: Sequence[str] | None = None,
    turn: str | None = None,
    limit: int = 1,
) -> tuple[Claimed, ...]:
    """Take up to `limit` jobs that are due, oldest first; those of one turn where it is named.

    `lease` is how long they are ours; `leases` names the kinds that have one of their own.

    A running job whose lease ran out is due again: its worker died. One that did so three times is
    closed as failed, so that a job that kills its worker ends.
    """
    due = or_(
        (job.c.state == "queued") & (job.c.run_after <= now),
        (job.c.state == "running") & (job.c.lease_until <= now),
    )
    query = select(job).where(due).order_by(job.c.created_at, job.c.id).limit(limit)
    if kinds is not None:
        query = query.where(job.c.kind.in_(list(kinds)))
    if turn is not None:
        query = query.where(job.c.turn == turn)
    taken: list[Claimed] = []
    for row in connection.execute(query).all():
        if row.attempts >= MOST_ATTEMPTS:
            _close(connection, row, state="failed", error=row.error or "WorkerDied", now=now)
            continue
        until = now + (leases or {}).get(row.kind, lease)
        connection.execute(
            update(job)
            .where(job.c.tenant == row.tenant, job.c.id == row.id)
            .values(
                state="running",
                attempts=row.attempts + 1,
                owner=owner(),
                lease_until=until,
            )
        )
        taken.append(
            Claimed(
                tenant=row.tenant,
                id=row.id,
                kind=row.kind,
                payload=json.loads(row.payload),
                patient=row.patient,
                session=row.session,
                turn=row.turn,
                attempt=row.attempts + 1,
                until=until,
            )
        )
    return tuple(taken)


def end(
    connection: Connection,
    claimed: Claimed,
    *,
    now: datetime,
    apply: Callable[[Connection], None] | None = None,
) -> None:
    """Write the job's outcome and close it, both or neither.

    Raises:
        Conflict: the lease ran out and another process took the job; nothing is written.
    """
    row = _ours(connection, claimed)
    if apply is not None:
        apply(connection)
    _close(connection, row, state="done", error=None, now=now)


def fail(
    connection: Connection, claimed: Claimed, *, error: str, now: datetime, final: bool = False
) -> bool:
    """Note a failure by its type; True where the job will be tried again.

    Raises:
        Conflict: another process took the job.
    """
    row = _ours(connection, claimed)
    if final or row.attempts >= MOST_ATTEMPTS:
        _close(connection, row, state="failed", error=error, now=now)
        return False
    connection.execute(
        update(job)
        .where(job.c.tenant == row.tenant, job.c.id == row.id)
        .values(
            state="queued",
            error=error,
            owner=None,
            lease_until=None,
            run_after=now + BACK_OFF[row.attempts - 1],
        )
    )
    return True


def give_back(connection: Connection, claimed: Claimed, *, now: datetime) -> None:
    """Put a job back that was stopped and did not fail: due at once, and no attempt counted.

    Raises:
        Conflict: another process took the job.
    """
    row = _ours(connection, claimed)
    connection.execute(
        update(job)
        .where(job.c.tenant == row.tenant, job.c.id == row.id)
        .values(
            state="queued",
            attempts=row.attempts - 1,
            owner=None,
            lease_until=None,
            run_after=now,
        )
    )


def counts(connection: Connection) -> dict[str, int]:
    """How many jobs stand in each state."""
    rows = connection.execute(select(job.c.state, func.count()).group_by(job.c.state))
    return {row[0]: row[1] for row in rows}


def _ours(connection: Connection, claimed: Claimed) -> Row[tuple[object, ...]]:
    row = connection.execute(
        select(job).where(job.c.tenant == claimed.tenant, job.c.id == claimed.id)
    ).first()
    if row is None or row.state != "running" or row.attempts != claimed.attempt:
        raise Conflict(
            "job", why="another process took it over", do="Nothing is lost: it runs there."
        )
    return row


def _close(
    connection: Connection,
    row: Row[tuple[object, ...]],
    *,
    state: str,
    error: str | None,
    now: datetime,
) -> None:
    connection.execute(
        update(job)
        .where(job.c.tenant == row.tenant, job.c.id == row.id)
        .values(state=state, error=error, owner=None, lease_until=None, ended_at=now)
    )
