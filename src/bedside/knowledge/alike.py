"""Passages that resemble each other lend each other a part of their score. Pure.

What answers a question seldom stands alone: passages close to a good one are likelier to be good
(van Rijsbergen's cluster hypothesis; Diaz 2005). Two passages are alike by their vectors and by their
words, in equal parts; the likeness is sharpened, so that a near twin counts for more than a cousin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.index.scoring import Place, Statistics
from bedside.knowledge.index.segment import Segment

__all__ = ["NEIGHBOURHOOD", "NEIGHBOURS", "NEIGHBOURS_SHARE", "alike_in_words", "with_neighbours"]

NEIGHBOURHOOD = 100
NEIGHBOURS = 20
NEIGHBOURS_SHARE = 0.4
"""Among so many of the best, a passage's so many nearest give this share of its score."""
SHARPNESS = 4
"""The power of a likeness that weighs a neighbour."""

Floats = NDArray[np.float64]


def with_neighbours(
    segments: Sequence[Segment],
    vector: NDArray[np.float32] | None,
    places: Sequence[Place],
    scores: Floats,
    statistics: Statistics,
) -> Floats:
    """The scores, those of the best mixed with what the passages nearest to each of them score.

    Args:
        segments: Where the places are.
        vector: The question's: of a passage the window nearest to it speaks. Without one nothing moves.
        places: The candidates.
        scores: Standardised, in the order of `places`.
        statistics: Of all segments.
    """
    if vector is None or len(places) <= NEIGHBOURS:
        return scores
    best = np.argsort(-np.round(scores, 6), kind="stable")[:NEIGHBOURHOOD]
    chosen = [places[i] for i in best.tolist()]
    rows = np.zeros((len(best), len(vector)), dtype=np.float32)
    for number, place in enumerate(chosen):
        own = segments[place.segment].vectors_of(place.chunk)
        if len(own):
            rows[number] = own[int(np.argmax(own @ vector))]
    alike = np.maximum(np.round(rows @ rows.T, 5), 0.0).astype(np.float64)
    alike += alike_in_words(segments, chosen, statistics)
    np.fill_diagonal(alike, 0.0)
    most = min(NEIGHBOURS, len(best) - 1)
    least = np.partition(alike, len(best) - most, axis=1)[:, len(best) - most, None]
    alike[alike < least] = 0.0
    alike **= SHARPNESS
    whole = alike.sum(axis=1)
    near = np.divide(alike @ scores[best], whole, out=scores[best].copy(), where=whole > 0)
    mixed = scores.copy()
    mixed[best] = (1 - NEIGHBOURS_SHARE) * scores[best] + NEIGHBOURS_SHARE * near
    return mixed


def alike_in_words(
    segments: Sequence[Segment], places: Sequence[Place], statistics: Statistics
) -> Floats:
    """Cosine of every two places by their stems, shape (places, places), each in [0, 1].

    A stem weighs (1 + log of its count) times its rarity among all living chunks.
    """
    row, number, count, names = _stems_at(segments, places)
    distinct, column, held_by = np.unique(number, return_inverse=True, return_counts=True)
    rarity = _rarity(segments, distinct, names, statistics)
    weight = (1.0 + np.log(count)) * rarity[column]
    length = np.sqrt(np.bincount(row, weights=weight**2, minlength=len(places)))
    shared = held_by > 1  # a stem of one passage alone makes it longer, and like no other
    renumbered = np.cumsum(shared) - 1
    kept = shared[column]
    table = np.zeros((len(places), int(shared.sum())), dtype=np.float32)
    worth = weight[kept] / np.maximum(length[row[kept]], 1e-9)
    table[row[kept], renumbered[column[kept]]] = worth
    likeness = np.round(np.asarray(table @ table.T, dtype=np.float64), 5)
    np.fill_diagonal(likeness, 1.0)
    return likeness


def _stems_at(
    segments: Sequence[Segment], places: Sequence[Place]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, list[str]]:
    """Every stem of every place: the place's row, the stem's number, its count; and names beyond.

    Stems are numbered by the first segment; those that it does not know follow, in the list's order.
    """
    first = segments[0]
    beyond: dict[str, int] = {}
    numbers: list[NDArray[np.int32]] = []
    counts: list[NDArray[np.uint16]] = []
    for place in places:
        own, count = segments[place.segment].stems_of(place.chunk)
        if place.segment:
            names = segments[place.segment].names_of(own)
            own = np.array([_number(first, beyond, name) for name in names], dtype=np.int32)
        numbers.append(own)
        counts.append(count)
    rows = np.repeat(np.arange(len(places)), [len(own) for own in numbers])
    every = np.concatenate(counts).astype(np.float64)
    return rows, np.concatenate(numbers), every, list(beyond)


def _number(first: Segment, beyond: dict[str, int], name: str) -> int:
    known = first.terms.get(name)
    return beyond.setdefault(name, len(first.names) + len(beyond)) if known is None else known


def _rarity(
    segments: Sequence[Segment],
    numbers: NDArray[np.int32],
    beyond: Sequence[str],
    statistics: Statistics,
) -> Floats:
    """Inverse document frequency of stems by number, over all segments."""
    first = segments[0]
    known = numbers < len(first.names)
    holding = np.zeros(len(numbers), dtype=np.int64)
    holding[known] = first.frequencies[numbers[known]]
    if len(segments) > 1:
        names = [
            first.names[n] if n < len(first.names) else beyond[n - len(first.names)]
            for n in map(int, numbers)
        ]
        for segment in segments[1:]:
            places = np.array([segment.terms.get(name, -1) for name in names], dtype=np.int64)
            found = places >= 0
            holding[found] += segment.frequencies[places[found]]
    return np.log(1.0 + (statistics.chunks - holding + 0.5) / (holding + 0.5))
