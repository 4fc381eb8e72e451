"""From segments and a question to ranked chunks: filter, three lists, fusion, feedback. Pure.

The lists are BM25, cosine, and the documents that the query names by their metadata; reciprocal rank
fusion favours none. A passage leans on its document.

For a topic among short documents, feedback asks once more with what the best hits have in common
(Rocchio 1971 for the vector, RM3, Abdul-Jaleel and others 2004, for the words) and lets passages that
resemble each other lend each other a part of their score (`knowledge.alike`).

A direct question wants one passage and not its neighbours: its first scores stand, and words count
less, since its few words name the subject that many passages share. No question with a question mark
is judged by neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.knowledge.alike import with_neighbours
from bedside.knowledge.feedback import ask_again
from bedside.knowledge.filters import allowed, named
from bedside.knowledge.first import COVERAGE_FLOOR, Scores, answered, hits_of, same_again
from bedside.knowledge.fuse import fuse
from bedside.knowledge.headed import headed
from bedside.knowledge.index.entry import Document
from bedside.knowledge.index.scoring import Place, Statistics, cosine, lexical
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.places import DEPTH, Places, best_of, deepest, descending, standard
from bedside.knowledge.question import Question
from bedside.knowledge.standing import Owner, in_parts, of_the_best, owners_of, standings
from bedside.knowledge.whole import wholes

__all__ = ["COVERAGE_FLOOR", "Place", "Ranked", "Ranking", "rank"]

WORDS_SHARE = 0.5
WORDS_SHARE_DIRECT = 0.2
WORDS_SHARE_PARTS = 0.2
"""What a standardised BM25 weighs beside a standardised cosine: of a topic, of a direct question, and
of a part of a document, whose words as a whole count too."""
WHOLE_SHARE = 0.5
"""What its document's score weighs in that of a passage."""
SORT_WORTH, SORT_FITS = 2.0, 0.1
"""What a heading of another sort than is asked for costs, and one of that sort gains, in standard
deviations; a heading of no sort ("Gout in kidney disease") speaks for itself."""
HEADING_WORTH = 1.0
"""What it is worth to a passage that its own heading says just what is asked, in standard deviations."""
TELLING_WORDS = 8
SHORT_WORTH = 2.0
"""A passage of fewer words than the first loses up to the second, in standard deviations."""
ALL_SAID, _FEW = 1.0, 6
"""What it is worth to a passage that it holds every word of a query of so few, in standard deviations."""
CROWD = 5
"""Passages of one guideline before those of others come."""


@value
class Ranked:
    """One ranked chunk. `similarity` and `lexical` are `None` where that list does not hold it."""

    place: Place
    id: str
    document: Document
    score: float
    similarity: float | None
    lexical: float | None


@value
class Ranking:
    """Chunks, best first, superseded ones after all others; `below` counts what fell to thresholds."""

    ranked: tuple[Ranked, ...]
    removed_by_filter: tuple[tuple[str, int], ...]
    searched: int
    below: int


