"""Writes that wait for each other share a commit, and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, insert, select, text

from bedside.core.errors import Conflict, NotFound, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage import access
from bedside.storage.batch import MOST
from bedside.storage.store import Store
from bedside.storage.tables.jobs import meta
from bedside.storage.tables.source import chunk

TENANT = TenantId("t")


@contextmanager
def commits_of(store: Store) -> Iterator[list[int]]:
    """How many transactions were committed inside."""
    counted: list[int] = []

    def count(_connection: object) -> None:
        counted.append(1)

    event.listen(store.engine, "commit", count)
    yield counted
    event.remove(store.engine, "commit", count)


async def all_at_once(store: Store, *writes: Callable[[Connection], Any]) -> list[Any]:
    """Their outcomes, where all came while another write was under way."""
    begun, free = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        begun.set()
        assert free.wait(10)

    first = asyncio.ensure_future(store.write(hold))
    await asyncio.to_thread(begun.wait, 10)
    waiting = [asyncio.ensure_future(store.write(one)) for one in writes]
    await asyncio.sleep(0)
    free.set()
    await first
    return await asyncio.gather(*waiting, return_exceptions=True)


def put(key: str) -> Callable[[Connection], str]:
    def write(connection: Connection) -> str:
        connection.execute(insert(meta).values(key=key, value="v"))
        return key

    return write


def keys(store: Store) -> list[str]:
    return list(
        store.read_now(lambda c: c.execute(select(meta.c.key).order_by(meta.c.key)).scalars())
    )


@pytest.mark.anyio
async def test_what_waits_shares_a_commit_and_each_gets_its_own_result(store: Store) -> None:
    names = [f"k{n:02}" for n in range(MOST)]
    with commits_of(store) as commits:
        found = await all_at_once(store, *(put(name) for name in names))
    assert found == names
    assert keys(store) == names
    assert len(commits) == 2  # the one that was under way, and theirs


@pytest.mark.anyio
async def test_no_more_than_a_bound_are_written_under_one_lock(store: Store) -> None:
    with commits_of(store) as commits:
        await all_at_once(store, *(put(f"k{n}") for n in range(2 * MOST + 1)))
    assert len(commits) == 1 + 3


@pytest.mark.anyio
async def test_one_that_fails_is_undone_alone_and_tells_its_own_caller(store: Store) -> None:
    def half(connection: Connection) -> None:
        put("half")(connection)
        raise KeyError("x")

    found = await all_at_once(store, put("a"), half, put("a"), put("b"))
    assert found[0] == "a"
    assert isinstance(found[1], KeyError)
    assert isinstance(found[2], Conflict)  # the key is taken
    assert found[3] == "b"
    assert keys(store) == ["a", "b"]


@pytest.mark.anyio
async def test_nobody_is_told_of_a_result_that_the_disk_did_not_take(store: Store) -> None:
    """A row whose parent is missing fails no statement here, but the commit."""

    def orphan(connection: Connection) -> None:
        connection.execute(text("PRAGMA defer_foreign_keys=ON"))
        connection.execute(
            insert(chunk).values(
                tenant="t", id="c", source="none", revision=1, ordinal=0, total=1, start=0, end=1
            )
        )

    found = await all_at_once(store, put("a"), orphan, put("b"))
    assert [type(one) for one in found] == [Conflict] * 3
    assert keys(store) == []
    assert (
        store.read_now(lambda c: c.execute(select(func.count()).select_from(chunk)).scalar()) == 0
    )


@pytest.mark.anyio
async def test_whoever_leaves_before_its_turn_is_not_written(store: Store) -> None:
    begun, free = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        begun.set()
        assert free.wait(10)

    first = asyncio.ensure_future(store.write(hold))
    await asyncio.to_thread(begun.wait, 10)
    gone, stays = (asyncio.ensure_future(store.write(put(name))) for name in ("gone", "stays"))
    await asyncio.sleep(0)
    gone.cancel()
    free.set()
    assert await stays == "stays"
    await first
    assert keys(store) == ["stays"]


@pytest.mark.anyio
@pytest.mark.requirement("RELIABILITY-18")
async def test_each_access_of_a_crowd_has_its_entry_and_the_chain_holds(
    store: Store, clock
) -> None:
    def note(n: int) -> Callable[[Connection], int]:
        return lambda connection: access.note(
            connection,
            tenant=TENANT,
            actor=ActorId(f"dr-{n}"),
            action="read",
            at=clock.now(),
            patient=PatientId(f"p-{n}"),
        )

    found = await all_at_once(store, *(note(n) for n in range(50)))
    assert found == list(range(1, 51))
    kept = store.read_now(lambda c: list(access.entries(c, tenant=TENANT)))
    assert [(one.seq, one.actor, one.patient) for one in kept] == [
        (n + 1, f"dr-{n}", f"p-{n}") for n in range(50)
    ]
    assert store.read_now(lambda c: access.verify(c, tenant=TENANT)).ok


@pytest.mark.anyio
async def test_a_failure_that_takes_the_transaction_with_it_tells_its_words_to_its_caller_alone(
    store: Store,
) -> None:
    """What it says may name another's patient."""

    def fall(connection: Connection) -> None:
        connection.connection.driver_connection.execute("ROLLBACK")  # as SQLite does on a full disk
        raise NotFound("patient", "p-17")

    found = await all_at_once(store, put("a"), fall, put("b"))
    assert [type(one) for one in found] == [Unavailable, NotFound, Unavailable]
    assert "p-17" not in f"{found[0]} {found[2]}"
    assert keys(store) == []
    assert await store.write(put("c")) == "c"


@pytest.mark.anyio
async def test_a_write_that_runs_out_of_items_keeps_nobody_waiting(store: Store) -> None:
    def ended(_connection: Connection) -> object:
        return next(iter(()))

    found = await asyncio.wait_for(all_at_once(store, put("a"), ended, put("b")), 10)
    assert (found[0], type(found[1]), found[2]) == ("a", RuntimeError, "b")


@pytest.mark.anyio
async def test_a_closed_store_refuses_every_write_and_keeps_none_waiting(store: Store) -> None:
    store.close()
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await asyncio.wait_for(store.write(put("late")), 10)
