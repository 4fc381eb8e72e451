"""The same files again and at once give the same rows; a held snapshot equals a rebuilt one (rows 1, 4)."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.access import Grant
from bedside.core.ids import ActorId, TenantId
from bedside.knowledge.document import Upload
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.index.snapshot import Snapshot
from bedside.knowledge.ingest import embed_pending, ingest
from bedside.knowledge.needs import SearchNeed
from bedside.knowledge.search import Knowledge
from bedside.knowledge.writing import remove
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.testing.embedder import HashedEmbedder

WORDS = (
    "asthma",
    "steroid",
    "renal",
    "dose",
    "metformin",
    "fever",
    "child",
    "daily",
    "insulin",
    "stroke",
)
GRANT = Grant(tenant=TenantId("default"), actor=ActorId("dr"), audit_seq=1)


class StandingClock:
    def now(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def text(name: int, edition: int) -> bytes:
    rng = random.Random(name * 100 + edition)
    parts = [
        f"## Part {n}\n\n{' '.join(rng.choices(WORDS, k=90))} {WORDS[name % 10]}.\n"
        for n in range(1 + (name + edition) % 4)
    ]
    return f"# Guideline {name}\n\n{''.join(parts)}".encode()


def take(store: Store, *files: tuple[int, int]) -> Any:
    uploads = [Upload(name=f"g{name}.md", data=text(name, edition)) for name, edition in files]
    return ingest(store, uploads, tenant="default", clock=StandingClock())


def counted(home: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(home / "bedside.db") as connection:
        found = {
            "source": connection.execute("SELECT id, revision, sha256, superseded FROM source ORDER BY 1, 2").fetchall(),
            "chunk": connection.execute("SELECT * FROM chunk ORDER BY id").fetchall(),
            "words": connection.execute("SELECT * FROM chunk_words ORDER BY chunk").fetchall(),
            "vectors": connection.execute("SELECT * FROM chunk_vector ORDER BY chunk, window").fetchall(),
        }  # fmt: skip
    connection.close()
    return found


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    """Two stores over one file, as two processes have them."""
    made = [Store(open_engine(sqlite_url(tmp_path))) for _ in range(2)]
    migrate(made[0])
    yield made
    for store in made:
        store.close()


@pytest.mark.requirement("RELIABILITY-4")
def test_ten_times_the_same_files_give_the_same_rows(tmp_path: Path, stores) -> None:
    files = [(name, 1) for name in range(6)]
    first = take(stores[0], *files)
    assert first.documents == 6
    embed_pending(stores[0], HashedEmbedder())
    once = counted(tmp_path)
    for _ in range(9):
        again = take(stores[1], *files)
        assert (again.documents, again.skipped, again.ids) == (0, 6, first.ids)
        assert embed_pending(stores[1], HashedEmbedder()) == 0
    assert counted(tmp_path) == once


@pytest.mark.requirement("RELIABILITY-4")
def test_eight_threads_at_once_give_the_rows_of_one(tmp_path: Path, stores) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            order = [(name, 1) for name in range(6)]
            random.Random(number).shuffle(order)
            take(stores[number % 2], *order)
            embed_pending(stores[number % 2], HashedEmbedder())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    (tmp_path / "one").mkdir()
    alone = Store(open_engine(sqlite_url(tmp_path / "one")))
    migrate(alone)
    take(alone, *[(name, 1) for name in range(6)])
    embed_pending(alone, HashedEmbedder())
    alone.close()
    assert counted(tmp_path) == counted(tmp_path / "one")


@pytest.mark.requirement("RELIABILITY-4")
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_four_processes_at_once_give_the_rows_of_one(
    home: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in range(6):
        (folder / f"g{name}.md").write_bytes(text(name, 1))
    command = [
        sys.executable,
        "-m",
        "bedside.cli",
        "ingest",
        str(folder),
        "--home",
        str(home),
        "--json",
    ]
    command[1:3] = ["-c", "import sys; from bedside.cli import main; sys.exit(main())"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(timeout=100) for process in running] == [0] * 4
    found = [row for row in counted(home)["source"] if row[0].startswith("g")]
    assert len(found) == 7  # the home's own guideline, and these six
    assert all(revision == 1 for _, revision, _, _ in found)


@pytest.mark.requirement("RELIABILITY-4")
def test_a_changed_file_is_the_next_revision_and_the_older_leaves_the_search(
    tmp_path: Path, stores
) -> None:
    first, second = take(stores[0], (1, 1)), take(stores[1], (1, 2))
    assert first.ids == second.ids
    rows = counted(tmp_path)
    assert [(revision, superseded) for _, revision, _, superseded in rows["source"]] == [
        (1, 1),
        (2, 0),
    ]
    assert {row[3] for row in rows["chunk"]} == {2}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), st.integers(0, 4), st.integers(1, 3)),
        st.tuples(st.just("remove"), st.integers(0, 4), st.just(0)),
        st.tuples(st.just("embed"), st.just(0), st.just(0)),
        st.tuples(st.just("look"), st.just(0), st.just(0)),
    ),
    min_size=3,
    max_size=14,
)


def _words(segment: Segment, chunk: int) -> list[tuple[str, int]]:
    numbers, counts = segment.stems_of(chunk)
    return sorted(zip(segment.names_of(numbers), counts.tolist(), strict=True))


def entries(snapshot: Snapshot) -> dict[str, tuple[Any, ...]]:
    """Every living chunk: its words, its length, its vectors, its document."""
    found: dict[str, tuple[Any, ...]] = {}
    for segment in snapshot.segments:
        for place in np.flatnonzero(segment.alive):
            windows = slice(*segment.window_bounds[place : place + 2])
            found[segment.ids[place]] = (
                _words(segment, int(place)),
                float(segment.lengths[place]),
                segment.vectors[windows].tobytes(),
                segment.documents[segment.owner[place]],
            )
    return found


def answer(knowledge: Knowledge, query: str) -> list[tuple[Any, ...]]:
    hits = knowledge.search_now(
        GRANT, SearchNeed(name="q", query=query, corpus="knowledge", limit=5)
    )
    return [
        (hit.chunk_id, hit.text, round(hit.score, 9), hit.span.source.revision) for hit in hits.hits
    ]


@pytest.mark.requirement("RELIABILITY-1")
@given(steps=STEPS, rng=st.randoms(use_true_random=False))
@settings(max_examples=8, deadline=None)
def test_a_held_snapshot_equals_one_rebuilt_from_the_rows(steps, rng, tmp_path_factory) -> None:
    """Two processes write in turns; each keeps its snapshot and follows the log."""
    home = tmp_path_factory.mktemp("two")
    stores = [Store(open_engine(sqlite_url(home))) for _ in range(2)]
    migrate(stores[0])
    rooms = [Knowledge(store, embedder=HashedEmbedder(), clock=StandingClock()) for store in stores]
    for what, name, edition in steps:
        store = rng.choice(stores)
        if what == "ingest":
            take(store, (name, edition))
        elif what == "remove":
            store.write_now(lambda c, name=name: remove(c, "default", f"g{name}"))
        elif what == "embed":
            embed_pending(store, HashedEmbedder())
        else:
            answer(rng.choice(rooms), "metformin dose")
    fresh = Knowledge(stores[0], embedder=HashedEmbedder(), clock=StandingClock())
    for room, store in zip(rooms, stores, strict=True):
        held = store.read_now(lambda c, room=room: room.snapshots.at(c, "default"))
        rebuilt = store.read_now(lambda c: fresh.snapshots.rebuilt(c, "default"))
        assert held.seq == rebuilt.seq
        assert entries(held) == entries(rebuilt)
        for query in ("metformin dose in renal failure", "asthma child steroid", "stroke"):
            assert answer(room, query) == answer(fresh, query)
    for store in stores:
        store.close()
