"""A store copied to another address is the same store, and the first one is as it was."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, insert, select, text, update

from bedside.core.errors import Conflict, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage import access, copying
from bedside.storage.copying import copy_store, fingerprint
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.jobs import meta
from bedside.storage.tables.knowledge import knowledge_change
from bedside.storage.tables.record import document, patient
from bedside.storage.tables.source import chunk, source

T = TenantId("default")
AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)


def fill(store: Store, rows: int = 1_203) -> None:
    """Rows of every kind of column, more than one batch of them."""

    def write(c: Any) -> None:
        c.execute(insert(patient).values(
            tenant=T, id="p1", name="Zoë Ångström", name_key="zoë ångström", sex="",
            birth_date=date(1961, 4, 2), revision=1, as_of=AT, updated_at=AT, identifiers="[]"))  # fmt: skip
        c.execute(insert(document).values(
            tenant=T, id="d1", patient="p1", title="Letter", media_type="text/plain",
            status="complete", index="words", sha256="x", size=4, content=b"\x00\x01\xff'",
            created_at=AT, updated_at=AT))  # fmt: skip
        c.execute(insert(source), [
            {"tenant": T, "id": f"s{n:05}", "revision": 1, "kind": "record", "patient": "p1",
             "title": "t", "sha256": "", "superseded": bool(n % 2), "created_at": AT,
             "text": f"µg {n} \U0001f600\r\n"} for n in range(rows)])  # fmt: skip
        c.execute(insert(chunk).values(
            tenant=T, id="c1", source="s00000", revision=1, ordinal=0, total=1, start=0, end=2,
            tokens=None))  # fmt: skip
        for n in range(3):
            c.execute(
                insert(knowledge_change).values(tenant=T, source=f"g{n}", revision=1, what="x")
            )
        c.execute(knowledge_change.delete().where(knowledge_change.c.seq == 3))
        access.note(c, tenant=T, actor=ActorId("dr"), action="read", at=AT, patient=PatientId("p1"))

    store.write_now(write)


@pytest.fixture
def target(tmp_path: Path):
    made = Store(open_engine(f"sqlite:///{tmp_path / 'target.db'}"))
    migrate(made)
    yield made
    made.close()


def dumped(file: Path) -> list[str]:
    with sqlite3.connect(file) as plain:
        return sorted(plain.iterdump())


def test_everything_arrives_and_nothing_of_the_first_changes(
    store: Store, target: Store, tmp_path: Path
) -> None:
    fill(store)
    before = dumped(tmp_path / "bedside.db")
    told: list[tuple[str, int, int]] = []
    done = copy_store(store, target, tell=lambda *step: told.append(step))
    assert dumped(tmp_path / "bedside.db") == before
    assert dumped(tmp_path / "target.db") == before  # sqlite3's own dump, whole
    assert done.rows["source"] == 1_203
    assert told[-1][1:] == (len(metadata.tables), len(metadata.tables))
    assert target.read_now(lambda c: access.verify(c, tenant=T)).ok


def test_a_target_with_rows_is_refused_and_keeps_them(store: Store, target: Store) -> None:
    fill(store, rows=3)
    target.write_now(lambda c: c.execute(insert(meta).values(key="k", value="v")))
    with pytest.raises(Conflict, match="1 rows"):
        copy_store(store, target)
    kept = target.read_now(lambda c: c.execute(select(meta.c.key, meta.c.value)).all())
    assert kept == [("k", "v")]
    assert target.read_now(copying.row_counts)["source"] == 0


def test_a_copy_that_is_cut_leaves_nothing_and_can_be_begun_again(
    store: Store, target: Store
) -> None:
    fill(store, rows=10)

    class Cut(RuntimeError):
        pass

    def cut(table: str, done: int, total: int) -> None:
        del table
        if done > total // 2:
            raise Cut

    with pytest.raises(Cut):
        copy_store(store, target, tell=cut)
    assert sum(target.read_now(copying.row_counts).values()) == 0
    assert copy_store(store, target).rows["source"] == 10


def test_numbers_of_the_change_log_go_on_after_the_last_that_was_given(
    store: Store, target: Store
) -> None:
    fill(store, rows=1)
    copy_store(store, target)
    added = insert(knowledge_change).values(tenant=T, source="g", revision=1, what="x")
    seq = target.write_now(lambda c: c.execute(added).inserted_primary_key)
    assert seq is not None
    assert seq[0] == 4


def test_a_target_that_changes_what_it_is_given_is_found_out(store: Store, target: Store) -> None:
    fill(store, rows=5)
    target.write_now(
        lambda c: c.execute(
            text(
                "CREATE TRIGGER lossy AFTER INSERT ON source WHEN new.id = 's00003' BEGIN "
                "UPDATE source SET text = 'other' WHERE id = new.id; END"
            )
        )
    )
    with pytest.raises(Unavailable, match="source"):
        copy_store(store, target)
    assert sum(target.read_now(copying.row_counts).values()) == 0


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (source, {"text": "µg 1 \U0001f600\n"}),
        (source, {"superseded": False}),
        (chunk, {"tokens": 0}),
        (document, {"content": b"\x00\x01\xff"}),
        (patient, {"birth_date": None}),
        (patient, {"updated_at": AT.replace(microsecond=0)}),
    ],
)
def test_the_fingerprint_of_a_table_sees_any_change(
    store: Store, table: Table, change: dict[str, Any]
) -> None:
    fill(store, rows=2)
    before = store.read_now(lambda c: fingerprint(c, table))
    assert store.read_now(lambda c: fingerprint(c, table)) == before
    store.write_now(lambda c: c.execute(update(table).values(**change)))
    assert store.read_now(lambda c: fingerprint(c, table)) != before


def test_the_home_of_a_fresh_store_copies_as_nothing(tmp_path: Path, target: Store) -> None:
    (tmp_path / "empty").mkdir()
    empty = Store(open_engine(sqlite_url(tmp_path / "empty")))
    migrate(empty)
    assert set(copy_store(empty, target).rows.values()) == {0}
    empty.close()
