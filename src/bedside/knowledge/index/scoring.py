"""Scores of all chunks of some segments for one query: BM25 and cosine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.knowledge.concept import Concept
from bedside.knowledge.index.segment import Segment

__all__ = [
    "Lexical",
    "Place",
    "Statistics",
    "cosine",
    "cosine_at",
    "frequency",
    "lexical",
    "lexical_at",
    "weight_of",
]

Floats = NDArray[np.float32]
K1, B = 1.2, 0.75
"""BM25 (Robertson and Zaragoza 2009): saturation of repeated words, and weight of length."""


class Place(NamedTuple):
    """A chunk: number of its segment, and its number inside it."""

    segment: int
    chunk: int


@value
class Statistics:
    """Of the living chunks: how many, and their mean length in words."""

    chunks: int
    mean_length: float

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> Statistics:
        """Count what lives in these segments."""
        chunks = sum(int(segment.alive.sum()) for segment in segments)
        words = sum(
            float(segment.lengths[segment.alive].sum(dtype=np.float64)) for segment in segments
        )
        return cls(chunks=chunks, mean_length=words / chunks if chunks else 0.0)


@value
class Lexical:
    """BM25 of every chunk, by segment, and the share of the query's weight that it covers.

    `coverage` is in [0, 1]: rare words of the query count more, words that no chunk holds count as
    the rarest; a synonym covers what it stands for.
    """

    scores: tuple[Floats, ...]
    coverage: tuple[Floats, ...]


def frequency(segments: Sequence[Segment], term: str) -> int:
    """How many living chunks hold the stem."""
    return sum(segment.holding(term) for segment in segments)


def weight_of(frequency: int, chunks: int) -> float:
    """Inverse document frequency, above 0."""
    return math.log(1.0 + (chunks - frequency + 0.5) / (frequency + 0.5))


def lexical(
    segments: Sequence[Segment],
    concepts: Sequence[Concept],
    *,
    statistics: Statistics,
    groups: Sequence[frozenset[str]] = (),
) -> Lexical:
    """BM25 of the concepts, each in the way that says it best; coverage is measured on `groups`."""
    ways = [way for concept in concepts for way in (concept.written, *concept.others)]
    terms = sorted({term for way in ways for term in way})
    idf = {term: weight_of(frequency(segments, term), statistics.chunks) for term in terms}

    def said(way: Mapping[str, float], scores: Sequence[Floats]) -> Sequence[Floats]:
        for term, weight in way.items():
            for segment, score in zip(segments, scores, strict=True):
                chunks, counts = segment.postings(term)
                length = segment.lengths[chunks] / np.float32(max(statistics.mean_length, 1e-9))
                gain = counts * (K1 + 1.0) / (counts + K1 * (1.0 - B + B * length))
                score[chunks] += np.float32(weight * idf[term]) * gain
        return scores

    def nothing() -> tuple[Floats, ...]:
        return tuple(np.zeros(len(segment), dtype=np.float32) for segment in segments)

    scores = nothing()
    for concept in concepts:
        others = [way for way in concept.others if any(frequency(segments, term) for term in way)]
        if not others:
            said(concept.written, scores)
            continue
        best = said(concept.written, nothing())
        for way in others:
            for most, other in zip(best, said(way, nothing()), strict=True):
                np.maximum(most, other, out=most)
        for score, own in zip(scores, best, strict=True):
            np.add(score, own, out=score)
    return Lexical(scores=scores, coverage=_coverage(segments, groups, idf))


def _coverage(
    segments: Sequence[Segment], groups: Sequence[frozenset[str]], idf: Mapping[str, float]
) -> tuple[Floats, ...]:
    covered = tuple(np.zeros(len(segment), dtype=np.float32) for segment in segments)
    whole = 0.0
    for group in groups:
        known = [term for term in sorted(group) if term in idf]
        worth = np.float32(min((idf[term] for term in known), default=0.0))
        whole += float(worth)
        for segment, cover in zip(segments, covered, strict=True):
            mark = np.zeros(len(segment), dtype=bool)
            for term in known:
                mark[segment.postings(term)[0]] = True
            cover[mark] += worth
    return tuple(cover / np.float32(whole or 1.0) for cover in covered)


def cosine(segments: Sequence[Segment], vector: Floats) -> tuple[Floats, ...]:
    """Cosine of every chunk by segment, to five decimals so that how rows lie in memory is no matter."""
    return tuple(np.round(segment.similarities(vector), 5) for segment in segments)


def lexical_at(
    segments: Sequence[Segment],
    terms: Mapping[str, float],
    places: Sequence[Place],
    *,
    statistics: Statistics,
) -> NDArray[np.float64]:
    """BM25 of the given places alone, in their order; the same figures as `lexical`."""
    result = np.zeros(len(places))
    for number, segment in enumerate(segments):
        at = np.array([i for i, place in enumerate(places) if place.segment == number], dtype=int)
        if not len(at):
            continue
        wanted = np.array([places[i].chunk for i in at], dtype=np.int32)
        length = segment.lengths[wanted] / np.float32(max(statistics.mean_length, 1e-9))
        norm = K1 * (1.0 - B + B * length)
        score = np.zeros(len(at))
        for term, weight in terms.items():
            chunks, counts = segment.postings(term)
            if not len(chunks):
                continue
            found = np.searchsorted(chunks, wanted)
            found[found == len(chunks)] = 0
            count = np.where(chunks[found] == wanted, counts[found], np.float32(0.0))
            idf = weight_of(frequency(segments, term), statistics.chunks)
            score += weight * idf * count * (K1 + 1.0) / (count + norm)
        result[at] = score
    return np.round(result, 6)


def cosine_at(
    segments: Sequence[Segment], vector: Floats, places: Sequence[Place]
) -> NDArray[np.float64]:
    """Cosine of the best window of the given places, in their order; -1 without a vector."""
    result: NDArray[np.float64] = np.full(len(places), -1.0, dtype=np.float64)
    for number, segment in enumerate(segments):
        spans = [
            (i, *segment.window_span(place.chunk))
            for i, place in enumerate(places)
            if place.segment == number
        ]
        spans = [span for span in spans if span[2] > span[1]]
        if not spans:
            continue
        rows = np.concatenate([np.arange(left, right) for _, left, right in spans])
        values = segment.vectors[rows] @ np.asarray(vector, dtype=np.float32)
        starts = np.cumsum([0, *[right - left for _, left, right in spans[:-1]]])
        result[[i for i, _, _ in spans]] = np.maximum.reduceat(values, starts)
    return np.round(result, 5)
