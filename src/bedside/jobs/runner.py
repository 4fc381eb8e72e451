"""Runs durable work: a turn's own jobs at once, the rest by a worker.

A handler reads and computes outside of any transaction and returns the write that ends the job;
the write and the job's end stand in one transaction, so a kill leaves the job to be done again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
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
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        handlers: Mapping[str, Handler],
        seconds: Mapping[str, float] | None = None,
        usual: float = 60.0,
    ) -> None:
        self._store, self._clock, self._handlers = store, clock, dict(handlers)
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

    async def run_waiting(self) -> int:
        """Run everything that is due now, one after the other; return how many jobs ended."""
        ended = 0
        while claimed := await self._claim(limit=1):
            ended += sum([await self._run(one) for one in claimed])
        return ended

    async def forever(self, *, pause: float = 0.5) -> None:
        """Work until cancelled."""
        while True:
            await self.run_waiting()
            await asyncio.sleep(pause)

    async def _claim(self, *, limit: int, turn: str | None = None) -> tuple[Claimed, ...]:
        spare = 5.0
        leases = {kind: timedelta(seconds=limit + spare) for kind, limit in self._seconds.items()}
        return await self._store.write(
            lambda connection: jobs.claim(
                connection,
                now=self._clock.now(),
                lease=timedelta(seconds=self._usual + spare),
                leases=leases,
                kinds=tuple(self._handlers),
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
