"""Candidates of a search, and figures put in order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.index.scoring import Place
from bedside.knowledge.index.segment import Segment

__all__ = ["DEPTH", "Places", "best_of", "deepest", "descending", "standard"]

DEPTH = 200
"""How far down each list is read."""


class Places(NamedTuple):
    """Candidates, each once, by segment and then by chunk: numbers of both."""

    segment: NDArray[np.int64]
    chunk: NDArray[np.int64]

    @classmethod
    def of(cls, places: Iterable[Place]) -> Places:
        """These places in their order here."""
        pairs = np.array(sorted(places), dtype=np.int64).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1])

    def and_those(self, others: Places) -> Places:
        """Both."""
        segment, chunk = (np.concatenate(pair) for pair in zip(self, others, strict=True))
        keys = np.unique((segment << 32) | chunk)
        return Places(keys >> 32, keys & 0xFFFFFFFF)

    def place(self, at: int) -> Place:
        """One of them."""
        return Place(int(self.segment[at]), int(self.chunk[at]))

    def id(self, segments: Sequence[Segment], at: int) -> str:
        """The id of one of them."""
        return segments[int(self.segment[at])].ids[int(self.chunk[at])]

    def listed(self) -> list[Place]:
        """All of them."""
        return [
            Place(*pair) for pair in zip(self.segment.tolist(), self.chunk.tolist(), strict=True)
        ]

    def at(self, places: Iterable[Place]) -> list[int]:
        """Where these stand among them."""
        others = np.array(list(places), dtype=np.int64).reshape(-1, 2)
        keys = (self.segment << 32) | self.chunk
        found: list[int] = np.searchsorted(keys, (others[:, 0] << 32) | others[:, 1]).tolist()
        return found

    def figures(self, figures: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """One figure of each, from arrays by segment."""
        if len(figures) == 1:
            return figures[0][self.chunk]
        found = np.zeros(len(self.chunk), dtype=figures[0].dtype)
        for number, own in enumerate(figures):
            here = self.segment == number
            found[here] = own[self.chunk[here]]
        return found


def descending(
    segments: Sequence[Segment],
    places: Places,
    values: NDArray[np.float64],
    *,
    last: NDArray[np.bool_] | None = None,
) -> list[int]:
    """Numbers of the places by value, the greatest first, those of `last` behind; ties by id."""
    keys = [-values] if last is None else [-values, last]
    if len(segments) == 1:
        ties = segments[0].standing[places.chunk]
        ordered: list[int] = np.lexsort([ties, *keys]).tolist()
        return ordered
    order = np.lexsort(keys)
    breaks = np.zeros(len(order), dtype=bool)
    for key in keys:
        breaks[1:] |= key[order][1:] != key[order][:-1]
    starts = np.flatnonzero(breaks).tolist()
    numbers: list[int] = order.tolist()
    for start, end in zip([0, *starts], [*starts, len(numbers)], strict=True):
        if end - start > 1:
            numbers[start:end] = sorted(numbers[start:end], key=lambda at: places.id(segments, at))
    return numbers


def deepest(
    segments: Sequence[Segment], places: Places, values: NDArray[np.float64], *, least: float
) -> list[int]:
    """Numbers of the `DEPTH` best places over `least`, ties by id."""
    over = np.flatnonzero(values > least)
    if len(over) > DEPTH:
        over = over[values[over] >= np.partition(values[over], -DEPTH)[-DEPTH]]
    kept = Places(places.segment[over], places.chunk[over])
    return [int(over[at]) for at in descending(segments, kept, values[over])[:DEPTH]]


def best_of(
    segments: Sequence[Segment],
    scores: Sequence[NDArray[np.float32]],
    hits: Sequence[NDArray[np.bool_]],
    *,
    least: float,
) -> list[Place]:
    """The best places over `least`, ties by id, so that how segments were cut is no matter."""
    numbers, chunks, values = [], [], []
    for number, (score, hit) in enumerate(zip(scores, hits, strict=True)):
        at = np.flatnonzero(hit & (score > least))
        numbers.append(np.full(len(at), number))
        chunks.append(at)
        values.append(score[at])
    places = Places(np.concatenate(numbers), np.concatenate(chunks))
    best = deepest(segments, places, np.concatenate(values).astype(np.float64), least=least)
    return [places.place(at) for at in best]


def standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values less their mean, in standard deviations; 0 where all are the same."""
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
