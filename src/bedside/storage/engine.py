"""Engines with the pragmas that RELIABILITY row 3 promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.pool import QueuePool

__all__ = ["open_engine", "sqlite_url"]

BUSY_TIMEOUT_MS = 10_000


def sqlite_url(home: Path) -> str:
    """The address of the embedded database inside a home folder."""
    return f"sqlite:///{home / 'bedside.db'}"


def open_engine(url: str) -> Engine:
    """Open an engine. No message of it holds a parameter. SQLite: WAL, synchronous=FULL, foreign keys, secure delete, busy timeout.

    Transactions on SQLite are begun by hand (`storage.store`), so that writers can take
    `BEGIN IMMEDIATE`.
    """
    if not url.startswith("sqlite"):
        address = make_url(url)
        if address.drivername in {"postgres", "postgresql"}:
            address = address.set(drivername="postgresql+psycopg")
        return create_engine(address, pool_pre_ping=True, hide_parameters=True)
    engine = create_engine(
        url,
        hide_parameters=True,  # they are what patients said
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=8,
        connect_args={"timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # no implicit BEGIN: the store begins
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "secure_delete=ON",
            "temp_store=MEMORY",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        immediate = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine
