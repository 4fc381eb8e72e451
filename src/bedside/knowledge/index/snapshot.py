"""Shared knowledge held in memory, derived from rows and brought up to date from the log.

What takes seconds to make from rows is kept in a file (`index.kept`) for the next process, under a key
that tells the state of the rows: the log's number and a digest of every source.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from bedside.knowledge.index import kept
from bedside.knowledge.index.rows import (
    changed,
    head_of_log,
    load_knowledge,
    reading,
    sources_digest,
)
from bedside.knowledge.index.segment import Segment

__all__ = ["LEAST_KEPT", "MOST_SEGMENTS", "MOST_VECTORS", "Snapshot", "Snapshots"]

MOST_SEGMENTS = 8
"""More than these are merged by loading anew."""
MOST_VECTORS = 250_000
"""The tested bound of the embedded search; above it `bedside doctor` says so."""
LEAST_KEPT = 2_000
"""Chunks from which a file is worth its while; fewer are read from the rows in a tenth of a second."""


class Snapshot:
    """One tenant's knowledge at one number of the change log. Never changes.

    `key` tells the state of the rows that a file of it would stand for; `None` where there is to be none.
    """

    def __init__(
        self, *, seq: int, segments: tuple[Segment, ...], key: Mapping[str, Any] | None = None
    ) -> None:
        self.seq, self.segments, self.key = seq, segments, key

    @property
    def vectors(self) -> int:
        """Rows of vectors held, dead ones included."""
        return sum(len(segment.vectors) for segment in self.segments)


class Snapshots:
    """The newest snapshot of each tenant, for one embedding model. Safe between threads.

    A patient's own documents are never kept here: they are read for each query. `folder` is where
    files of large libraries lie between processes; without one there are none.
    """

    def __init__(self, *, model: str | None, dim: int, folder: Path | None = None) -> None:
        self.model, self.dim, self.folder = model, dim, folder
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

    def held(self, tenant: str) -> tuple[Segment, ...]:
        """What a search found last, without a look at the rows; empty where nothing is loaded."""
        held = self._held.get(tenant)
        return () if held is None else held.segments

    def _refreshed(
        self, connection: Connection, tenant: str, held: Snapshot | None, head: int
    ) -> Snapshot:
        if held is None:
            return self._loaded(connection, tenant, head)
        self.discard(tenant)
        if head < held.seq or len(held.segments) >= MOST_SEGMENTS:
            return self.rebuilt(connection, tenant)
        sources = changed(connection, tenant, held.seq)
        segments = held.segments
        for source in sources:
            segments = tuple(segment.without(tenant, source) for segment in segments)
        entries = load_knowledge(connection, tenant, model=self.model, only=sources)
        if entries:
            segments = (*segments, Segment(entries, dim=self.dim))
        return Snapshot(seq=head, segments=tuple(s for s in segments if s.alive.any()))

    def _loaded(self, connection: Connection, tenant: str, head: int) -> Snapshot:
        """From the file, where it is of the very state of the rows; else from the rows."""
        if self.folder is None:
            return self.rebuilt(connection, tenant)
        key = {
            "format": kept.FORMAT,
            "reading": reading(),
            "tenant": tenant,
            "model": self.model,
            "dim": self.dim,
            "seq": head,
            "sources": sources_digest(connection, tenant),
        }
        path = kept.path_of(self.folder, tenant=tenant, model=self.model)
        segment = kept.restore(path, key)
        if segment is not None:
            return Snapshot(seq=head, segments=(segment,))
        return Snapshot(seq=head, segments=self.rebuilt(connection, tenant).segments, key=key)

    def keep(self, tenant: str) -> bool:
        """Write the tenant's file where the snapshot was made from rows and is large; whether it was."""
        held = self._held.get(tenant)
        if self.folder is None or held is None or held.key is None:
            return False
        if sum(len(segment) for segment in held.segments) < LEAST_KEPT:
            return False
        path = kept.path_of(self.folder, tenant=tenant, model=self.model)
        return kept.keep(path, held.segments[0], held.key)

    def settle(self, connection: Connection, tenant: str) -> None:
        """Remove the tenant's files where the rows have changed since they were written.

        For after `keep`: somebody may have removed a document, and found no file yet to remove.
        """
        held = self._held.get(tenant)
        if held is not None and held.seq != head_of_log(connection, tenant):
            self.discard(tenant)

    def discard(self, tenant: str) -> None:
        """Remove the files of a state that has passed, so that what was removed does not lie there."""
        if self.folder is not None:
            kept.discard(self.folder, tenant=tenant)

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
