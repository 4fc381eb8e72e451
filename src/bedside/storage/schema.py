"""Bringing a database to the present schema."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    inspect,
    select,
)

from bedside.core.errors import Unavailable
from bedside.storage.store import Store
from bedside.storage.tables import metadata

__all__ = ["HEAD", "migrate"]

HEAD = "0004"
"""The newest migration; a test compares it with the folder."""

_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def migrate(store: Store) -> None:
    """Apply every migration that the database lacks; an up-to-date one is left alone.

    One transaction: a kill at any moment leaves the database as it was. An empty database gets the
    tables at once, without Alembic; a test holds this equal to what the migrations make.

    Raises:
        Unavailable: the database does not answer, or a newer Bedside wrote it.
    """
    if store.read_now(_found) != HEAD:
        store.write_now(_bring)


def _found(connection: Connection) -> str | None:
    """The version that the database names; `None` where it is empty, "" where it names none."""
    tables = set(inspect(connection).get_table_names())
    if tables <= {_version.name}:
        return None
    if _version.name not in tables:
        return ""
    return connection.execute(select(_version.c.version_num)).scalar() or ""


def _bring(connection: Connection) -> None:
    found = _found(connection)  # again, under the lock: another process may have been faster
    if found == HEAD:
        return
    if found is None:
        metadata.create_all(connection)
        _version.create(connection, checkfirst=True)
        connection.execute(_version.insert().values(version_num=HEAD))
        return
    _upgrade(connection, found)


def _upgrade(connection: Connection, found: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found not in known:
        raise Unavailable(
            "the store",
            why=f"its schema is {found or 'unnamed'!r}, and this version knows up to {HEAD!r}",
            do="Install the Bedside that wrote it, or choose another home.",
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
