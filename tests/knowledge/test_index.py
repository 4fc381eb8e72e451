"""Every index of vectors keeps the same promises: memory, pgvector (by scan and by graph), Qdrant."""

from __future__ import annotations

import pytest

from bedside.knowledge.index.memory import MemoryIndex
from bedside.knowledge.index.pgvector import PgVectorIndex
from bedside.knowledge.index.qdrant import QdrantIndex, connect
from bedside.storage.engine import open_engine
from bedside.storage.store import Store
from bedside.testing.vector_index import VectorIndexContract


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
    exact_below = 20_000

    @pytest.fixture
    def make(self, database: str):
        store = Store(open_engine(database))
        yield lambda dim=8, model="m": PgVectorIndex(
            store, model=model, dim=dim, exact_below=self.exact_below
        )
        store.close()


@pytest.mark.slow
class TestPgVectorByGraph(TestPgVector):
    """The same with a graph from the first row on."""

    exact_below = 0

    @pytest.fixture
    def index(self, make):
        made = make()
        made.open()
        made.settle()
        return made
