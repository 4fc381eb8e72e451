"""An index outside the rows: it follows them, survives kills, and finds what memory finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bedside.core.errors import Unavailable
from bedside.knowledge.document import Upload
from bedside.knowledge.index.follow import Follower, windows_in_rows
from bedside.knowledge.index.memory import MemoryIndex
from bedside.knowledge.index.pgvector import PgVectorIndex
from bedside.knowledge.index.protocol import Scope
from bedside.knowledge.index.qdrant import QdrantIndex, connect
from bedside.knowledge.index.rows import load_knowledge
from bedside.knowledge.ingest import ingest
from bedside.knowledge.near import Outside
from bedside.knowledge.needs import Filters, SearchNeed
from bedside.knowledge.search import SHARED_TENANT, Knowledge
from bedside.knowledge.writing import remove
from bedside.storage.engine import open_engine
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.testing.embedder import HashedEmbedder

EMBEDDER = HashedEmbedder()
CLINIC = Scope(tenant="clinic")
TOPICS = (
    "asthma wheeze salbutamol inhaler",
    "gout colchicine uric acid attack",
    "hypertension amlodipine pressure",
    "diabetes metformin glucose HbA1c",
    "migraine triptan aura headache",
    "anaemia iron ferritin haemoglobin",
)
QUESTIONS = (
    "salbutamol inhaler for wheeze",
    "colchicine in an attack of gout",
    "first choice in hypertension",
    "metformin and HbA1c",
    "aura before the headache",
    "low ferritin",
    "inhaler technique review",
    "pressure and glucose",
)


def files(count: int, *, edition: int = 1) -> list[Upload]:
    """Guidelines of three sections about one topic each, in words that overlap."""
    rng = np.random.default_rng(5)
    found = []
    for number in range(count):
        topic = TOPICS[number % len(TOPICS)].split()
        parts = [
            f"---\nspecialty: s{number % 3}\npublished: 20{10 + number % 15}-01-01\n---\n# {topic[0].title()} {number}\n"
        ]
        for section in range(3):
            words = [*rng.choice(topic, 5), *rng.choice(" ".join(TOPICS).split(), 4)]
            parts.append(f"## Part {section}\n\n{' '.join(words)} edition {edition}.\n")
        found.append(Upload(name=f"g{number}.md", data="\n".join(parts).encode()))
    return found


def take_in(store: Store, clock, uploads, *, tenant: str = "clinic", **more) -> None:
    ingest(store, uploads, tenant=tenant, clock=clock, embedder=EMBEDDER, **more)


@pytest.fixture(params=["memory", "qdrant", pytest.param("pgvector", marks=pytest.mark.slow)])
def pair(request: pytest.FixtureRequest, store: Store) -> Iterator[tuple[Store, object]]:
    """A store, and an index of the kind named."""
    if request.param == "memory":
        yield store, MemoryIndex(dim=EMBEDDER.dim)
    elif request.param == "qdrant":
        client = connect(":memory:")
        yield store, QdrantIndex(client, model=EMBEDDER.id, dim=EMBEDDER.dim, local=True)
        client.close()
    else:
        other = Store(open_engine(request.getfixturevalue("database")))
        migrate(other)
        yield other, PgVectorIndex(other, model=EMBEDDER.id, dim=EMBEDDER.dim, exact_below=0)
        other.close()


def outside(store: Store, index, *, most: int = 0) -> Outside:
    follower = Follower(store, index, model=EMBEDDER.id)
    return Outside(index, follower, model=EMBEDDER.id, most_in_memory=most)


def need(query: str, **more) -> SearchNeed:
    return SearchNeed(
        name="t", query=query, corpus="knowledge", limit=10, deadline_ms=30_000, **more
    )


def chunks(found) -> list[str]:
    return [hit.chunk_id for hit in found.hits]


def wanted(store: Store, tenant: str = "clinic") -> int:
    return store.read_now(lambda c: windows_in_rows(c, tenant, EMBEDDER.id))


@pytest.mark.requirement("EN-S2")
def test_above_the_bound_the_ten_best_are_those_of_memory(pair, clock, doctor) -> None:
    store, index = pair
    take_in(store, clock, files(60))
    of_all = [replace(file, name=f"all-{file.name}") for file in files(12)]
    take_in(store, clock, of_all, tenant=SHARED_TENANT)
    far = outside(store, index)
    far.follower.catch_up()
    exact = Knowledge(store, embedder=EMBEDDER, clock=clock)
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=far)
    shared = total = 0
    for question in QUESTIONS:
        for retriever in ("hybrid", "dense", "lexical"):
            for filters in (Filters(), Filters(specialty="s1")):
                asked = need(question, retriever=retriever, filters=filters)
                one, two = exact.search_now(doctor, asked), near.search_now(doctor, asked)
                assert two.degraded == ()
                assert one.removed_by_filter == two.removed_by_filter
                shared += len(set(chunks(one)) & set(chunks(two)))
                total += len(one.hits)
                known = {hit.chunk_id: hit for hit in one.hits}
                for hit in two.hits:
                    if hit.chunk_id in known:  # exact, whatever the index said
                        assert hit.similarity == known[hit.chunk_id].similarity
                        assert hit.text == known[hit.chunk_id].text
    assert total > 200
    assert shared / total >= 0.9


def test_below_the_bound_memory_answers_and_the_index_is_not_asked(store, clock, doctor) -> None:
    take_in(store, clock, files(6))

    class Silent(MemoryIndex):
        def nearest(self, *_: object, **__: object):
            raise AssertionError("asked")

    far = outside(store, Silent(dim=EMBEDDER.dim), most=wanted(store))
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=far)
    exact = Knowledge(store, embedder=EMBEDDER, clock=clock)
    asked = need("salbutamol inhaler")
    assert near.search_now(doctor, asked) == exact.search_now(doctor, asked)


def test_an_index_holds_what_the_rows_hold_after_every_kind_of_change(pair, clock) -> None:
    store, index = pair
    follower = Follower(store, index, model=EMBEDDER.id)
    take_in(store, clock, files(5))
    assert follower.catch_up() == 5
    assert follower.catch_up() == 0
    take_in(store, clock, files(2, edition=2))
    store.write_now(lambda c: remove(c, "clinic", "g4"))
    assert follower.catch_up() == 3
    held = index.documents(CLINIC)
    assert {name: one.revision for name, one in held.items()} == {
        "g0": 2,
        "g1": 2,
        "g2": 1,
        "g3": 1,
    }
    assert index.count(CLINIC) == wanted(store)
    (standing,) = follower.standings()
    assert standing.whole


@pytest.mark.requirement("RELIABILITY-15")
def test_no_vector_of_a_patient_leaves_the_rows(pair, clock) -> None:
    store, index = pair
    take_in(store, clock, files(2))
    take_in(store, clock, files(2), patient="ann")
    Follower(store, index, model=EMBEDDER.id).catch_up()
    assert index.count(Scope(tenant="clinic", patient="ann")) == 0
    assert set(index.documents(CLINIC)) == {"g0", "g1"}


class Cut(BaseException):
    """What a kill is to the process."""


def test_a_kill_at_any_step_is_made_good_by_the_next_run(pair, clock, monkeypatch) -> None:
    """Before and after each write of the index, and before each mark; then the last moment of all."""
    store, index = pair
    index.open()
    put, left = index.put, [0]

    def dying(*given) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Cut
        put(*given)
        left[0] -= 1
        if left[0] == 0:
            raise Cut

    monkeypatch.setattr(index, "put", dying)
    take_in(store, clock, files(3))
    for step in range(1, 7):
        take_in(store, clock, files(3, edition=step + 1))
        left[0] = step
        with pytest.raises(Cut):
            Follower(store, index, model=EMBEDDER.id).catch_up()
        left[0] = 0
        Follower(store, index, model=EMBEDDER.id).catch_up()
        revisions = {name: one.revision for name, one in index.documents(CLINIC).items()}
        assert revisions == dict.fromkeys(("g0", "g1", "g2"), step + 1)
        assert index.count(CLINIC) == wanted(store)


def test_a_lost_index_fills_again_when_it_is_next_opened(pair, clock) -> None:
    store, index = pair
    take_in(store, clock, files(4))
    Follower(store, index, model=EMBEDDER.id).catch_up()
    for name in ("g0", "g2"):
        index.remove(CLINIC, name)
    (standing,) = Follower(store, index, model=EMBEDDER.id).standings()
    assert not standing.whole
    assert Follower(store, index, model=EMBEDDER.id).catch_up() == 2
    assert index.count(CLINIC) == wanted(store)


def test_a_repair_drops_what_has_no_row_and_brings_what_is_missing(pair, clock) -> None:
    store, index = pair
    take_in(store, clock, files(3))
    follower = Follower(store, index, model=EMBEDDER.id)
    follower.catch_up()
    entries = store.read_now(lambda c: load_knowledge(c, "clinic", model=EMBEDDER.id, only=["g1"]))
    phantom = [
        replace(e, id=f"phantom:{n}", document=replace(e.document, id="phantom"))
        for n, e in enumerate(entries)
    ]
    index.put(CLINIC, "phantom", phantom)
    index.remove(CLINIC, "g0")
    assert follower.repair() == 2
    assert set(index.documents(CLINIC)) == {"g0", "g1", "g2"}
    assert follower.repair() == 0


def test_what_the_index_has_not_heard_of_is_found_all_the_same(pair, clock, doctor) -> None:
    store, index = pair
    take_in(store, clock, files(12))
    far = outside(store, index)
    far.follower.catch_up()
    late = Upload(name="late.md", data=b"# Late\n\n## Advice\n\nZanubrutinib tablets daily.\n")
    take_in(store, clock, [late])
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=far)
    found = near.search_now(doctor, need("zanubrutinib tablets daily", retriever="dense"))
    assert chunks(found)[0].startswith("late:")
    assert found.degraded == ()


def test_a_stale_index_puts_nothing_in(pair, clock, doctor) -> None:
    """What was removed or revised since is not shown, though the index still names it."""
    store, index = pair
    take_in(store, clock, files(6))
    far = outside(store, index)
    far.follower.catch_up()
    store.write_now(lambda c: remove(c, "clinic", "g0"))
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=far)
    found = near.search_now(doctor, need("asthma wheeze salbutamol inhaler"))
    assert not any(name.startswith("g0:") for name in chunks(found))
    assert "g0" in index.documents(CLINIC)


def test_an_index_that_does_not_answer_leaves_the_words_and_says_so(store, clock, doctor) -> None:
    """A closed port, by the real client."""
    take_in(store, clock, files(6))
    client = connect("http://127.0.0.1:9", seconds=1)
    index = QdrantIndex(client, model=EMBEDDER.id, dim=EMBEDDER.dim, local=False)
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=outside(store, index))
    found = near.search_now(doctor, need("salbutamol inhaler"))
    assert found.hits
    assert found.degraded == ("dense failed: the vector index did not answer",)
    with pytest.raises(Unavailable, match="BEDSIDE_QDRANT"):
        Follower(store, index, model=EMBEDDER.id).catch_up()
    client.close()


@pytest.mark.requirement("EN-K4")
def test_an_index_of_another_size_leaves_the_words_and_says_so(store, clock, doctor) -> None:
    take_in(store, clock, files(6))
    client = connect(":memory:")
    QdrantIndex(client, model=EMBEDDER.id, dim=8, local=True).open()
    index = QdrantIndex(client, model=EMBEDDER.id, dim=EMBEDDER.dim, local=True)
    near = Knowledge(store, embedder=EMBEDDER, clock=clock, outside=outside(store, index))
    found = near.search_now(doctor, need("salbutamol inhaler"))
    assert found.hits
    assert found.degraded == ("dense failed: the vector index holds another size",)
    client.close()


def test_a_folder_of_qdrant_keeps_what_it_holds(store, clock, tmp_path: Path) -> None:
    take_in(store, clock, files(3))
    for expected in (3, 0):
        client = connect(str(tmp_path / "qdrant"))
        index = QdrantIndex(client, model=EMBEDDER.id, dim=EMBEDDER.dim, local=True)
        assert Follower(store, index, model=EMBEDDER.id).catch_up() == expected
        assert index.count(CLINIC) == wanted(store)
        client.close()
