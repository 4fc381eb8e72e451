"""Writes that wait for each other, done in one transaction, each behind a savepoint of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from bedside.storage.failures import named

__all__ = ["MOST", "Waiting", "Write", "settle", "together"]

MOST = 8
"""Writes in one transaction: more would save little, and keep the event loop busy when all end at once."""


class Write:
    """One function that a coroutine waits for, and what came of it once it was run."""

    def __init__(self, fn: Callable[[Connection], Any]) -> None:
        self._fn = fn
        self._context: Context = copy_context()
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self, connection: Connection) -> None:
        """Call the function as the coroutine would have."""
        try:
            self.result = self._context.run(self._fn, connection)
        except StopIteration as error:  # no future takes one: its caller would wait for ever
            raise RuntimeError("a write raised StopIteration") from error


class Waiting:
    """A queue between event loops and the one thread that writes, which is called for each write."""

    def __init__(self) -> None:
        self._queue: deque[Write] = deque()

    def put(self, write: Write) -> None:
        """Add one, from any thread."""
        self._queue.append(write)

    def take(self) -> list[Write]:
        """The next writes in order, none where an earlier call took them. Whoever left is left out."""
        batch: list[Write] = []
        while self._queue and len(batch) < MOST:
            write = self._queue.popleft()
            if not write.future.cancelled():
                batch.append(write)
        return batch


def together(connection: Connection, batch: Sequence[Write]) -> None:
    """Run each in the connection's transaction; one that fails is undone alone and keeps its error.

    Raises:
        SQLAlchemyError: the transaction itself is lost, and with it all of the batch.
    """
    if len(batch) == 1:
        batch[0].run(connection)
        return
    for write in batch:
        savepoint = connection.begin_nested()
        try:
            write.run(connection)
            savepoint.commit()
        except Exception as error:  # noqa: BLE001 - handed to the one who waits, and to no other
            write.error = named(error) if isinstance(error, SQLAlchemyError) else error
            try:
                savepoint.rollback()
            except SQLAlchemyError as lost:  # the failure took the whole transaction with it
                raise (error if isinstance(error, SQLAlchemyError) else lost) from None


def settle(batch: Sequence[Write], lost: BaseException | None = None) -> None:
    """Tell all who wait, each in its own loop. `lost` is why nothing at all was kept.

    It is told to those who have no failure of their own: theirs may name what they alone may see.
    """
    loops: dict[asyncio.AbstractEventLoop, list[Write]] = {}
    for write in batch:
        write.error = write.error or lost
        loops.setdefault(write.loop, []).append(write)
    for loop, own in loops.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits there
            loop.call_soon_threadsafe(_tell, own)


def _tell(batch: Sequence[Write]) -> None:
    for write in batch:
        if write.future.done():
            continue
        if write.error is not None:
            write.future.set_exception(write.error)
        else:
            write.future.set_result(write.result)
