"""How far a passage's own heading says what is asked. Pure.

The title of a guideline stands over all of its passages and tells none from another; "Allopurinol", or
"Eclampsia and magnesium", tells the one that was written about it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.filters import is_title
from bedside.knowledge.index.scoring import Statistics, frequency, weight_of
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.places import Places
from bedside.knowledge.question import Question
from bedside.language.stems import stems

__all__ = ["headed"]


def headed(
    segments: Sequence[Segment], question: Question, places: Places, statistics: Statistics
) -> NDArray[np.float64]:
    """For each place, how alike its deepest heading and the question are, in [0, 1].

    The geometric mean of the share of the question that stands in the heading and the share of the
    heading that stands in the question, rare stems weighing more; other names of a thing count as it.
    A passage that stands under its document's title alone has no heading of its own.
    """

    @functools.cache
    def worth(stem: str) -> float:
        return weight_of(frequency(segments, stem), statistics.chunks)

    asked = [(group, min(worth(stem) for stem in group)) for group in question.groups]
    whole = sum(weight for _, weight in asked)

    said_at_all = frozenset[str]().union(*question.groups)

    def alike(heading: str) -> float:
        own = _stems_of(heading)
        if own.isdisjoint(said_at_all):
            return 0.0
        shared = [(group & own, weight) for group, weight in asked if group & own]
        of_question = sum(weight for _, weight in shared) / whole
        said = frozenset[str]().union(*(stems_ for stems_, _ in shared))
        of_heading = sum(map(worth, sorted(said))) / sum(map(worth, sorted(own)))
        return math.sqrt(of_question * of_heading)

    found = np.zeros(len(places.chunk))
    for number, segment in enumerate(segments):
        here = np.flatnonzero(places.segment == number)
        chunks = places.chunk[here]
        pairs = np.stack([segment.heading[chunks], segment.owner[chunks]], axis=1)
        distinct, which = np.unique(pairs, axis=0, return_inverse=True)
        scores = [
            0.0 if is_title(segment.documents[owner], heading) else alike(heading)
            for heading, owner in ((segment.headings[at], owner) for at, owner in distinct.tolist())
        ]
        found[here] = np.array(scores, dtype=np.float64)[which]
    return found


@functools.lru_cache(maxsize=20_000)
def _stems_of(heading: str) -> frozenset[str]:
    return frozenset(stems(heading))