def rank(
    segments: Sequence[Segment],
    question: Question,
    *,
    filters: Filters,
    retriever: str,
    threshold: float,
    limit: int,
    feedback: bool = True,
    floor: float = COVERAGE_FLOOR,
) -> Ranking:
    """Rank chunks for a question.

    Args:
        segments: Where to look.
        question: With its vector, unless only words are to be searched.
        filters: Applied before anything is ranked.
        retriever: "hybrid", "lexical" or "dense".
        threshold: Cosine from which a chunk is a hit by meaning.
        limit: Most to return, at least 1.
        feedback: Ask once more with what the best hits share.
        floor: Coverage from which a chunk is a hit by words; 0 takes any shared word.

    Returns:
        The ranking; empty where nothing passes filters and thresholds.
    """
    masks, removed = allowed(segments, filters)
    searched = sum(int(mask.sum()) for mask in masks)
    if not searched:
        return Ranking(ranked=(), removed_by_filter=removed, searched=0, below=0)
    statistics = Statistics.of(segments)
    use_words = retriever != "dense"
    use_vectors = retriever != "lexical" and question.vector is not None
    first = Scores(
        lexical(segments, question.concepts, statistics=statistics, groups=question.groups)
        if use_words
        else None,
        cosine(segments, question.vector) if use_vectors and question.vector is not None else None,
    )
    words = len(question.groups)
    hits = hits_of(first, masks, threshold=threshold, floor=floor, words=words)
    below = sum(int((mask & ~hit).sum()) for mask, hit in zip(masks, hits, strict=True))
    if not answered(segments, question, first, hits, threshold=threshold):
        return Ranking(ranked=(), removed_by_filter=removed, searched=searched, below=below)
    by_name = _by_name(segments, question, hits, first) if retriever == "hybrid" else []
    scores = _fused(segments, first, hits, by_name)
    places = Places.of(scores)
    worth = np.array([scores[place] for place in places.listed()])
    if feedback:
        standing: dict[Owner, float] | None = None
        if in_parts(segments, masks, places):
            things = question.concepts if use_words else None
            whole = wholes(segments, masks, concepts=things, cosines=first.vectors)
            standing = standings(segments, question, whole, owners_of(segments, scores))
            places = of_the_best(segments, masks, first, standing).and_those(places)
        worth = _fed_back(segments, question, first, scores, places, statistics, by_name, standing)
    superseded = [segment.superseded[segment.owner] for segment in segments]
    order = descending(segments, places, worth, last=places.figures(superseded))
    if feedback:
        order = _spread(segments, places, order, limit)
    ranked = tuple(
        _ranked(segments, places.place(at), float(worth[at]), first) for at in order[:limit]
    )
    return Ranking(ranked=ranked, removed_by_filter=removed, searched=searched, below=below)


def _spread(
    segments: Sequence[Segment], places: Places, order: Sequence[int], limit: int
) -> list[int]:
    """The order, guidelines' repeats and their passages beyond `CROWD` behind all that is current.

    A passage repeats a better one where it holds the same words as often. A patient's own documents
    stay as they are: there a repeat is another finding. Superseded passages keep the end. Past
    `limit` nothing is looked at.
    """
    front: list[int] = []
    behind: list[int] = []
    last: list[int] = []
    met: set[int] = set()
    taken: Counter[Owner] = Counter()
    for at in order:
        if len(front) >= limit:
            break
        place = places.place(at)
        segment = segments[place.segment]
        owner = int(segment.owner[place.chunk])
        words = int(segment.prints[place.chunk])
        if segment.superseded[owner]:
            last.append(at)
        elif segment.documents[owner].kind == "guideline" and (
            words in met or taken[place.segment, owner] >= CROWD
        ):
            behind.append(at)
        else:
            met.add(words)
            taken[place.segment, owner] += 1
            front.append(at)
    return [*front, *behind, *last]


def _fused(
    segments: Sequence[Segment],
    scores: Scores,
    hits: Sequence[NDArray[np.bool_]],
    by_name: list[Place],
) -> dict[Place, float]:
    lists: list[list[Place]] = []
    if scores.words is not None:
        lists.append(best_of(segments, scores.words.scores, hits, least=0.0))
    if scores.vectors is not None:
        lists.append(best_of(segments, scores.vectors, hits, least=-1.0))
    if by_name:
        lists.append(by_name)
    return fuse(lists)


