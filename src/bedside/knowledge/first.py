"""The first scores of all chunks for a question, and which of them are hits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.index.scoring import Lexical, frequency
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.places import Places
from bedside.knowledge.question import Question

__all__ = ["COVERAGE_FLOOR", "Scores", "answered", "hits_of", "lost_words", "same_again"]

COVERAGE_FLOOR = 0.3
"""Share of the query's weight that a chunk must cover to count as a lexical hit."""
_WORDS_ENOUGH = 2.0
"""In a long query the share of so many words suffices."""
_SURE, _WORDS_SURE = 0.5, 3.0
"""The same, of a chunk that is known to be unlike the query in meaning, for there to be any answer."""


_UNKNOWN = 1 / 7
"""Of a query none of whose words is in any passage, this share of what lies between threshold and 1 is asked
of a vector beyond the threshold: with the local model 0.40 in place of 0.30 (docs/decisions/0007)."""


class Scores(NamedTuple):
    """By segment, of every chunk; `None` where that list does not serve. No vector has a cosine of -1."""

    words: Lexical | None
    vectors: tuple[NDArray[np.float32], ...] | None


def hits_of(
    scores: Scores,
    masks: Sequence[NDArray[np.bool_]],
    *,
    threshold: float,
    floor: float,
    words: int,
) -> list[NDArray[np.bool_]]:
    """Chunks over the dense threshold, or over the lexical floor, for a query of so many words."""
    floor = min(floor, _WORDS_ENOUGH / max(words, 1))
    found: list[NDArray[np.bool_]] = []
    for number, mask in enumerate(masks):
        over = np.zeros(len(mask), dtype=bool)
        if scores.words is not None:
            over |= (scores.words.scores[number] > 0) & (scores.words.coverage[number] >= floor)
        if scores.vectors is not None:
            over |= scores.vectors[number] >= threshold
        found.append(mask & over)
    return found


def lost_words(segments: Sequence[Segment], question: Question) -> frozenset[str]:
    """Written stems that no living passage holds, nor all of another name's."""
    return frozenset(
        stem
        for concept in question.concepts
        if not any(all(frequency(segments, own) for own in way) for way in concept.others)
        for stem in concept.written
        if not frequency(segments, stem)
    )


def answered(
    segments: Sequence[Segment],
    question: Question,
    scores: Scores,
    hits: Sequence[NDArray[np.bool_]],
    *,
    threshold: float,
) -> bool:
    """Whether one of the hits is enough to answer at all: like in meaning, or covering half the query.

    A word or two in common ("staging", "of choice") make no answer where the vectors say that nothing is
    alike; nor does a line that only tells where a text is from. Once one hit is enough, the others are
    candidates by the lower floor. Where every word of the query is in some passage, and for a chunk without
    a vector, the floor is enough; where none is, meaning alone speaks, and must speak more plainly.
    """
    words = len(question.groups)
    lost = lost_words(segments, question)
    if words and len(lost) == words:
        threshold += _UNKNOWN * (1.0 - threshold)
    enough = min(_SURE, _WORDS_SURE / max(words, 1))
    for number, (segment, hit) in enumerate(zip(segments, hits, strict=True)):
        sure = hit
        if lost and scores.vectors is not None:
            own = scores.vectors[number]
            sure = hit & ((own >= threshold) | (own <= -1.0))
            if scores.words is not None:
                sure |= hit & (scores.words.coverage[number] >= enough)
        if (sure & ~segment.aside).any():
            return True
    return False


def same_again(
    first: Scores, places: Places
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """The first scores of the candidates: nothing to learn from, nothing moved."""
    found = [
        None if lists is None else places.figures(lists).astype(np.float64)
        for lists in (first.words.scores if first.words else None, first.vectors)
    ]
    return found[0], found[1]
