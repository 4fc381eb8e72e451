"""Documents scored as a whole, for their passages to lean on. Pure.

A section of medicines seldom repeats the findings that lead to it: they stand under another heading
of the same guideline. So a passage is judged with its document (Callan 1994): BM25 of all of the
document's words, and the cosine of its best passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.knowledge.concept import Concept
from bedside.knowledge.index.scoring import K1, B, weight_of
from bedside.knowledge.index.segment import Segment

__all__ = ["Wholes", "wholes"]

Floats = NDArray[np.float64]


@value
class Wholes:
    """By segment, one figure for each of its documents (the order of `Segment.documents`).

    `words` is BM25, 0 where nothing is shared; `nearest` the best passage's cosine, -1 where there is
    none; either is `None` where that list does not serve.
    """

    words: tuple[Floats, ...] | None
    nearest: tuple[Floats, ...] | None


def wholes(
    segments: Sequence[Segment],
    masks: Sequence[NDArray[np.bool_]],
    *,
    concepts: Sequence[Concept] | None,
    cosines: Sequence[NDArray[np.float32]] | None,
) -> Wholes:
    """Score the documents of some segments by their passages under the masks.

    Args:
        segments: Where the documents are.
        masks: Which passages count, by segment.
        concepts: Stems with their weights; `None` leaves words out.
        cosines: Of each passage, by segment; `None` leaves vectors out.
    """
    sizes = [len(segment.documents) for segment in segments]
    passages = tuple(
        np.bincount(segment.owner[mask], minlength=size)
        for segment, mask, size in zip(segments, masks, sizes, strict=True)
    )
    return Wholes(
        words=None if concepts is None else _words(segments, masks, passages, concepts),
        nearest=None if cosines is None else _nearest(segments, masks, cosines),
    )


def _words(
    segments: Sequence[Segment],
    masks: Sequence[NDArray[np.bool_]],
    passages: Sequence[NDArray[np.int64]],
    concepts: Sequence[Concept],
) -> tuple[Floats, ...]:
    number = sum(int((own > 0).sum()) for own in passages)
    lengths = [
        np.bincount(segment.owner, weights=segment.lengths * mask, minlength=len(own))
        for segment, mask, own in zip(segments, masks, passages, strict=True)
    ]
    mean = max(sum(float(own.sum()) for own in lengths) / max(number, 1), 1e-9)

    def said(terms: Mapping[str, float]) -> list[Floats]:
        scores = [np.zeros(len(own)) for own in passages]
        for term, weight in terms.items():
            counts: list[NDArray[Any]] = []
            for segment, mask, own in zip(segments, masks, passages, strict=True):
                chunks, times = segment.postings(term)
                held = times * mask[chunks]
                counts.append(np.bincount(segment.owner[chunks], weights=held, minlength=len(own)))
            holding = sum(int((count > 0).sum()) for count in counts)
            if not holding:
                continue
            worth = weight * weight_of(holding, number)
            for place, count in enumerate(counts):
                length = lengths[place] / mean
                scores[place] += worth * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
        return scores

    total = [np.zeros(len(own)) for own in passages]
    for concept in concepts:
        best = said(concept.written)
        for other in concept.others:
            best = [np.maximum(*pair) for pair in zip(best, said(other), strict=True)]
        total = [one + own for one, own in zip(total, best, strict=True)]
    return tuple(total)


def _nearest(
    segments: Sequence[Segment],
    masks: Sequence[NDArray[np.bool_]],
    cosines: Sequence[NDArray[np.float32]],
) -> tuple[Floats, ...]:
    found: list[Floats] = []
    for segment, mask, own in zip(segments, masks, cosines, strict=True):
        best: Floats = np.full(len(segment.documents), -1.0)
        np.maximum.at(best, segment.owner[mask], own[mask].astype(np.float64))
        found.append(best)
    return tuple(found)
