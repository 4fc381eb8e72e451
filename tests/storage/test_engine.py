"""Every SQLite connection keeps the promises of RELIABILITY row 3."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import insert, select, text

from bedside.storage.store import Store
from bedside.storage.tables.jobs import meta


@pytest.mark.requirement("RELIABILITY-3")
def test_every_connection_has_the_promised_pragmas(store: Store) -> None:
    """Asked of the engine itself, on more connections than one."""
    connections = [store.engine.connect() for _ in range(3)]
    for connection in connections:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in (
                "journal_mode",
                "synchronous",
                "foreign_keys",
                "busy_timeout",
                "secure_delete",
            )
        }
        assert found["journal_mode"] == "wal"
        assert found["synchronous"] == 2
        assert found["foreign_keys"] == 1
        assert found["busy_timeout"] >= 5_000
        assert found["secure_delete"] == 1
        connection.close()


def test_a_write_that_raises_keeps_nothing(store: Store) -> None:
    def write(connection):
        connection.execute(insert(meta).values(key="k", value="v"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write_now(write)
    assert (
        store.read_now(lambda c: c.execute(select(meta.c.key).where(meta.c.key == "k")).all()) == []
    )


def test_writers_of_many_threads_lose_nothing(store: Store) -> None:
    """Each reads, then writes what it read plus one: lost updates would show."""
    store.write_now(lambda c: c.execute(insert(meta).values(key="n", value="0")))

    def add_one(connection):
        n = int(connection.execute(select(meta.c.value).where(meta.c.key == "n")).scalar_one())
        connection.execute(meta.update().where(meta.c.key == "n").values(value=str(n + 1)))

    threads = [
        threading.Thread(target=lambda: [store.write_now(add_one) for _ in range(10)])
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (
        store.read_now(
            lambda c: c.execute(select(meta.c.value).where(meta.c.key == "n")).scalar_one()
        )
        == "60"
    )
