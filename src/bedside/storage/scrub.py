"""Taking what was deleted out of the files of the embedded database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from bedside.storage.engine import BUSY_TIMEOUT_MS
from bedside.storage.failures import named
from bedside.storage.store import Store

__all__ = ["database_file", "scrub"]

_PATIENCE_MS = 3_000
"""How long readers of an older moment are waited for."""


def scrub(store: Store, *, rebuild: bool) -> bool:
    """Empty the write-ahead log into the database, and `rebuild` the file without its free pages.

    Deleted rows are overwritten where they stood (`secure_delete`); the log still holds the pages
    as they were until it is emptied. Returns False where another process reads an older moment and
    the log had to stay; nothing to do, and True, on PostgreSQL.

    Raises:
        Unavailable: there is no room to rebuild, or the database does not answer.
    """
    if not store.is_sqlite:
        return True
    try:
        held = store.engine.raw_connection()
        try:
            cursor = held.cursor()
            cursor.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")
            if rebuild:
                cursor.execute("VACUUM")
            busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            cursor.close()
        finally:
            held.close()
    except SQLAlchemyError as error:
        raise named(error) from None
    except store.engine.dialect.loaded_dbapi.Error as error:
        raise named(_wrapped(error)) from None
    return not busy


def _wrapped(error: BaseException) -> SQLAlchemyError:
    from sqlalchemy.exc import DBAPIError

    return DBAPIError(None, None, error)


def database_file(store: Store) -> Path | None:
    """The file of a SQLite database, `None` for a server's or one in memory."""
    name = store.engine.url.database
    if not store.is_sqlite or not name or name == ":memory:":
        return None
    return Path(name)
