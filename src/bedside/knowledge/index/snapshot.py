"""Shared knowledge held in memory, derived from rows and brought up to date from the log."""

from __future__ import annotations

import threading

from sqlalchemy import Connection

from bedside.knowledge.index.rows import changed, head_of_log, load_knowledge
from bedside.knowledge.index.segment import Segment

__all__ = ["MOST_SEGMENTS", "MOST_VECTORS", "Snapshot", "Snapshots"]

MOST_SEGMENTS = 8
"""More than these are merged by loading anew."""
MOST_VECTORS = 250_000
"""The tested bound of the embedded search; above it `bedside doctor` says so."""


class Snapshot:
    """One tenant's knowledge at one number of the change log. Never changes."""

    def __init__(self, *, seq: int, segments: tuple[Segment, ...]) -> None:
        self.seq, self.segments = seq, segments

    @property
    def vectors(self) -> int:
        """Rows of vectors held, dead ones included."""
        return sum(len(segment.vectors) for segment in self.segments)


class Snapshots:
    """The newest snapshot of each tenant, for one embedding model. Safe between threads.

    A patient's own documents are never kept here: they are read for each query.
    """

    def __init__(self, *, model: str | None, dim: int) -> None:
        self.model, self.dim = model, dim
        self._held: dict[str, Snapshot] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def at(self, connection: Connection, tenant: str) -> Snapshot:
        """The tenant's snapshot as of the connection's transaction, refreshed where rows changed."""
        head = head_of_log(connection, tenant)
        held = self._held.get(tenant)
        if held is not None and held.seq == head:
            return held
        with self._guard:
            lock = self._locks.setdefault(tenant, threading.Lock())
        with lock:
            held = self._held.get(tenant)
            if held is None or held.seq != head:
                fresh = self._refreshed(connection, tenant, held, head)
                if held is None or fresh.seq > held.seq:
                    self._held[tenant] = fresh
                return fresh
            return held

    def _refreshed(
        self, connection: Connection, tenant: str, held: Snapshot | None, head: int
    ) -> Snapshot:
        if held is None or head < held.seq or len(held.segments) >= MOST_SEGMENTS:
            return self.rebuilt(connection, tenant)
        sources = changed(connection, tenant, held.seq)
        segments = held.segments
        for source in sources:
            segments = tuple(segment.without(tenant, source) for segment in segments)
        entries = load_knowledge(connection, tenant, model=self.model, only=sources)
        if entries:
            segments = (*segments, Segment(entries, dim=self.dim))
        return Snapshot(seq=head, segments=tuple(s for s in segments if s.alive.any()))

    def rebuilt(self, connection: Connection, tenant: str) -> Snapshot:
        """A snapshot made from the rows alone; what every refreshed one must equal."""
        entries = load_knowledge(connection, tenant, model=self.model)
        segments = (Segment(entries, dim=self.dim),) if entries else ()
        return Snapshot(seq=head_of_log(connection, tenant), segments=segments)

    def forget(self, tenant: str | None = None) -> None:
        """Drop what is held, of one tenant or of all; the next search loads it again."""
        with self._guard:
            if tenant is None:
                self._held.clear()
            else:
                self._held.pop(tenant, None)
