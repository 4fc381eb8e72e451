"""Vectors in the PostgreSQL database itself, searched by pgvector."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Date,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    delete,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import SQLAlchemyError

from bedside.core.errors import Unavailable
from bedside.knowledge.index.entry import Entry
from bedside.knowledge.index.keywords import asked_of, keywords_of
from bedside.knowledge.index.nearest import chunks_nearest
from bedside.knowledge.index.protocol import (
    Held,
    Neighbour,
    Scope,
    other_size,
    rows_of,
    unit_query,
)
from bedside.knowledge.needs import Filters
from bedside.storage.failures import named
from bedside.storage.store import Store

__all__ = ["EXACT_BELOW", "PgVectorIndex"]

EXACT_BELOW = 20_000
"""Windows under which every vector of a scope is compared: fast enough, and exact."""
_MOST_INDEXED_COLUMNS = 2_000
"""What pgvector's graph takes; wider vectors are compared one by one."""
_ITERATES_FROM = (0, 8)
"""The version of the extension from which a filtered search goes on until enough pass."""
_BUILDERS = 4_216_008_322
"""The number of the lock of the process that builds a graph."""
_NAME = re.compile(r"knowledge_vector_(\d+)")


class PgVectorIndex:
    """A table for each size of vectors, beside the rows they come from; shared by all models.

    `exact_below` is the number of windows in the table from which a graph (HNSW) is built.
    """

    def __init__(
        self, store: Store, *, model: str, dim: int, exact_below: int = EXACT_BELOW
    ) -> None:
        self._store, self._model, self._dim = store, model, dim
        self._exact_below = exact_below

    @property
    def name(self) -> str:
        """As the setting says it."""
        return "pgvector"

    @property
    def dim(self) -> int:
        """As given."""
        return self._dim

    @cached_property
    def _table(self) -> Table:
        return _table(self._dim)

    def open(self) -> None:
        """The extension, the table and its indexes."""
        if self._store.is_sqlite:
            raise Unavailable(
                "the vector index (pgvector)",
                why="the store is SQLite",
                do="Set BEDSIDE_DATABASE to a PostgreSQL address, or BEDSIDE_VECTORS to memory.",
            )
        if not self._store.read_now(_has_extension):
            if not self._store.read_now(_may_have_extension):
                raise Unavailable(
                    "the vector index (pgvector)",
                    why="the PostgreSQL server does not have the extension 'vector'",
                    do="Install pgvector on the server, or set BEDSIDE_VECTORS to memory.",
                )
            self._store.write_now(
                lambda c: c.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            )
        found = self._store.read_now(_version)
        if found < _ITERATES_FROM:
            raise Unavailable(
                "the vector index (pgvector)",
                why=f"the extension 'vector' has version {found[0]}.{found[1]}, and 0.8 is needed",
                do="Update pgvector on the server, or set BEDSIDE_VECTORS to memory.",
            )
        for size in self._store.read_now(_sizes):
            if size != self._dim and self._store.read_now(lambda c, s=size: self._lives_in(c, s)):
                raise other_size("pgvector", found=size, want=self._dim)
        self._store.write_now(lambda c: self._table.create(c, checkfirst=True))

    def _lives_in(self, connection: Connection, size: int) -> bool:
        table = _table(size)
        query = select(table.c.chunk).where(table.c.model == self._model).limit(1)
        return connection.execute(query).first() is not None

    def put(self, scope: Scope, document: str, entries: Sequence[Entry]) -> None:
        """In one transaction."""
        rows = [
            self._row(scope, entry, window, row)
            for entry, window, row in rows_of(entries, self._dim)
        ]

        def write(connection: Connection) -> None:
            connection.execute(delete(self._table).where(self._of(scope, document)))
            if rows:
                connection.execute(insert(self._table), rows)

        self._store.write_now(write)

    def _row(
        self, scope: Scope, entry: Entry, window: int, vector: NDArray[np.float32]
    ) -> dict[str, Any]:
        words = keywords_of(entry.document)
        return {
            "tenant": scope.tenant,
            "patient": scope.patient or "",
            "model": self._model,
            "chunk": entry.id,
            "window": window,
            "document_id": entry.document.id,
            "revision": entry.document.revision,
            "specialty": words.specialty,
            "document_type": words.type,
            "conditions": list(words.conditions),
            "drugs": list(words.drugs),
            "published": words.published,
            "embedding": vector,
        }

    def remove(self, scope: Scope, document: str) -> None:
        """In one transaction."""
        self._store.write_now(
            lambda c: c.execute(delete(self._table).where(self._of(scope, document)))
        )

    def remove_patient(self, tenant: str, patient: str) -> int:
        """From the tables of every size, in one transaction."""
        scope = Scope(tenant=tenant, patient=patient)

        def work(connection: Connection) -> int:
            gone = 0
            for size in _sizes(connection):
                table = _table(size)
                own = and_(table.c.tenant == scope.tenant, table.c.patient == scope.patient)
                gone += connection.execute(delete(table).where(own)).rowcount
            return gone

        return self._store.write_now(work)

    def nearest(
        self, scope: Scope, vector: NDArray[np.float32], *, filters: Filters, limit: int
    ) -> tuple[Neighbour, ...]:
        """Exact while the table has no graph; then by the graph, walked until enough pass."""
        query = unit_query(vector, self._dim)
        table = self._table
        distance = table.c.embedding.cosine_distance(query)
        wanted = select(table.c.chunk, table.c.document_id, distance.label("distance")).where(
            self._in(scope), *self._passing(filters)
        )

        def work(connection: Connection) -> tuple[Neighbour, ...]:
            connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))

            def fetch(most: int) -> list[Neighbour]:
                width = max(40, min(most * 2, 1_000))
                connection.execute(text(f"SET LOCAL hnsw.ef_search = {width}"))
                rows = connection.execute(wanted.order_by(distance).limit(most)).all()
                return [
                    Neighbour(
                        chunk=row.chunk,
                        document=row.document_id,
                        similarity=round(1.0 - float(row.distance), 5),
                    )
                    for row in rows
                ]

            return chunks_nearest(fetch, limit=limit)

        return self._store.read_now(work)

    def count(self, scope: Scope) -> int:
        """Rows of the scope."""
        query = select(func.count()).select_from(self._table).where(self._in(scope))
        return self._store.read_now(lambda c: c.execute(query).scalar_one())

    def documents(self, scope: Scope) -> Mapping[str, Held]:
        """Grouped in the database. A document of mixed revisions shows the oldest."""
        table = self._table
        query = (
            select(
                table.c.document_id,
                func.min(table.c.revision).label("revision"),
                func.count().label("windows"),
            )
            .where(self._in(scope))
            .group_by(table.c.document_id)
        )
        rows = self._store.read_now(lambda c: c.execute(query).all())
        return {r.document_id: Held(revision=r.revision, windows=r.windows) for r in rows}

    def settle(self) -> None:
        """Build the graph once the table is large enough, and tell the planner what is there."""
        every = select(func.count()).select_from(self._table)
        rows = self._store.read_now(lambda c: c.execute(every).scalar_one())
        try:
            if rows >= self._exact_below and self._dim <= _MOST_INDEXED_COLUMNS:
                self._build()
            self._store.write_now(lambda c: c.execute(text(f"ANALYZE {self._table.name}")))
        except SQLAlchemyError as error:
            raise named(error) from None

    def _build(self) -> None:
        """The graph, beside readers and writers; one process builds, and what it left is cleared."""
        graph = f"ix_{self._table.name}_hnsw"
        valid = text(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:graph)"
        ).bindparams(graph=graph)
        with self._store.engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            if not connection.execute(text(f"SELECT pg_try_advisory_lock({_BUILDERS})")).scalar():
                return
            try:
                whole = connection.execute(valid).scalar()
                if whole is False:  # its builder was killed
                    connection.execute(text(f"DROP INDEX CONCURRENTLY {graph}"))
                if not whole:
                    connection.execute(
                        text(
                            f"CREATE INDEX CONCURRENTLY {graph} ON {self._table.name} "
                            "USING hnsw (embedding vector_cosine_ops)"
                        )
                    )
            finally:
                connection.execute(text(f"SELECT pg_advisory_unlock({_BUILDERS})"))

    def close(self) -> None:
        """The connections are the store's."""

    def _in(self, scope: Scope) -> ColumnElement[bool]:
        table = self._table
        return and_(
            table.c.tenant == scope.tenant,
            table.c.patient == (scope.patient or ""),
            table.c.model == self._model,
        )

    def _of(self, scope: Scope, document: str) -> ColumnElement[bool]:
        return and_(self._in(scope), self._table.c.document_id == document)

    def _passing(self, filters: Filters) -> list[ColumnElement[bool]]:
        asked, table = asked_of(filters), self._table
        found: list[ColumnElement[bool]] = []
        if asked.specialty is not None:
            found.append(table.c.specialty == asked.specialty)
        if asked.type is not None:
            found.append(table.c.document_type == asked.type)
        if asked.condition is not None:
            found.append(table.c.conditions.contains([asked.condition]))
        if asked.drug is not None:
            found.append(table.c.drugs.contains([asked.drug]))
        if asked.document is not None:
            found.append(table.c.document_id == asked.document)
        if asked.since is not None:
            found.append(table.c.published >= asked.since)
        return found


