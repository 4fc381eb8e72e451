"""Where passages are parts of documents: how the documents stand, for passages to lean on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.filters import titled
from bedside.knowledge.first import Scores
from bedside.knowledge.index.scoring import Place
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.places import Places, standard
from bedside.knowledge.question import Question
from bedside.knowledge.whole import Wholes

__all__ = ["Owner", "in_parts", "of_the_best", "owners_of", "standings"]

_MOSTLY = 0.5
"""Where more of the candidates than this are parts of documents, passages lean on their documents."""
WHOLE_DEPTH = 20
"""Of so many of the best documents every passage is looked at."""
TITLE_WORTH = 1.0
"""What it is worth to a document that the question holds all of its title, in standard deviations."""
Owner = tuple[int, int]
"""A document: number of its segment, and its number inside it."""


def owners_of(segments: Sequence[Segment], places: Iterable[Place]) -> list[Owner]:
    """The document of each place: number of its segment, and its own number there."""
    return [(place.segment, int(segments[place.segment].owner[place.chunk])) for place in places]


def in_parts(
    segments: Sequence[Segment], masks: Sequence[NDArray[np.bool_]], places: Places
) -> bool:
    """Whether most of the candidates are one of several passages of their document."""
    counts = [
        np.bincount(segment.owner[mask], minlength=len(segment.documents))[segment.owner]
        for segment, mask in zip(segments, masks, strict=True)
    ]
    parts = int((places.figures(counts) > 1).sum())
    return parts > _MOSTLY * len(places.chunk)


def standings(
    segments: Sequence[Segment], question: Question, whole: Wholes, owners: Iterable[Owner]
) -> dict[Owner, float]:
    """The documents' own scores beside each other: cosine, words, and being named by title."""
    distinct = sorted(set(owners))
    named_so = [titled(segments[number].documents[own], question) for number, own in distinct]
    total = TITLE_WORTH * np.array(named_so, dtype=np.float64)
    for figures in (whole.words, whole.nearest):
        if figures is not None:
            total += standard(np.array([figures[number][own] for number, own in distinct]))
    return dict(zip(distinct, np.round(total, 6).tolist(), strict=True))


def of_the_best(
    segments: Sequence[Segment],
    masks: Sequence[NDArray[np.bool_]],
    first: Scores,
    standing: Mapping[Owner, float],
) -> Places:
    """Every passage of the best documents that shares a word or is not wholly unlike."""
    best = sorted(standing, key=lambda owner: (-standing[owner], owner))[:WHOLE_DEPTH]
    numbers, chunks = [], []
    for number, (segment, mask) in enumerate(zip(segments, masks, strict=True)):
        chosen = np.zeros(len(segment.documents), dtype=bool)
        chosen[[own for of, own in best if of == number]] = True
        at = np.flatnonzero(mask & chosen[segment.owner])
        near = np.zeros(len(at), dtype=bool)
        if first.words is not None:
            near |= first.words.scores[number][at] > 0
        if first.vectors is not None:
            near |= first.vectors[number][at] > 0
        chunks.append(at[near])
        numbers.append(np.full(len(chunks[-1]), number))
    return Places(np.concatenate(numbers), np.concatenate(chunks))
