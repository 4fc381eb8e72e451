"""Vectors in Qdrant: a server by its address, or a folder of this process."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient
from qdrant_client import models as q
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException

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

__all__ = ["QdrantIndex", "connect"]

_PREFIX = "bedside-"
_POINTS = uuid.UUID("4b1d9c0e-6c1f-5d55-9a63-0a4f4f1c8f11")
"""The space of our points' ids: the same window has the same id in every run."""
_AT_ONCE = 256
_PAGE = 1_000
_KEYWORDS = ("patient", "document_id", "specialty", "document_type", "conditions", "drugs")


def connect(address: str, *, key: str = "", seconds: int = 5) -> QdrantClient:
    """A client: of a server where `address` is one, else of a folder (":memory:" keeps none).

    Nothing is sent yet.
    """
    if address == ":memory:":
        return QdrantClient(location=address)
    if "://" not in address:
        return QdrantClient(path=address)
    return QdrantClient(
        url=address, api_key=key or None, timeout=seconds, check_compatibility=False
    )


class QdrantIndex:
    """A collection for each model, with payload indexes on the scope and the filters' fields.

    `local` says that the client is of this process: it compares every vector and needs no indexes.
    """

    def __init__(self, client: QdrantClient, *, model: str, dim: int, local: bool) -> None:
        self._client, self._dim, self._local = client, dim, local
        slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
        self._name = f"{_PREFIX}{slug}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"
        # The client in this process is not safe between threads.
        self._guard: contextlib.AbstractContextManager[Any] = (
            threading.RLock() if local else contextlib.nullcontext()
        )

    @property
    def name(self) -> str:
        """As the setting says it."""
        return "qdrant"

    @property
    def dim(self) -> int:
        """As given."""
        return self._dim

    def open(self) -> None:
        """The collection and its payload indexes."""
        with self._asking():
            if not self._client.collection_exists(self._name):
                self._create()
            vectors = self._client.get_collection(self._name).config.params.vectors
            size = vectors.size if isinstance(vectors, q.VectorParams) else 0
            if size != self._dim:
                raise other_size("qdrant", found=size, want=self._dim)
            if self._local:
                return
            tenants = q.KeywordIndexParams(type=q.KeywordIndexType.KEYWORD, is_tenant=True)
            self._client.create_payload_index(self._name, "tenant", tenants)
            for field in _KEYWORDS:
                self._client.create_payload_index(self._name, field, q.PayloadSchemaType.KEYWORD)
            self._client.create_payload_index(self._name, "published", q.PayloadSchemaType.DATETIME)

    def _create(self) -> None:
        size = q.VectorParams(size=self._dim, distance=q.Distance.COSINE)
        try:
            self._client.create_collection(self._name, vectors_config=size)
        except ApiException:
            if not self._client.collection_exists(self._name):  # else another process was faster
                raise

    def put(self, scope: Scope, document: str, entries: Sequence[Entry]) -> None:
        """The new windows first, then away with what else the document had."""
        points = [
            self._point(scope, entry, window, row)
            for entry, window, row in rows_of(entries, self._dim)
        ]
        with self._asking():
            for at in range(0, len(points), _AT_ONCE):
                self._client.upsert(self._name, points[at : at + _AT_ONCE], wait=True)
            own = [*_in(scope), _is("document_id", document)]
            others = [q.HasIdCondition(has_id=[point.id for point in points])] if points else None
            self._client.delete(
                self._name,
                q.FilterSelector(filter=q.Filter(must=own, must_not=others)),  # pyright: ignore[reportArgumentType] - invariant lists
                wait=True,
            )

    def _point(
        self, scope: Scope, entry: Entry, window: int, vector: NDArray[np.float32]
    ) -> q.PointStruct:
        words = keywords_of(entry.document)
        own = "\x1f".join((scope.tenant, scope.patient or "", entry.id, str(window)))
        payload: dict[str, Any] = {
            "tenant": scope.tenant,
            "patient": scope.patient or "",
            "document_id": entry.document.id,
            "revision": entry.document.revision,
            "chunk": entry.id,
            "specialty": words.specialty,
            "document_type": words.type,
            "conditions": list(words.conditions),
            "drugs": list(words.drugs),
        }
        if words.published is not None:
            payload["published"] = f"{words.published.isoformat()}T00:00:00Z"
        return q.PointStruct(
            id=str(uuid.uuid5(_POINTS, own)), vector=vector.tolist(), payload=payload
        )

    def remove(self, scope: Scope, document: str) -> None:
        """By filter; returns when it is done."""
        self.put(scope, document, ())

    def remove_patient(self, tenant: str, patient: str) -> int:
        """From the collections of every model; returns when it is done."""
        scope = Scope(tenant=tenant, patient=patient)
        gone = 0
        with self._asking():
            for found in self._client.get_collections().collections:
                if found.name.startswith(_PREFIX):
                    own = q.Filter(must=_in(scope))
                    gone += self._client.count(found.name, own, exact=True).count
                    self._client.delete(found.name, q.FilterSelector(filter=own), wait=True)
        return gone

    def nearest(
        self, scope: Scope, vector: NDArray[np.float32], *, filters: Filters, limit: int
    ) -> tuple[Neighbour, ...]:
        """By the collection's graph; Qdrant itself compares all where few pass the filters."""
        query = unit_query(vector, self._dim).tolist()
        passing = q.Filter(must=[*_in(scope), *_passing(filters)])

        def fetch(most: int) -> list[Neighbour]:
            with self._asking():
                found = self._client.query_points(
                    self._name,
                    query=query,
                    query_filter=passing,
                    limit=most,
                    with_payload=["chunk", "document_id"],
                    search_params=None
                    if self._local
                    else q.SearchParams(hnsw_ef=max(128, most * 2)),
                ).points
            return [
                Neighbour(
                    chunk=(point.payload or {})["chunk"],
                    document=(point.payload or {})["document_id"],
                    similarity=round(float(point.score), 5),
                )
                for point in found
            ]

        return chunks_nearest(fetch, limit=limit)

    def count(self, scope: Scope) -> int:
        """Exact."""
        with self._asking():
            own = q.Filter(must=_in(scope))
            return self._client.count(self._name, own, exact=True).count

    def documents(self, scope: Scope) -> Mapping[str, Held]:
        """Read page by page. A document of mixed revisions shows the oldest."""
        found: dict[str, Held] = {}
        page: Any = None
        while True:
            with self._asking():
                points, page = self._client.scroll(
                    self._name,
                    scroll_filter=q.Filter(must=_in(scope)),
                    limit=_PAGE,
                    offset=page,
                    with_payload=["document_id", "revision"],
                )
            for point in points:
                own = point.payload or {}
                known = found.get(own["document_id"], Held(revision=own["revision"], windows=0))
                found[own["document_id"]] = Held(
                    revision=min(known.revision, own["revision"]), windows=known.windows + 1
                )
            if page is None:
                return found

    def settle(self) -> None:
        """Qdrant builds its graph by itself."""

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Failures of the server as our own error, without what was sent."""
        try:
            with self._guard:
                yield
        except (ApiException, ResponseHandlingException, httpx.HTTPError, OSError) as error:
            raise Unavailable(
                "the vector index (Qdrant)",
                why=f"it does not answer ({type(error).__name__})",
                do="Check BEDSIDE_QDRANT and that the server runs, then try again.",
            ) from None


def _is(field: str, wanted: str) -> q.FieldCondition:
    return q.FieldCondition(key=field, match=q.MatchValue(value=wanted))


def _in(scope: Scope) -> list[q.Condition]:
    return [_is("tenant", scope.tenant), _is("patient", scope.patient or "")]


def _passing(filters: Filters) -> list[q.Condition]:
    asked = asked_of(filters)
    exact = (
        ("specialty", asked.specialty),
        ("document_type", asked.type),
        ("conditions", asked.condition),
        ("drugs", asked.drug),
        ("document_id", asked.document),
    )
    found: list[q.Condition] = [_is(field, word) for field, word in exact if word is not None]
    if asked.since is not None:
        start = datetime.combine(asked.since, time.min, tzinfo=UTC)
        found.append(q.FieldCondition(key="published", range=q.DatetimeRange(gte=start)))
    return found
