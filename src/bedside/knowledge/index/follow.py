"""An index outside the rows follows them: what a kill or a lost index left behind is made good.

The log of knowledge (`knowledge_change`) is the list of what to do, and a mark in the database says
how far each index has come. The mark moves only after the index has confirmed, and doing a thing
twice changes nothing; so a kill at any point costs a repetition and loses nothing.

Shared knowledge alone is followed. The vectors of patients' documents stay in their rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from bedside.core.value import value
from bedside.knowledge.index.protocol import Held, Scope, VectorIndex
from bedside.knowledge.index.rows import head_of_log, load_knowledge
from bedside.storage.store import Store
from bedside.storage.tables.jobs import meta
from bedside.storage.tables.knowledge import chunk_vector, knowledge_change
from bedside.storage.tables.source import chunk, source

__all__ = ["Follower", "Standing", "held_in_rows", "windows_in_rows"]

_AT_ONCE = 50
"""Documents between two marks; what a kill can cost."""


@value
class Standing:
    """How an index stands to the rows of one tenant: `mark` of `head` changes, windows of windows."""

    tenant: str
    mark: int
    head: int
    held: int
    wanted: int

    @property
    def whole(self) -> bool:
        """True where nothing is left to do."""
        return self.mark == self.head and self.held == self.wanted


class Follower:
    """Keeps one index in step with one store, for one model. Safe between threads."""

    def __init__(self, store: Store, index: VectorIndex, *, model: str) -> None:
        self._store, self._index, self._model = store, index, model
        self._looked: set[str] = set()
        self._opened = False
        self._guard = threading.Lock()

    def open(self) -> None:
        """Open the index, once.

        Raises:
            Unavailable: It does not answer.
            Conflict: It holds vectors of another size.
        """
        if not self._opened:
            self._index.open()
            self._opened = True

    def catch_up(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Bring what changed into the index; how many documents were written or dropped.

        The first time in a process each tenant's windows are counted on both sides, and where they
        differ every document is compared: an index that was emptied or restored fills again.

        Raises:
            Unavailable: The store or the index does not answer; the next call goes on from here.
            Conflict: The index holds vectors of another size.
        """
        with self._guard:
            self.open()
            done = 0
            for tenant in self._store.read_now(_tenants):
                done += self._follow(tenant, stop)
                if tenant not in self._looked and not stop():
                    if not self._standing(tenant).whole:
                        done += self._compare(tenant, stop)
                    self._looked.add(tenant)
            if done:
                self._index.settle()
            return done

    def repair(self) -> int:
        """Compare every document of every tenant with the index and mend what differs; how many did.

        Raises:
            Unavailable: The store or the index does not answer.
            Conflict: The index holds vectors of another size.
        """
        with self._guard:
            self.open()
            done = 0
            for tenant in self._store.read_now(_tenants):
                done += self._follow(tenant, lambda: False) + self._compare(tenant, lambda: False)
                self._looked.add(tenant)
            if done:
                self._index.settle()
            return done

    def standings(self) -> tuple[Standing, ...]:
        """How the index stands, by tenant.

        Raises:
            Unavailable: The store or the index does not answer.
            Conflict: The index holds vectors of another size.
        """
        self.open()
        return tuple(self._standing(tenant) for tenant in self._store.read_now(_tenants))

    def behind(self, connection: Connection, tenant: str, *, most: int) -> tuple[list[str], int]:
        """Documents that changed since the mark: the first `most` ids, and how many there are."""
        rows = _changed_last(connection, tenant, self._mark(connection, tenant))
        return [name for name, _ in rows[:most]], len(rows)

    # ---- steps

    def _follow(self, tenant: str, stop: Callable[[], bool]) -> int:
        done = 0
        while not stop():
            work = self._store.read_now(
                lambda c: _changed_last(c, tenant, self._mark(c, tenant))[:_AT_ONCE]
            )
            if not work:
                break
            for name, _ in work:
                self._write(tenant, name)
            self._store.write_now(lambda c, seq=work[-1][1]: self._set_mark(c, tenant, seq))
            done += len(work)
        return done

    def _write(self, tenant: str, name: str) -> None:
        entries = self._store.read_now(
            lambda c: load_knowledge(c, tenant, model=self._model, only=[name])
        )
        self._index.put(Scope(tenant=tenant), name, entries)

    def _compare(self, tenant: str, stop: Callable[[], bool]) -> int:
        wanted = self._store.read_now(lambda c: held_in_rows(c, tenant, self._model))
        held = self._index.documents(Scope(tenant=tenant))
        differ = [name for name in sorted({*wanted, *held}) if wanted.get(name) != held.get(name)]
        done = 0
        for name in differ:
            if stop():
                break
            self._write(tenant, name)
            done += 1
        return done

    def _standing(self, tenant: str) -> Standing:
        mark, head, wanted = self._store.read_now(
            lambda c: (
                self._mark(c, tenant),
                head_of_log(c, tenant),
                windows_in_rows(c, tenant, self._model),
            )
        )
        held = self._index.count(Scope(tenant=tenant))
        return Standing(tenant=tenant, mark=mark, head=head, held=held, wanted=wanted)

    # ---- the mark

    def _key(self, tenant: str) -> str:
        return f"vectors:{self._index.name}:{self._model}:{tenant}"

    def _mark(self, connection: Connection, tenant: str) -> int:
        found = select(meta.c.value).where(meta.c.key == self._key(tenant))
        return int(connection.execute(found).scalar() or 0)

    def _set_mark(self, connection: Connection, tenant: str, seq: int) -> None:
        if seq <= self._mark(connection, tenant):
            return
        own = meta.c.key == self._key(tenant)
        if not connection.execute(update(meta).where(own).values(value=str(seq))).rowcount:
            connection.execute(insert(meta).values(key=self._key(tenant), value=str(seq)))


