"""Every index of vectors keeps the same promises: memory, pgvector (by scan and by graph), Qdrant."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import text

from bedside.knowledge.embed.protocol import unit_rows
from bedside.knowledge.index.memory import MemoryIndex
from bedside.knowledge.index.pgvector import PgVectorIndex
from bedside.knowledge.index.protocol import Scope
from bedside.knowledge.index.qdrant import QdrantIndex, connect
from bedside.knowledge.needs import Filters
from bedside.storage.engine import open_engine
from bedside.storage.store import Store
from bedside.testing.vector_index import VectorIndexContract, document_of, entries_of


class TestMemory(VectorIndexContract):
    keeps = False

    @pytest.fixture
    def make(self):
        return lambda dim=8, model="m": MemoryIndex(dim=dim)


class TestQdrant(VectorIndexContract):
    @pytest.fixture
    def make(self):
        client = connect(":memory:")
        yield lambda dim=8, model="m": QdrantIndex(client, model=model, dim=dim, local=True)
        client.close()


@pytest.mark.slow
class TestPgVector(VectorIndexContract):
    @pytest.fixture
    def make(self, database: str):
        store = Store(open_engine(database))
        yield lambda dim=8, model="m": PgVectorIndex(store, model=model, dim=dim)
        store.close()


@pytest.mark.slow
class TestPgVectorByGraph(TestPgVector):
    """The same with a graph from the first row on."""

    @pytest.fixture
    def index(self, make):
        made = make()
        made.open()
        made.settle()
        return made

    @pytest.fixture
    def make(self, database: str):
        """The planner is kept from sorting, so that small tables too are walked by the graph."""
        store = Store(open_engine(database))
        name = store.engine.url.database
        store.write_now(lambda c: c.execute(text(f"ALTER DATABASE {name} SET enable_sort = off")))
        store.engine.dispose()
        yield lambda dim=8, model="m": PgVectorIndex(store, model=model, dim=dim, exact_below=0)
        store.close()

    def test_the_graph_finds_at_least_nine_of_the_ten_best(self, make) -> None:
        """Against a plain product of matrices, over 3,000 vectors in clusters, filtered and not."""
        rng = np.random.default_rng(3)
        centres = unit_rows(rng.normal(size=(40, 32)).astype(np.float32))
        noise = 0.15 * rng.normal(size=(3_030, 32)).astype(np.float32)
        rows = unit_rows(centres[rng.integers(0, 40, 3_030)] + noise)
        rows, questions = rows[:3_000], rows[3_000:]
        index = make(dim=32)
        index.open()
        for number in range(30):
            document = document_of(f"d{number:02d}", specialty=f"s{number % 3}")
            own = rows[number * 100 : number * 100 + 100]
            index.put(Scope(tenant="clinic"), document.id, entries_of(document, own[:, None]))
        index.settle()
        specialty = np.arange(3_000) // 100 % 3
        for filters, passing in (
            (Filters(), specialty >= 0),
            (Filters(specialty="s1"), specialty == 1),
        ):
            found = 0
            for question in questions:
                order = np.argsort(-np.where(passing, rows @ question, -2.0))[:10]
                want = {f"d{at // 100:02d}:1:{at % 100:04d}" for at in order.tolist()}
                near = index.nearest(Scope(tenant="clinic"), question, filters=filters, limit=10)
                found += len(want & {one.chunk for one in near})
            assert found / (10 * len(questions)) >= 0.9
        plan = index._store.read_now(
            lambda c: c.execute(
                text("EXPLAIN SELECT chunk FROM knowledge_vector_32 ORDER BY embedding <=> :v LIMIT 9"),
                {"v": str(questions[0].tolist())},
            ).scalars().all()
        )  # fmt: skip
        assert any("_hnsw" in line for line in plan)
