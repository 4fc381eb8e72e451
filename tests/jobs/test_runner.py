"""A runner ends what it can, tries again what failed, and survives what breaks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bedside.core.errors import NotFound, Unavailable
from bedside.jobs.runner import Runner
from bedside.storage import jobs
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()


@pytest.fixture
def store(tmp_path):
    made = Store(open_engine(sqlite_url(tmp_path)))
    migrate(made)
    yield made
    made.close()


def put(store: Store, *names: str, turn: str | None = None) -> None:
    rows = [
        jobs.NewJob(tenant="t", id=f"job-{i}-{name}", kind=name, payload={}, turn=turn)
        for i, name in enumerate(names)
    ]
    store.write_now(lambda c: jobs.put(c, rows, now=NOW))


def states(store: Store) -> dict[str, int]:
    return store.read_now(jobs.counts)


def test_one_job_that_breaks_does_not_end_the_worker(store) -> None:
    done: list[str] = []

    async def good(job):
        done.append(job.id)

    async def bad(job):
        raise ZeroDivisionError

    async def gone(job):
        raise NotFound("session", "s")

    async def down(job):
        raise Unavailable("the model", why="it does not answer")

    put(store, "bad", "gone", "down", "good")
    runner = Runner(
        store, clock=Clock(), handlers={"bad": bad, "gone": gone, "down": down, "good": good}
    )
    assert asyncio.run(runner.run_waiting()) == 1
    assert done == ["job-3-good"]
    # what is gone stays gone; the others rest and are tried again
    assert states(store) == {"done": 1, "failed": 1, "queued": 2}


def test_a_turns_jobs_get_their_seconds_and_no_more(store) -> None:
    async def slow(job):
        await asyncio.sleep(60)

    async def quick(job):
        return None

    put(store, "slow", "quick", turn="turn-1")
    put(store, "other", turn="turn-2")
    runner = Runner(store, clock=Clock(), handlers={"slow": slow, "quick": quick, "other": quick})
    assert asyncio.run(runner.run_turn("turn-1", seconds=0.2)) == 1
    assert states(store) == {"done": 1, "queued": 2}
    (late,) = store.write_now(
        lambda c: jobs.claim(c, now=NOW, lease=timedelta(seconds=9), kinds=("slow",))
    )
    assert late.attempt == 1  # it was stopped, it did not fail


def test_a_job_over_its_limit_is_tried_again_later(store) -> None:
    tried: list[int] = []
    clock = Clock()

    async def slow_once(job):
        tried.append(job.attempt)
        if job.attempt == 1:
            await asyncio.sleep(60)

    put(store, "slow")
    runner = Runner(store, clock=clock, handlers={"slow": slow_once}, seconds={"slow": 0.1})
    asyncio.run(runner.run_waiting())
    clock.at += timedelta(seconds=5)
    asyncio.run(runner.run_waiting())
    assert tried == [1, 2]
    assert states(store) == {"done": 1}


def test_a_long_reading_holds_no_other_job_up(store) -> None:
    began = asyncio.Event()
    answered = asyncio.Event()
    order: list[str] = []

    async def reading(job):
        began.set()
        await asyncio.wait_for(answered.wait(), 20)  # ends only when the other has been done
        order.append(job.kind)

    async def noting(job):
        order.append(job.kind)
        answered.set()

    async def main() -> int:
        runner = Runner(
            store,
            clock=Clock(),
            handlers={"reading": reading, "noting": noting},
            hands=2,
            slow=("reading",),
        )
        work = asyncio.create_task(runner.run_waiting(look=0.01))
        await began.wait()
        put(store, "noting")  # comes while the reading runs
        return await work

    put(store, "reading")
    assert asyncio.run(main()) == 2
    assert order == ["noting", "reading"]


@pytest.mark.parametrize(("hands", "most"), [(1, 1), (2, 1), (3, 2)])
def test_readings_leave_a_hand_free_and_never_more_run_than_there_are_hands(
    store, hands: int, most: int
) -> None:
    now: list[int] = [0]
    peak: list[int] = [0]

    async def reading(job):
        now[0] += 1
        peak[0] = max(peak[0], now[0])
        await asyncio.sleep(0.02)
        now[0] -= 1

    put(store, *["reading"] * 5)
    runner = Runner(
        store, clock=Clock(), handlers={"reading": reading}, hands=hands, slow=("reading",)
    )
    assert asyncio.run(runner.run_waiting(look=0.005)) == 5
    assert peak[0] == most


def test_a_worker_that_is_stopped_gives_all_its_jobs_back(store) -> None:
    begun: list[str] = []
    both = asyncio.Event()

    async def long(job):
        begun.append(job.id)
        if len(begun) > 1:
            both.set()
        await asyncio.sleep(60)

    async def main() -> None:
        runner = Runner(store, clock=Clock(), handlers={"long": long}, hands=3)
        work = asyncio.create_task(runner.run_waiting(look=0.01))
        await both.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    put(store, "long", "long")
    asyncio.run(main())
    assert states(store) == {"queued": 2}


def test_a_kind_that_nobody_handles_waits(store) -> None:
    put(store, "unknown")
    assert asyncio.run(Runner(store, clock=Clock(), handlers={}).run_waiting()) == 0
    assert states(store) == {"queued": 1}