def _tenants(connection: Connection) -> Sequence[str]:
    query = select(knowledge_change.c.tenant).distinct().order_by(knowledge_change.c.tenant)
    return connection.execute(query).scalars().all()


def _changed_last(connection: Connection, tenant: str, after: int) -> list[tuple[str, int]]:
    """Documents by the number of their newest change, those after a number alone, oldest first."""
    newest = func.max(knowledge_change.c.seq)
    rows = connection.execute(
        select(knowledge_change.c.source, newest.label("seq"))
        .where(knowledge_change.c.tenant == tenant, knowledge_change.c.seq > after)
        .group_by(knowledge_change.c.source)
        .order_by(newest)
    )
    return [(row.source, row.seq) for row in rows]


def _in_sight(tenant: str, model: str) -> ColumnElement[bool]:
    return and_(
        source.c.tenant == tenant,
        source.c.patient.is_(None),
        source.c.kind == "guideline",
        source.c.state == "ready",
        chunk_vector.c.model == model,
    )


_JOINED = chunk_vector.join(
    chunk, and_(chunk_vector.c.tenant == chunk.c.tenant, chunk_vector.c.chunk == chunk.c.id)
).join(
    source,
    and_(
        chunk.c.tenant == source.c.tenant,
        chunk.c.source == source.c.id,
        chunk.c.revision == source.c.revision,
    ),
)


def windows_in_rows(connection: Connection, tenant: str, model: str) -> int:
    """How many windows of shared knowledge a tenant has in sight."""
    query = select(func.count()).select_from(_JOINED).where(_in_sight(tenant, model))
    return connection.execute(query).scalar_one()


def held_in_rows(connection: Connection, tenant: str, model: str) -> dict[str, Held]:
    """What an index in step holds of each document."""
    rows = connection.execute(
        select(source.c.id, source.c.revision, func.count().label("windows"))
        .select_from(_JOINED)
        .where(_in_sight(tenant, model))
        .group_by(source.c.id, source.c.revision)
    )
    return {row.id: Held(revision=row.revision, windows=row.windows) for row in rows}
