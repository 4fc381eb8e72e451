"""A question asked once more with what its best hits have in common. Pure.

Rocchio 1971 for the vector; RM3 (Abdul-Jaleel and others 2004) for the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.first import Scores, same_again
from bedside.knowledge.index.scoring import (
    Place,
    Statistics,
    cosine_at,
    frequency,
    lexical_at,
    weight_of,
)
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.places import Places
from bedside.knowledge.question import Question

__all__ = ["ask_again"]

FEEDBACK = 15
FEEDBACK_LEAST = 5
FEEDBACK_PER = 50
"""One more hit is asked back for so many chunks; a library too small for five has few good ones."""
FEEDBACK_TERMS = 50
FEEDBACK_MIX = 0.5
FEEDBACK_PULL = 0.75


def ask_again(
    segments: Sequence[Segment],
    question: Question,
    first: Scores,
    scores: Mapping[Place, float],
    statistics: Statistics,
    places: Places,
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Words and cosine of the candidates, in the order of `places`, for the moved question."""
    most = min(FEEDBACK, statistics.chunks // FEEDBACK_PER)
    if most < FEEDBACK_LEAST:
        return same_again(first, places)
    telling = [place for place in scores if not segments[place.segment].aside[place.chunk]]
    best = sorted(telling, key=lambda p: (-scores[p], segments[p.segment].ids[p.chunk]))[:most]
    if not best:
        return same_again(first, places)
    shares = _strength(first, best)
    shares /= shares.sum()
    words = vectors = None
    if first.words is not None:
        terms = _fed_terms(segments, question, best, shares, statistics)
        words = lexical_at(segments, terms, places.listed(), statistics=statistics)
    if first.vectors is not None and question.vector is not None:
        pull = np.zeros_like(question.vector)
        for place, share in zip(best, shares, strict=True):
            own = segments[place.segment].vectors_of(place.chunk)
            if len(own):
                pull += np.float32(share) * own[int(np.argmax(own @ question.vector))]
        moved = question.vector + np.float32(FEEDBACK_PULL) * pull
        unit = np.asarray(moved / np.linalg.norm(moved), dtype=np.float32)
        vectors = cosine_at(segments, unit, places.listed())
    return words, vectors


def _strength(first: Scores, best: Sequence[Place]) -> NDArray[np.float64]:
    """How far to trust each of the best hits: its scores beside the best ones, squared."""
    total = np.zeros(len(best))
    for lists in (first.words.scores if first.words else None, first.vectors):
        if lists is not None:
            own = np.array([max(float(lists[p.segment][p.chunk]), 0.0) for p in best])
            total += own / max(float(own.max()), 1e-9)
    return np.maximum(total, 1e-6) ** 2


def _fed_terms(
    segments: Sequence[Segment],
    question: Question,
    best: Sequence[Place],
    shares: NDArray[np.float64],
    statistics: Statistics,
) -> dict[str, float]:
    """The query's words and the most telling words of the best hits, mixed."""
    told: dict[str, float] = {}
    for place, share in zip(best, shares, strict=True):
        segment = segments[place.segment]
        numbers, counts = segment.stems_of(place.chunk)
        length = int(counts.sum()) or 1
        for name, count in zip(segment.names_of(numbers), counts.tolist(), strict=True):
            told[name] = told.get(name, 0.0) + float(share) * count / length
    heavy = sorted(told, key=lambda name: (-told[name], name))[: FEEDBACK_TERMS * 2]
    worth = {
        name: told[name] * weight_of(frequency(segments, name), statistics.chunks) for name in heavy
    }
    kept = sorted(worth, key=lambda name: (-worth[name], name))[:FEEDBACK_TERMS]
    whole = sum(worth[name] for name in kept) or 1.0
    asked = sum(question.terms.values()) or 1.0
    terms = {name: weight / asked * (1 - FEEDBACK_MIX) for name, weight in question.terms.items()}
    for name in kept:
        terms[name] = terms.get(name, 0.0) + FEEDBACK_MIX * worth[name] / whole
    return terms
