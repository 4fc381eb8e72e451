"""The schema: the migrations and the tables are one, up and down, on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from bedside.core.errors import Unavailable
from bedside.storage import schema
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata

FOLDER = Path(schema.__file__).parent / "migrations"


def config(connection=None) -> Config:
    made = Config()
    made.set_main_option("script_location", str(FOLDER))
    if connection is not None:
        made.attributes["connection"] = connection
    return made


def walk(engine: Engine, to: str) -> None:
    """Up to "head" or down to "base" with Alembic itself."""
    step = command.upgrade if to == "head" else command.downgrade
    with engine.connect() as connection, connection.begin():
        step(config(connection), to)


def differences(engine: Engine) -> list[object]:
    with engine.connect() as connection, connection.begin():
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        return compare_metadata(context, metadata)


def shape(engine: Engine) -> dict[str, object]:
    """Everything that the database itself says of its tables, in no order."""
    seen = inspect(engine)
    found: dict[str, object] = {}
    for name in sorted(seen.get_table_names()):
        found[name] = {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], str(c.get("default")))
                for c in seen.get_columns(name)
            ],
            "pk": seen.get_pk_constraint(name),
            "fks": sorted(map(str, seen.get_foreign_keys(name))),
            "indexes": sorted(map(str, seen.get_indexes(name))),
            "uniques": sorted(map(str, seen.get_unique_constraints(name))),
        }
    return found


@pytest.fixture
def empty(tmp_path: Path):
    engine = open_engine(sqlite_url(tmp_path))
    yield engine
    engine.dispose()


def test_the_newest_migration_of_the_folder_is_the_head_and_there_is_one_line_of_them() -> None:
    scripts = ScriptDirectory.from_config(config())
    assert scripts.get_heads() == [schema.HEAD]
    assert len(scripts.get_bases()) == 1


@pytest.mark.requirement("RELIABILITY-5")
def test_the_migrations_make_what_the_tables_say(empty: Engine) -> None:
    walk(empty, "head")
    assert differences(empty) == []


def test_the_comparison_would_see_a_missing_column(empty: Engine) -> None:
    walk(empty, "head")
    with empty.connect() as connection, connection.begin():
        connection.execute(text("ALTER TABLE report DROP COLUMN note"))
    assert differences(empty)


@pytest.mark.requirement("RELIABILITY-5")
def test_down_to_nothing_and_up_again_is_the_same(empty: Engine) -> None:
    walk(empty, "head")
    first = shape(empty)
    walk(empty, "base")
    assert inspect(empty).get_table_names() == ["alembic_version"]
    walk(empty, "head")
    assert shape(empty) == first
    assert len(first) == len(metadata.tables) + 1


@pytest.mark.requirement("RELIABILITY-5")
def test_the_short_way_of_a_fresh_home_makes_what_the_migrations_make(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    short = Store(open_engine(sqlite_url(tmp_path / "a")))
    schema.migrate(short)
    long = open_engine(sqlite_url(tmp_path / "b"))
    walk(long, "head")
    assert shape(short.engine) == shape(long)
    versions = [
        engine.connect().execute(text("SELECT version_num FROM alembic_version")).all()
        for engine in (short.engine, long)
    ]
    assert versions[0] == versions[1] == [(schema.HEAD,)]


def test_the_autoincrement_of_the_change_log_never_gives_a_number_twice(store: Store) -> None:
    def add(connection) -> int:
        row = "INSERT INTO knowledge_change (tenant, source, revision, what) VALUES ('t','s',1,'gone')"
        return connection.execute(text(row)).lastrowid

    first = store.write_now(add)
    store.write_now(lambda c: c.execute(text("DELETE FROM knowledge_change")))
    assert store.write_now(add) > first


def test_a_database_at_the_first_release_is_left_as_it_is(tmp_path: Path) -> None:
    store = Store(open_engine(sqlite_url(tmp_path)))
    schema.migrate(store)
    store.write_now(lambda c: c.execute(text("INSERT INTO meta VALUES ('k', 'v')")))
    schema.migrate(store)
    assert store.read_now(lambda c: c.execute(text("SELECT value FROM meta")).scalar()) == "v"


def test_a_database_that_was_emptied_by_hand_comes_back(tmp_path: Path) -> None:
    store = Store(open_engine(sqlite_url(tmp_path)))
    schema.migrate(store)
    walk(store.engine, "base")
    schema.migrate(store)
    assert differences(store.engine) == []


def test_tables_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    store = Store(open_engine(sqlite_url(tmp_path)))
    store.write_now(lambda c: c.execute(text("CREATE TABLE somebody (id INTEGER)")))
    with pytest.raises(Unavailable, match="unnamed"):
        schema.migrate(store)


def test_a_database_of_a_newer_version_is_refused_and_untouched(tmp_path: Path) -> None:
    store = Store(open_engine(sqlite_url(tmp_path)))
    schema.migrate(store)
    store.write_now(lambda c: c.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(Unavailable, match="9999"):
        schema.migrate(store)
    found = store.read_now(
        lambda c: c.execute(text("SELECT version_num FROM alembic_version")).all()
    )
    assert found == [("9999",)]


OPEN = """
import sys
from pathlib import Path
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
migrate(Store(open_engine(sqlite_url(Path(sys.argv[1])))))
"""


@pytest.mark.slow
def test_four_processes_that_open_one_fresh_home_at_once_all_succeed(tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", OPEN, str(tmp_path)]) for _ in range(4)]
    assert [process.wait(timeout=50) for process in running] == [0] * 4
    engine = open_engine(sqlite_url(tmp_path))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).all() == [
            (schema.HEAD,)
        ]
    assert differences(engine) == []
    engine.dispose()
