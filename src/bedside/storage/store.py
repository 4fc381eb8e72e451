"""Reads and writes as functions of a connection, run in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine

__all__ = ["Store"]

T = TypeVar("T")


class Store:
    """One database. A function gets a connection inside one transaction and computes nothing slow.

    Readers run concurrently; writers run one at a time in a process (and take `BEGIN IMMEDIATE` on
    SQLite, so that they queue between processes too). The `_now` forms block the calling thread;
    the async forms run in threads.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = threading.Lock()

    @property
    def is_sqlite(self) -> bool:
        """True for the embedded database."""
        return self.engine.dialect.name == "sqlite"

    def read_now(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` in a read transaction."""
        with self.engine.connect() as connection, connection.begin():
            return fn(connection)

    def write_now(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn` in a write transaction; all of it is kept, or none."""
        with self._writing, self.engine.connect() as plain:
            connection = plain.execution_options(immediate=True)
            with connection.begin():
                return fn(connection)

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """`read_now` in a thread."""
        return await asyncio.to_thread(self.read_now, fn)

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """`write_now` in a thread."""
        return await asyncio.to_thread(self.write_now, fn)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
