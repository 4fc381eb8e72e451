"""Which chunks a search may rank, and which documents its words name. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from bedside.clinical.vocabulary import canonical
from bedside.knowledge.index.entry import Document
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.question import Question
from bedside.language.stems import stems

__all__ = ["allowed", "fold", "is_title", "named", "passes", "titled"]

Mask = NDArray[np.bool_]
_BRACKETS = re.compile(r"\([^)]*\)")


def allowed(
    segments: Sequence[Segment], filters: Filters
) -> tuple[tuple[Mask, ...], tuple[tuple[str, int], ...]]:
    """Masks of the chunks that pass every filter, and how many living chunks each filter removed.

    A chunk that several filters refuse is counted under the first, in the order of `Filters`.
    """
    masks: list[Mask] = []
    removed: dict[str, int] = {}
    asked = [
        (name, wanted)
        for name in ("specialty", "type", "condition", "drug", "document", "since")
        if (wanted := getattr(filters, name)) is not None
    ]
    for segment in segments:
        mask = segment.alive.copy()
        for name, wanted in asked:
            passes = np.array(
                [_passes(document, name, wanted) for document in segment.documents], dtype=bool
            )
            kept = mask & passes[segment.owner]
            removed[name] = removed.get(name, 0) + int(mask.sum() - kept.sum())
            mask = kept
        masks.append(mask)
    return tuple(masks), tuple((name, count) for name, count in removed.items() if count)


def passes(document: Document, filters: Filters) -> bool:
    """Whether a document passes every filter."""
    return all(
        _passes(document, name, wanted)
        for name in ("specialty", "type", "condition", "drug", "document", "since")
        if (wanted := getattr(filters, name)) is not None
    )


def _passes(document: Document, name: str, wanted: object) -> bool:
    if name == "since":
        return document.dated is not None and document.dated >= wanted  # type: ignore[operator]
    if name == "document":
        return document.id == wanted
    want = fold(str(wanted))
    if name == "condition":
        return any(fold(own) == want for own in document.conditions)
    if name == "drug":
        return any(fold(own) == want for own in document.drugs)
    own = document.specialty if name == "specialty" else document.type
    return fold(own) == want


def fold(term: str) -> str:
    """One form for what is the same: case, spelling, and the clinical vocabulary's own name."""
    return canonical(term.replace("_", " ").replace("-", " "))


def named(segment: Segment, question: Question) -> dict[int, int]:
    """Documents that the query's words name by their metadata: place in the segment -> how strongly.

    A label (condition, drug, category, facility, file name, date) counts when all of its words stand
    in the query or in what the vocabulary adds to it.
    """
    known = question.terms.keys() | question.names
    found: dict[int, int] = {}
    for label, places in segment.labels.items():
        if _all_in(label, known):
            for place in places:
                found[place] = found.get(place, 0) + 1
    return found


def titled(document: Document, question: Question) -> bool:
    """Whether a question holds every word of a document's title; what stands in brackets is no part."""
    wanted = _stems_of_title(document.title)
    return bool(wanted) and wanted <= question.terms.keys()


def is_title(document: Document, heading: str) -> bool:
    """Whether a heading says what its document's title says; what stands in brackets is no part."""
    return _stems_of_title(heading) == _stems_of_title(document.title)


@functools.lru_cache(maxsize=20_000)
def _stems_of_title(title: str) -> frozenset[str]:
    return frozenset(stems(_BRACKETS.sub(" ", title)))


def _all_in(label: str, known: AbstractSet[str]) -> bool:
    wanted = _stems_of(label)
    return bool(wanted) and wanted <= known


@functools.lru_cache(maxsize=20_000)
def _stems_of(label: str) -> frozenset[str]:
    return frozenset(stems(label))