def _fed_back(
    segments: Sequence[Segment],
    question: Question,
    first: Scores,
    scores: Mapping[Place, float],
    places: Places,
    statistics: Statistics,
    by_name: list[Place],
    standing: Mapping[Owner, float] | None,
) -> NDArray[np.float64]:
    """The candidates once more, for the question as the best of them would put it.

    The new scores give new lists, fused like the first; then, since ranks forget how far apart two
    hits are, the standardised scores order what was fused, cosine at 1 and words at `WORDS_SHARE`
    (of a direct question the first scores, words at `WORDS_SHARE_DIRECT`). A passage leans on its
    document, and gains where its heading says what is asked, or is of the sort that is asked for. A chunk of hardly any words
    ("Source: ...") matches by its heading alone and says little: it loses up to one standard
    deviation, as does a list of references. Half of the sum goes through the logistic: whole, the best
    passages of a document that the query names would all be worth 1, and ranks alone order them.
    """
    both = first.words is not None and first.vectors is not None
    direct = both and question.direct
    widened = not direct and standing is None
    words, vectors = (
        same_again(first, places)
        if not widened
        else ask_again(segments, question, first, scores, statistics, places)
    )
    lists = [places.at(by_name)] if by_name else []
    for values, least in ((words, 0.0), (vectors, -1.0)):
        if values is not None:
            lists.append(deepest(segments, places, values, least=least))
    share = 1.0
    if both:
        share = WORDS_SHARE if widened else WORDS_SHARE_DIRECT if direct else WORDS_SHARE_PARTS
    joined = np.zeros(len(places.chunk))
    if vectors is not None:
        joined += standard(vectors)
    if words is not None:
        joined += share * standard(words)
    if both and widened and not question.marked:
        joined = with_neighbours(segments, question.vector, places.listed(), joined, statistics)
    if standing is not None:
        tables = [np.zeros(len(segment.documents)) for segment in segments]
        for (number, own), score in standing.items():
            tables[number][own] = score
        of_whole = places.figures(
            [table[segment.owner] for table, segment in zip(tables, segments, strict=True)]
        )
        joined = (1 - WHOLE_SHARE) * joined + WHOLE_SHARE * of_whole
    joined += _form(segments, question, first, places, statistics, parts=standing is not None)
    worth = 1.0 / (1.0 + np.exp(-np.round(joined, 6) / 2))
    for at, share in fuse(lists).items():
        worth[at] += share
    return worth


def _form(
    segments: Sequence[Segment],
    question: Question,
    first: Scores,
    places: Places,
    statistics: Statistics,
    *,
    parts: bool,
) -> NDArray[np.float64]:
    """What heading, length and completeness give or cost each place; `parts` says parts of documents."""
    gain = np.zeros(len(places.chunk))
    if question.sorts:
        sorts = places.figures([segment.sorts for segment in segments])
        fits = (sorts & int(question.sorts)) > 0
        gain += SORT_FITS * fits - SORT_WORTH * ((sorts != 0) & ~fits)
    lengths = places.figures([segment.lengths for segment in segments])
    if parts:
        gain += HEADING_WORTH * headed(segments, question, places, statistics)
    gain -= SHORT_WORTH * np.maximum(1.0 - lengths / TELLING_WORDS, 0.0)
    gain -= places.figures([segment.aside for segment in segments])
    if first.words is not None and parts and len(question.groups) <= _FEW:
        gain += ALL_SAID * places.figures(first.words.coverage)
    return gain


def _by_name(
    segments: Sequence[Segment],
    question: Question,
    hits: Sequence[NDArray[np.bool_]],
    scores: Scores,
) -> list[Place]:
    """Chunks of the documents that the query names, the strongest named first, then by words."""
    found: list[tuple[int, float, str, Place]] = []
    for number, segment in enumerate(segments):
        strength = named(segment, question)
        if not strength:
            continue
        at = np.flatnonzero(hits[number] & np.isin(segment.owner, list(strength)))
        for chunk in at.tolist():
            words = float(scores.words.scores[number][chunk]) if scores.words else 0.0
            strong = strength[int(segment.owner[chunk])]
            found.append((-strong, -words, segment.ids[chunk], Place(number, chunk)))
    return [place for *_, place in sorted(found)[:DEPTH]]


def _ranked(segments: Sequence[Segment], place: Place, score: float, first: Scores) -> Ranked:
    segment = segments[place.segment]
    similarity = words = None
    if first.vectors is not None and first.vectors[place.segment][place.chunk] > -1.0:
        similarity = float(first.vectors[place.segment][place.chunk])
    if first.words is not None and first.words.scores[place.segment][place.chunk] > 0:
        words = float(first.words.scores[place.segment][place.chunk])
    return Ranked(
        place=place,
        id=segment.ids[place.chunk],
        document=segment.documents[int(segment.owner[place.chunk])],
        score=score,
        similarity=similarity,
        lexical=words,
    )
