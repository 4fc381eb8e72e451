"""Bringing a database to the present schema."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from bedside.storage.store import Store
from bedside.storage.tables import metadata

__all__ = ["HEAD", "migrate"]

HEAD = "0001"
"""The newest migration; a test compares it with the folder."""


def migrate(store: Store) -> None:
    """Apply every migration that the database lacks; an up-to-date one is left alone."""
    with store.engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if "alembic_version" in tables and _version(connection) == HEAD:
            return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    if "alembic_version" not in tables and not tables:
        store.write_now(metadata.create_all)
        with store.engine.connect() as connection, connection.begin():
            config.attributes["connection"] = connection
            command.stamp(config, "head")
        return
    with store.engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _version(connection: Connection) -> str | None:
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
