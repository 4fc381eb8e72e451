"""Knowledge too large for vectors in memory: an index names candidates, and rows give their vectors.

Words are searched in memory as ever. The index only says which chunks are near; their vectors come
from the rows, so every similarity is exact and a stale index can leave something out but never put
something in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import Connection, select

from bedside.core.errors import Conflict, OutsideError
from bedside.core.value import value
from bedside.knowledge.embed.protocol import Floats2d
from bedside.knowledge.filters import allowed, named
from bedside.knowledge.index.follow import Follower, windows_in_rows
from bedside.knowledge.index.protocol import Neighbour, Scope, VectorIndex
from bedside.knowledge.index.rows import head_of_log
from bedside.knowledge.index.scoring import Statistics, lexical
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.places import DEPTH
from bedside.knowledge.question import Question
from bedside.storage.tables.knowledge import chunk_vector

__all__ = ["Near", "Outside", "with_vectors"]

_MOST_BEHIND = 100
"""Documents that changed since the index's mark, and are compared beside it."""
_AT_ONCE = 400


@value
class Near:
    """What the index gave: neighbours by tenant; `None` where it did not serve, for `why`."""

    found: tuple[tuple[str, Neighbour], ...] | None
    why: str = ""


class Outside:
    """An index, its follower, and the number of vectors from which it searches."""

    def __init__(
        self, index: VectorIndex, follower: Follower, *, model: str, most_in_memory: int
    ) -> None:
        self.index, self.follower = index, follower
        self._model, self._most = model, most_in_memory
        self._counted: dict[str, tuple[int, int]] = {}

    def serves(self, connection: Connection, tenants: Sequence[str]) -> bool:
        """True where these tenants' vectors of knowledge are more than memory is to hold."""
        return sum(self._windows(connection, tenant) for tenant in tenants) > self._most

    def _windows(self, connection: Connection, tenant: str) -> int:
        head = head_of_log(connection, tenant)
        known = self._counted.get(tenant)
        if known is None or known[0] != head:
            known = (head, windows_in_rows(connection, tenant, self._model))
            self._counted[tenant] = known
        return known[1]

    def near(self, tenants: Sequence[str], question: Question, filters: Filters) -> Near:
        """The nearest chunks of each tenant. Called outside a transaction: the index may be far."""
        if question.vector is None:
            return Near(found=())
        found: list[tuple[str, Neighbour]] = []
        try:
            self.follower.open()
            for tenant in tenants:
                near = self.index.nearest(
                    Scope(tenant=tenant), question.vector, filters=filters, limit=DEPTH
                )
                found.extend((tenant, one) for one in near)
        except OutsideError:
            return Near(found=None, why="dense failed: the vector index did not answer")
        except Conflict:
            return Near(found=None, why="dense failed: the vector index holds another size")
        return Near(found=tuple(found))

    def behind(self, connection: Connection, tenants: Sequence[str]) -> tuple[list[str], int]:
        """Documents whose newest state the index may not have: ids to compare beside it, and all."""
        names: list[str] = []
        count = 0
        for tenant in tenants:
            some, many = self.follower.behind(connection, tenant, most=_MOST_BEHIND)
            names.extend(some)
            count += many
        return names, max(count - len(names), 0)


def with_vectors(
    connection: Connection,
    segments: Sequence[Segment],
    question: Question,
    *,
    filters: Filters,
    near: Iterable[tuple[str, Neighbour]],
    also: Iterable[str],
    model: str,
) -> tuple[Segment, ...]:
    """The segments with the vectors of every chunk that could be ranked, read from its rows.

    Candidates are the neighbours, the best by words, the chunks of documents that the query names,
    and those of the documents `also`.
    """
    if question.vector is None:
        return tuple(segments)
    masks, _ = allowed(segments, filters)
    by_tenant: dict[str, set[str]] = {}
    for tenant, one in near:
        by_tenant.setdefault(tenant, set()).add(one.chunk)
    late = set(also)
    statistics = Statistics.of(segments)
    words = lexical(segments, question.concepts, statistics=statistics).scores
    best = _best(words, masks)
    made: list[Segment] = []
    for number, segment in enumerate(segments):
        ids = by_tenant.get(segment.documents[0].tenant, set())
        chosen = {place for place in map(segment.place_of, ids) if place is not None}
        chosen.update(best[number])
        owners = [at for at, document in enumerate(segment.documents) if document.id in late]
        chosen.update(np.flatnonzero(np.isin(segment.owner, owners)).tolist())
        chosen.update(_of(segment, list(named(segment, question)), words[number]))
        alive = sorted(place for place in chosen if masks[number][place])
        made.append(segment.bearing(_vectors(connection, segment, alive, model)))
    return tuple(made)


def _best(scores: Sequence[np.ndarray], masks: Sequence[np.ndarray]) -> list[list[int]]:
    """The best by words over all segments together, and every equal of the last of them."""
    passing = [np.where(mask, score, 0.0) for score, mask in zip(scores, masks, strict=True)]
    every = np.concatenate(passing)
    cut = 0.0
    if len(every) > DEPTH:
        cut = float(np.partition(every, len(every) - DEPTH)[len(every) - DEPTH])
    return [np.flatnonzero((own > 0) & (own >= cut)).tolist() for own in passing]


def _of(segment: Segment, owners: list[int], scores: np.ndarray) -> list[int]:
    """The chunks of some documents, the best by words where they are very many."""
    own = np.flatnonzero(np.isin(segment.owner, owners))
    order = np.argsort(-scores[own], kind="stable")[: DEPTH * 10]
    return own[order].tolist()


def _vectors(
    connection: Connection, segment: Segment, places: Sequence[int], model: str
) -> dict[int, Floats2d]:
    blobs: dict[str, list[bytes]] = {}
    ids = {segment.ids[place]: place for place in places}
    wanted = list(ids)
    for at in range(0, len(wanted), _AT_ONCE):
        rows = connection.execute(
            select(chunk_vector.c.chunk, chunk_vector.c.data)
            .where(
                chunk_vector.c.tenant == segment.documents[0].tenant,
                chunk_vector.c.model == model,
                chunk_vector.c.chunk.in_(wanted[at : at + _AT_ONCE]),
            )
            .order_by(chunk_vector.c.chunk, chunk_vector.c.window)
        )
        for row in rows:
            blobs.setdefault(row.chunk, []).append(row.data)
    return {
        ids[name]: np.frombuffer(b"".join(parts), dtype="<f4").reshape(len(parts), -1)
        for name, parts in blobs.items()
        if segment.documents[int(segment.owner[ids[name]])].ready
    }
