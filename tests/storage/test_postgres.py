"""The same rooms on a real PostgreSQL server: schema, store, trail, knowledge, records, a turn."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import inspect, select, text

from bedside.core.errors import Conflict, Unavailable
from bedside.core.ids import ActorId, TenantId
from bedside.knowledge.index.snapshot import Snapshots
from bedside.settings import load_settings
from bedside.storage import access, schema
from bedside.storage.engine import open_engine
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.jobs import meta
from bedside.wiring import Ask, Engine, build_engine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
T = TenantId("default")


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    opened = Store(open_engine(database))
    schema.migrate(opened)
    yield opened
    opened.close()


def walk(store: Store, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    with store.engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        (command.upgrade if to == "head" else command.downgrade)(config, to)


def differences(store: Store) -> list[object]:
    with store.engine.connect() as connection, connection.begin():
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, metadata)


def shape(store: Store) -> dict[str, object]:
    seen = inspect(store.engine)
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(name)],
            seen.get_pk_constraint(name),
            sorted(map(str, seen.get_foreign_keys(name))),
            sorted(map(str, seen.get_indexes(name))),
        )
        for name in sorted(seen.get_table_names())
    }


@pytest.mark.requirement("RELIABILITY-5")
def test_migrations_go_up_and_down_and_make_what_the_tables_say(database: str) -> None:
    store = Store(open_engine(database))
    schema.migrate(store)
    short = shape(store)
    assert differences(store) == []
    walk(store, "base")
    assert inspect(store.engine).get_table_names() == ["alembic_version"]
    walk(store, "head")
    assert differences(store) == []
    assert shape(store) == short
    store.close()


def test_a_write_that_raises_keeps_nothing_and_its_error_holds_no_row(store: Store) -> None:
    store.write_now(lambda c: c.execute(meta.insert().values(key="k", value="v")))
    with pytest.raises(Conflict) as raised:
        store.write_now(lambda c: c.execute(meta.insert().values(key="k", value="Quagga7731")))
    assert "Quagga7731" not in str(raised.value)
    assert "INSERT" not in str(raised.value)
    with pytest.raises(Unavailable) as failed:
        store.write_now(lambda c: c.execute(meta.insert().values(key="n", value="a\0Quagga7731")))
    assert "Quagga7731" not in str(failed.value)
    assert store.read_now(lambda c: c.execute(select(meta.c.value)).scalars().all()) == ["v"]


@pytest.mark.requirement("EN-S3")
def test_the_audit_chain_of_many_writers_is_whole(database: str, store: Store, clock) -> None:
    """Each thread has a store of its own, as a process has."""
    stores = [Store(open_engine(database)) for _ in range(4)]

    def write(own: Store) -> None:
        for _ in range(10):
            own.write_now(
                lambda c: access.note(
                    c, tenant=T, actor=ActorId("dr"), action="read", at=clock.now()
                )
            )

    threads = [threading.Thread(target=write, args=(own,)) for own in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in stores:
        own.close()
    verdict = store.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.entries) == (True, 40)


def test_a_reader_sees_one_moment(store: Store) -> None:
    store.write_now(lambda c: c.execute(meta.insert().values(key="n", value="1")))

    def twice(connection) -> list[Any]:
        first = connection.execute(select(meta.c.value)).scalar()
        store.write_now(lambda c: c.execute(meta.update().values(value="2")))
        return [first, connection.execute(select(meta.c.value)).scalar()]

    assert store.read_now(twice) == ["1", "1"]


def test_a_server_that_went_away_is_unavailable(database: str, store: Store) -> None:
    gone = Store(
        open_engine(database.replace("%2Fdata", "%2Fnowhere").replace("/data", "/nowhere"))
    )
    with pytest.raises(Unavailable, match="the store"):
        gone.read_now(lambda c: c.execute(text("SELECT 1")).scalar())


@contextlib.asynccontextmanager
async def engine_at(database: str, home: Path):
    environ = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_DATABASE": database}
    engine: Engine = build_engine(load_settings(home=home, environ=environ))
    try:
        yield engine
    finally:
        await engine.close()


def record() -> bytes:
    entries = [
        {"resourceType": "Patient", "id": "ada", "name": [{"family": "Lovelace"}], "gender": "female"},
        {"resourceType": "Observation", "id": "o1", "subject": {"reference": "Patient/ada"},
         "status": "final", "effectiveDateTime": "2026-01-05",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "valueQuantity": {"value": 8.25, "unit": "%"}},
    ]  # fmt: skip
    body = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": e} for e in entries],
    }
    return json.dumps(body).encode()


def test_records_knowledge_documents_and_a_turn_work_as_on_sqlite(
    database: str, tmp_path: Path
) -> None:
    async def work() -> None:
        async with engine_at(database, tmp_path) as engine:
            who = engine.local()
            assert (await engine.import_bytes([("ada.json", record())], who))["rejected"] == []
            guide = b"# Diabetes guideline\n\n## Targets\n\nAim for an HbA1c below 7 % in adults.\n"
            for expected in ((1, 0), (0, 1)):  # twice: the second time it is there already
                report = await engine.ingest_bytes([("guide.md", guide)], who)
                assert (report["documents"], report["skipped"]) == expected
            found = await engine.search(who=who, query="HbA1c target")
            assert "below 7 %" in found["hits"][0]["text"]
            letter = (
                b"Discharge letter\n\nShe had pneumonia and was given amoxicillin for a week.\n"
            )
            (made,) = await engine.attach("ada", [("letter.txt", letter)], who)
            assert made["index"] == "words"
            turn = await engine.asker.ask(
                Ask(question="What is the latest HbA1c?", patient="ada", key="k"), who
            )
            assert "8.25" in turn["answer"]
            for cited in turn["citations"]:
                stored = await engine.source(cited["source"]["id"], who)
                assert stored["text"][cited["start"] : cited["end"]] == cited["quote"]
            again = await engine.asker.ask(
                Ask(question="What is the latest HbA1c?", patient="ada", key="k"), who
            )
            assert again == turn
            asked = Ask(
                question="What was she given for pneumonia?",
                patient="ada",
                session=turn["session_id"],
            )
            second = await engine.asker.ask(asked, who)
            assert "amoxicillin" in second["answer"].lower()
            assert await engine.prompt(second["turn_id"], who)
            assert (await engine.opening("ada", who))["banner"]["name"]
            assert len(await engine.documents("ada", who)) == 1
            assert len(await engine.turns_of("ada", who)) == 2
            assert (await engine.verify_audit(who))["ok"]
            assert (await engine.doctor())["ok"] in {True, False}
            held = Snapshots(model=None, dim=1)
            head = await engine.store.read(lambda c: held.at(c, "default").seq)
            assert head > 0

    asyncio.run(work())


def test_a_real_record_reads_the_same_on_both_engines(
    database: str, tmp_path: Path, shared_data: Path
) -> None:
    folder = shared_data / "records" / "synthea_r4"
    if not folder.is_dir():
        pytest.skip("../shared/data/records/synthea_r4 is not here")
    bundles = (p for p in folder.rglob("*.json") if b'"Patient"' in p.read_bytes()[:20_000])
    smallest = min(bundles, key=lambda path: path.stat().st_size)

    async def facts(database: str, home: Path) -> tuple[Any, ...]:
        async with engine_at(database, home) as engine:
            who = engine.local()
            report = await engine.import_paths([smallest], who)
            patient = report["patients"][0]["id"]
            turn = await engine.asker.ask(Ask(question="List her conditions", patient=patient), who)
            return report, turn["answer"], turn["claims"], turn["receipt"]

    for name in "ps":
        (tmp_path / name).mkdir()
    on_postgres = asyncio.run(facts(database, tmp_path / "p"))
    assert asyncio.run(facts("", tmp_path / "s")) == on_postgres
    assert sum(on_postgres[0]["resources"].values()) > 10
