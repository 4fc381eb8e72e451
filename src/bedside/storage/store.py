"""Reads and writes as functions of a connection, run in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from bedside.storage.batch import Waiting, Write, settle, together
from bedside.storage.failures import named

__all__ = ["Store"]

T = TypeVar("T")

_WRITERS = 4_216_008_321
"""The number of the lock that writers on PostgreSQL queue at."""
_READERS = 4
"""Threads that read for coroutines; more would only take turns at the interpreter."""


class Store:
    """One database. A function gets a connection inside one transaction and computes nothing slow.

    Readers run concurrently and see one moment; writers run one at a time, in a process and between
    processes (`BEGIN IMMEDIATE` on SQLite, an advisory lock on PostgreSQL), so that numbers given
    inside a write come into sight in their order. The `_now` forms block the calling thread; the
    async forms run in threads of the store's own.

    Writes that wait for each other share one commit, each behind a savepoint: one that fails takes
    nothing of the others with it, and none is told of its result before the disk has it.

    Every method raises `Unavailable` where the database fails and `Conflict` where a row of another
    writer stands in the way; in both cases nothing of the transaction is kept.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = threading.Lock()
        self._reading: dict[str, Any] = (
            {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        )
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._waiting = Waiting()

    @property
    def is_sqlite(self) -> bool:
        """True for the embedded database."""
        return self.engine.dialect.name == "sqlite"

    def read_now(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` in a read transaction."""
        try:
            with self.engine.connect() as plain:
                connection = plain.execution_options(**self._reading)
                with connection.begin():
                    return fn(connection)
        except SQLAlchemyError as error:
            raise named(error) from None

    def write_now(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` in a write transaction; all of it is kept, or none."""
        try:
            with self._writing, self.engine.connect() as plain:
                connection = plain.execution_options(immediate=True)
                with connection.begin():
                    if not self.is_sqlite:
                        connection.execute(text(f"SELECT pg_advisory_xact_lock({_WRITERS})"))
                    return fn(connection)
        except SQLAlchemyError as error:
            raise named(error) from None

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """`read_now` in a thread."""
        context, loop = copy_context(), asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._readers, lambda: context.run(lambda: self.read_now(fn))
        )

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """`write_now` in a thread, with whatever else waits to be written."""
        write = Write(fn)
        self._waiting.put(write)
        self._writer.submit(self._serve)
        return await write.future

    def _serve(self) -> None:
        """Write what waits, unless it was written with others before."""
        batch = self._waiting.take()
        if not batch:
            return
        try:
            self.write_now(lambda connection: together(connection, batch))
        except BaseException as error:  # noqa: BLE001 - handed to all who wait
            settle(batch, error)
        else:
            settle(batch)

    def close(self) -> None:
        """Close every connection."""
        self._writer.shutdown(wait=False)
        self._readers.shutdown(wait=False)
        self.engine.dispose()
