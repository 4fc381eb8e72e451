"""An index in this process's memory: exact, and gone with the process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.filters import allowed
from bedside.knowledge.index.entry import Entry
from bedside.knowledge.index.nearest import chunks_nearest
from bedside.knowledge.index.protocol import Held, Neighbour, Scope, rows_of, unit_query
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters

__all__ = ["MemoryIndex"]


class MemoryIndex:
    """The segments of the snapshots behind the calls of `VectorIndex`, filled by hand."""

    def __init__(self, *, dim: int) -> None:
        self._dim = dim
        self._held: dict[tuple[str, str | None], tuple[Segment, ...]] = {}
        self._guard = threading.Lock()

    @property
    def name(self) -> str:
        """As the setting says it."""
        return "memory"

    @property
    def dim(self) -> int:
        """As given."""
        return self._dim

    def open(self) -> None:
        """Nothing to make."""

    def put(self, scope: Scope, document: str, entries: Sequence[Entry]) -> None:
        """Hold exactly these."""
        rows_of(entries, self._dim)
        own = [entry for entry in entries if entry.vectors is not None]
        with self._guard:
            left = self._without(scope, document)
            added = (Segment(own, dim=self._dim),) if own else ()
            self._held[scope.tenant, scope.patient] = (*left, *added)

    def remove(self, scope: Scope, document: str) -> None:
        """Drop a document."""
        with self._guard:
            self._held[scope.tenant, scope.patient] = self._without(scope, document)

    def _without(self, scope: Scope, document: str) -> tuple[Segment, ...]:
        segments = self._held.get((scope.tenant, scope.patient), ())
        left = (segment.without(scope.tenant, document) for segment in segments)
        return tuple(segment for segment in left if segment.alive.any())

    def remove_patient(self, tenant: str, patient: str) -> int:
        """Drop a patient's whole scope."""
        scope = Scope(tenant=tenant, patient=patient)
        gone = self.count(scope)
        with self._guard:
            self._held.pop((scope.tenant, scope.patient), None)
        return gone

    def nearest(
        self, scope: Scope, vector: NDArray[np.float32], *, filters: Filters, limit: int
    ) -> tuple[Neighbour, ...]:
        """Exact: every vector of the scope is compared."""
        query = unit_query(vector, self._dim)
        segments = self._held.get((scope.tenant, scope.patient), ())
        masks, _ = allowed(segments, filters)
        found: list[Neighbour] = []
        for segment, mask in zip(segments, masks, strict=True):
            scores = np.round(segment.similarities(query), 5)
            found.extend(
                Neighbour(
                    chunk=segment.ids[at],
                    document=segment.documents[int(segment.owner[at])].id,
                    similarity=float(scores[at]),
                )
                for at in np.flatnonzero(mask).tolist()
            )
        found.sort(key=lambda near: (-near.similarity, near.chunk))
        return chunks_nearest(lambda most: found[:most], limit=limit)

    def count(self, scope: Scope) -> int:
        """Windows held."""
        return sum(held.windows for held in self.documents(scope).values())

    def documents(self, scope: Scope) -> Mapping[str, Held]:
        """What is held of each document."""
        found: dict[str, Held] = {}
        for segment in self._held.get((scope.tenant, scope.patient), ()):
            for place, document in enumerate(segment.documents):
                alive = segment.alive & (segment.owner == place)
                windows = int(alive[segment.window_owner].sum())
                if windows:
                    found[document.id] = Held(revision=document.revision, windows=windows)
        return found

    def settle(self) -> None:
        """Nothing to build."""

    def close(self) -> None:
        """Nothing to let go of."""
