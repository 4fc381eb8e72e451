"""Reads and writes as functions of a connection, run in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from bedside.storage.failures import named

__all__ = ["Store"]

T = TypeVar("T")

_WRITERS = 4_216_008_321
"""The number of the lock that writers on PostgreSQL queue at."""


class Store:
    """One database. A function gets a connection inside one transaction and computes nothing slow.

    Readers run concurrently and see one moment; writers run one at a time, in a process and between
    processes (`BEGIN IMMEDIATE` on SQLite, an advisory lock on PostgreSQL), so that numbers given
    inside a write come into sight in their order. The `_now` forms block the calling thread; the
    async forms run in threads.

    Every method raises `Unavailable` where the database fails and `Conflict` where a row of another
    writer stands in the way; in both cases nothing of the transaction is kept.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = threading.Lock()
        self._reading: dict[str, Any] = (
            {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        )

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
        return await asyncio.to_thread(self.read_now, fn)

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """`write_now` in a thread."""
        return await asyncio.to_thread(self.write_now, fn)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