def _table(dim: int) -> Table:
    name = f"knowledge_vector_{dim}"
    table = Table(
        name,
        MetaData(),
        Column("tenant", String, primary_key=True),
        Column("patient", String, primary_key=True),  # "": shared knowledge
        Column("model", String, primary_key=True),
        Column("chunk", String, primary_key=True),
        Column("window", Integer, primary_key=True),
        Column("document_id", String, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("specialty", String, nullable=False),
        Column("document_type", String, nullable=False),
        Column("conditions", ARRAY(String), nullable=False),
        Column("drugs", ARRAY(String), nullable=False),
        Column("published", Date),
        Column("embedding", VECTOR(dim), nullable=False),
    )
    Index(f"ix_{name}_document_id", table.c.tenant, table.c.patient, table.c.document_id)
    Index(f"ix_{name}_specialty", table.c.specialty)
    Index(f"ix_{name}_document_type", table.c.document_type)
    Index(f"ix_{name}_conditions", table.c.conditions, postgresql_using="gin")
    Index(f"ix_{name}_drugs", table.c.drugs, postgresql_using="gin")
    Index(f"ix_{name}_published", table.c.published)
    return table


def _has_extension(connection: Connection) -> bool:
    query = text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
    return connection.execute(query).first() is not None


def _version(connection: Connection) -> tuple[int, int]:
    query = text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    major, minor = str(connection.execute(query).scalar()).split(".")[:2]
    return int(major), int(minor)


def _may_have_extension(connection: Connection) -> bool:
    query = text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    return connection.execute(query).first() is not None


def _sizes(connection: Connection) -> list[int]:
    found = (_NAME.fullmatch(name) for name in inspect(connection).get_table_names())
    return sorted(int(match[1]) for match in found if match)
