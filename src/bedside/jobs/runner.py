"""Runs durable work: a turn's own jobs at once, the rest by a worker, several at a time.

A handler reads and computes outside of any transaction and returns the write that ends the job;
the write and the job's end stand in one transaction, so a kill leaves the job to be done again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import Connection

from bedside.core.clock import Clock
from bedside.core.errors import BedsideError, CallerError, Conflict
from bedside.storage import jobs
from bedside.storage.jobs import Claimed
from bedside.storage.store import Store

__all__ = ["Handler", "Runner"]

Write = Callable[[Connection], None]
Handler = Callable[[Claimed], Awaitable[Write | None]]
"""Does one kind of job. It raises `CallerError` for what no second try can mend."""

_LOG = logging.getLogger("bedside.jobs")


class Runner:
    """One process's hands. `handlers` maps a kind to its handler; other kinds are left alone.

    `seconds` is each job's time limit, per kind, and so its lease; `usual` holds for the others.
    At most `hands` waiting jobs run at once; where there are two or more, jobs of the `slow` kinds
    leave one of them free, so that a long reading holds nothing else up.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        handlers: Mapping[str, Handler],
        seconds: Mapping[str, float] | None = None,
        usual: float = 60.0,
        hands: int = 1,
        slow: Collection[str] = (),
    ) -> None:
        self._store, self._clock, self._handlers = store, clock, dict(handlers)
        self._hands, self._slow = hands, frozenset(slow)
        self._seconds, self._usual = dict(seconds or {}), usual

    async def run_turn(self, turn: str, *, seconds: float) -> int:
        """Run the jobs of one turn, together, for at most `seconds`; return how many ended.

        What is not done by then is put back, and the worker has it.
        """
        claimed = await self._claim(turn=turn, limit=32)
        if not claimed:
            return 0
        tasks = [asyncio.create_task(self._run(one)) for one in claimed]
        _done, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(result is True for result in ended)

    async def run_waiting(self, *, look: float = 0.5) -> int:
        """Run everything that is due, the oldest first; return how many jobs ended.

        What comes while a job runs is found within `look` seconds, where a hand is free.
        """
        ended = 0
        running: dict[asyncio.Task[bool], str] = {}
        try:
            while True:
                while len(running) < self._hands:
                    claimed = await self._claim(limit=1, kinds=self._free(running.values()))
                    if not claimed:
                        break
                    for one in claimed:
                        running[asyncio.create_task(self._run(one))] = one.kind
                if not running:
                    return ended
                done, _ = await asyncio.wait(
                    running,
                    timeout=look if len(running) < self._hands else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    del running[task]
                ended += sum(task.result() for task in done)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _free(self, running: Collection[str]) -> tuple[str, ...]:
        """The kinds that may begin beside what runs."""
        slow = sum(kind in self._slow for kind in running)
        full = slow >= max(1, self._hands - 1)
        return tuple(kind for kind in self._handlers if not (full and kind in self._slow))

    async def forever(self, *, pause: float = 0.5) -> None:
        """Work until cancelled."""
        while True:
            await self.run_waiting()
            await asyncio.sleep(pause)

    async def _claim(
        self, *, limit: int, turn: str | None = None, kinds: Collection[str] | None = None
    ) -> tuple[Claimed, ...]:
        spare = 5.0
        leases = {kind: timedelta(seconds=limit + spare) for kind, limit in self._seconds.items()}
        return await self._store.write(
            lambda connection: jobs.claim(
                connection,
                now=self._clock.now(),
                lease=timedelta(seconds=self._usual + spare),
                leases=leases,
                kinds=tuple(self._handlers if kinds is None else kinds),
                turn=turn,
                limit=limit,
            )
        )

    async def _run(self, claimed: Claimed) -> bool:
        limit = self._seconds.get(claimed.kind, self._usual)
        try:
            async with asyncio.timeout(limit):
                write = await self._handlers[claimed.kind](claimed)
            await self._store.write(
                lambda connection: jobs.end(connection, claimed, now=self._clock.now(), apply=write)
            )
        except Conflict:
            return False  # another process has it
        except CallerError as error:
            await self._fail(claimed, type(error).__name__, final=True)
            return False
        except (TimeoutError, BedsideError) as error:
            await self._fail(claimed, type(error).__name__)
            return False
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(claimed))  # stopped, not failed
            raise
        except Exception as error:  # noqa: BLE001 - the worker's edge: one job must not end it
            await self._fail(claimed, type(error).__name__)
            return False
        return True

    async def _give_back(self, claimed: Claimed) -> None:
        with suppress(Conflict):
            await self._store.write(
                lambda connection: jobs.give_back(connection, claimed, now=self._clock.now())
            )

    async def _fail(self, claimed: Claimed, error: str, *, final: bool = False) -> None:
        _LOG.warning("job %s of kind %s: %s", claimed.id, claimed.kind, error)
        try:
            await self._store.write(
                lambda connection: jobs.fail(
                    connection, claimed, error=error, now=self._clock.now(), final=final
                )
            )
        except Conflict:
            return
