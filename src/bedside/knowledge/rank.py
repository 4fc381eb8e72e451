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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.knowledge.alike import with_neighbours
from bedside.knowledge.filters import allowed, named, titled
from bedside.knowledge.fuse import fuse
from bedside.knowledge.index.entry import Document
from bedside.knowledge.index.scoring import (
    Lexical,
    Place,
    Statistics,
    cosine,
    cosine_at,
    frequency,
    lexical,
    lexical_at,
    weight_of,
)
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.question import Question
from bedside.knowledge.whole import Wholes, wholes

__all__ = ["COVERAGE_FLOOR", "Place", "Ranked", "Ranking", "rank"]

DEPTH = 200
"""How far down each list is read."""
COVERAGE_FLOOR = 0.3
"""Share of the query's weight that a chunk must cover to count as a lexical hit."""
_WORDS_ENOUGH = 2.0
"""In a long query the share of so many words suffices."""
FEEDBACK = 15
FEEDBACK_LEAST = 5
FEEDBACK_PER = 50
"""One more hit is asked back for so many chunks; a library too small for five has few good ones."""
FEEDBACK_TERMS = 50
FEEDBACK_MIX = 0.5
FEEDBACK_PULL = 0.75
WORDS_SHARE = 0.5
WORDS_SHARE_DIRECT = 0.2
WORDS_SHARE_PARTS = 0.2
"""What a standardised BM25 weighs beside a standardised cosine: of a topic, of a direct question, and
of a part of a document, whose words as a whole count too."""
WHOLE_SHARE = 0.5
"""What its document's score weighs in that of a passage."""
_MOSTLY = 0.5
"""Where more of the candidates than this are parts of documents, passages lean on their documents."""
WHOLE_DEPTH = 20
"""Of so many of the best documents every passage is looked at."""
TITLE_WORTH = 1.0
"""What it is worth to a document that the question holds all of its title, in standard deviations."""
SORT_WORTH, SORT_FITS = 2.0, 0.1
"""What a heading of another sort than is asked for costs, and one of that sort gains, in standard
deviations; a heading of no sort ("Gout in kidney disease") speaks for itself."""
TELLING_WORDS = 8
SHORT_WORTH = 2.0
"""A passage of fewer words than the first loses up to the second, in standard deviations."""
ALL_SAID, _FEW = 1.0, 6
"""What it is worth to a passage that it holds every word of a query of so few, in standard deviations."""
CROWD = 5
"""Passages of one guideline before those of others come."""


_Owner = tuple[int, int]
"""A document: number of its segment, and its number inside it."""


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


class _Places(NamedTuple):
    """Candidates, each once, by segment and then by chunk: numbers of both."""

    segment: NDArray[np.int64]
    chunk: NDArray[np.int64]

    @classmethod
    def of(cls, places: Iterable[Place]) -> _Places:
        """These places in their order here."""
        pairs = np.array(sorted(places), dtype=np.int64).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1])

    def and_those(self, others: _Places) -> _Places:
        """Both."""
        segment, chunk = (np.concatenate(pair) for pair in zip(self, others, strict=True))
        keys = np.unique((segment << 32) | chunk)
        return _Places(keys >> 32, keys & 0xFFFFFFFF)

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


class _Scores(NamedTuple):
    words: Lexical | None
    vectors: tuple[NDArray[np.float32], ...] | None


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
    first = _Scores(
        lexical(segments, question.concepts, statistics=statistics, groups=question.groups)
        if use_words
        else None,
        cosine(segments, question.vector) if use_vectors and question.vector is not None else None,
    )
    least = min(floor, _WORDS_ENOUGH / max(len(question.groups), 1))
    hits = _hits(first, masks, threshold=threshold, floor=least)
    below = sum(int((mask & ~hit).sum()) for mask, hit in zip(masks, hits, strict=True))
    if not any(hit.any() for hit in hits):
        return Ranking(ranked=(), removed_by_filter=removed, searched=searched, below=below)
    by_name = _by_name(segments, question, hits, first) if retriever == "hybrid" else []
    scores = _fused(segments, first, hits, by_name)
    places = _Places.of(scores)
    worth = np.array([scores[place] for place in places.listed()])
    if feedback:
        standing: dict[_Owner, float] | None = None
        if _in_parts(segments, masks, places):
            things = question.concepts if use_words else None
            whole = wholes(segments, masks, concepts=things, cosines=first.vectors)
            standing = _standing(segments, question, whole, _owners(segments, scores))
            places = _of_the_best(segments, masks, first, standing).and_those(places)
        worth = _fed_back(segments, question, first, scores, places, statistics, by_name, standing)
    superseded = [segment.superseded[segment.owner] for segment in segments]
    order = _descending(segments, places, worth, last=places.figures(superseded))
    if feedback:
        order = _spread(segments, places, order, limit)
    ranked = tuple(
        _ranked(segments, places.place(at), float(worth[at]), first) for at in order[:limit]
    )
    return Ranking(ranked=ranked, removed_by_filter=removed, searched=searched, below=below)


def _descending(
    segments: Sequence[Segment],
    places: _Places,
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


def _spread(
    segments: Sequence[Segment], places: _Places, order: Sequence[int], limit: int
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
    taken: Counter[_Owner] = Counter()
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


def _hits(
    scores: _Scores, masks: Sequence[NDArray[np.bool_]], *, threshold: float, floor: float
) -> list[NDArray[np.bool_]]:
    """Chunks over the dense threshold, or over the lexical floor."""
    found: list[NDArray[np.bool_]] = []
    for number, mask in enumerate(masks):
        over = np.zeros(len(mask), dtype=bool)
        if scores.words is not None:
            over |= (scores.words.scores[number] > 0) & (scores.words.coverage[number] >= floor)
        if scores.vectors is not None:
            over |= scores.vectors[number] >= threshold
        found.append(mask & over)
    return found


def _fused(
    segments: Sequence[Segment],
    scores: _Scores,
    hits: Sequence[NDArray[np.bool_]],
    by_name: list[Place],
) -> dict[Place, float]:
    lists: list[list[Place]] = []
    if scores.words is not None:
        lists.append(_top(segments, scores.words.scores, hits, least=0.0))
    if scores.vectors is not None:
        lists.append(_top(segments, scores.vectors, hits, least=-1.0))
    if by_name:
        lists.append(by_name)
    return fuse(lists)


def _fed_back(
    segments: Sequence[Segment],
    question: Question,
    first: _Scores,
    scores: Mapping[Place, float],
    places: _Places,
    statistics: Statistics,
    by_name: list[Place],
    standing: Mapping[_Owner, float] | None,
) -> NDArray[np.float64]:
    """The candidates once more, for the question as the best of them would put it.

    The new scores give new lists, fused like the first; then, since ranks forget how far apart two
    hits are, the standardised scores order what was fused, cosine at 1 and words at `WORDS_SHARE`
    (of a direct question the first scores, words at `WORDS_SHARE_DIRECT`). A passage leans on its
    document, and gains where its heading is of the sort that is asked for. A chunk of hardly any words
    ("Source: ...") matches by its heading alone and says little: it loses up to one standard
    deviation, as does a list of references. Half of the sum goes through the logistic: whole, the best
    passages of a document that the query names would all be worth 1, and ranks alone order them.
    """
    both = first.words is not None and first.vectors is not None
    direct = both and question.direct
    widened = not direct and standing is None
    words, vectors = (
        _same_again(first, places)
        if not widened
        else _ask_again(segments, question, first, scores, statistics, places)
    )
    lists = [places.at(by_name)] if by_name else []
    for values, least in ((words, 0.0), (vectors, -1.0)):
        if values is not None:
            lists.append(_deepest(segments, places, values, least=least))
    share = 1.0
    if both:
        share = WORDS_SHARE if widened else WORDS_SHARE_DIRECT if direct else WORDS_SHARE_PARTS
    joined = np.zeros(len(places.chunk))
    if vectors is not None:
        joined += _standard(vectors)
    if words is not None:
        joined += share * _standard(words)
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
    if question.sorts:
        sorts = places.figures([segment.sorts for segment in segments])
        fits = (sorts & int(question.sorts)) > 0
        joined += SORT_FITS * fits - SORT_WORTH * ((sorts != 0) & ~fits)
    lengths = places.figures([segment.lengths for segment in segments])
    joined -= SHORT_WORTH * np.maximum(1.0 - lengths / TELLING_WORDS, 0.0)
    joined -= places.figures([segment.aside for segment in segments])
    if first.words is not None and standing is not None and len(question.groups) <= _FEW:
        joined += ALL_SAID * places.figures(first.words.coverage)
    worth = 1.0 / (1.0 + np.exp(-np.round(joined, 6) / 2))
    for at, share in fuse(lists).items():
        worth[at] += share
    return worth


def _owners(segments: Sequence[Segment], places: Iterable[Place]) -> list[_Owner]:
    """The document of each place: number of its segment, and its own number there."""
    return [(place.segment, int(segments[place.segment].owner[place.chunk])) for place in places]


def _in_parts(
    segments: Sequence[Segment], masks: Sequence[NDArray[np.bool_]], places: _Places
) -> bool:
    """Whether most of the candidates are one of several passages of their document."""
    counts = [
        np.bincount(segment.owner[mask], minlength=len(segment.documents))[segment.owner]
        for segment, mask in zip(segments, masks, strict=True)
    ]
    parts = int((places.figures(counts) > 1).sum())
    return parts > _MOSTLY * len(places.chunk)


def _standing(
    segments: Sequence[Segment], question: Question, whole: Wholes, owners: Iterable[_Owner]
) -> dict[_Owner, float]:
    """The documents' own scores beside each other: cosine, words, and being named by title."""
    distinct = sorted(set(owners))
    named_so = [titled(segments[number].documents[own], question) for number, own in distinct]
    total = TITLE_WORTH * np.array(named_so, dtype=np.float64)
    for figures in (whole.words, whole.nearest):
        if figures is not None:
            total += _standard(np.array([figures[number][own] for number, own in distinct]))
    return dict(zip(distinct, np.round(total, 6).tolist(), strict=True))


def _of_the_best(
    segments: Sequence[Segment],
    masks: Sequence[NDArray[np.bool_]],
    first: _Scores,
    standing: Mapping[_Owner, float],
) -> _Places:
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
    return _Places(np.concatenate(numbers), np.concatenate(chunks))


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _top(
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
    places = _Places(np.concatenate(numbers), np.concatenate(chunks))
    best = _deepest(segments, places, np.concatenate(values).astype(np.float64), least=least)
    return [places.place(at) for at in best]


def _deepest(
    segments: Sequence[Segment], places: _Places, values: NDArray[np.float64], *, least: float
) -> list[int]:
    """Numbers of the `DEPTH` best places over `least`, ties by id."""
    over = np.flatnonzero(values > least)
    if len(over) > DEPTH:
        over = over[values[over] >= np.partition(values[over], -DEPTH)[-DEPTH]]
    kept = _Places(places.segment[over], places.chunk[over])
    return [int(over[at]) for at in _descending(segments, kept, values[over])[:DEPTH]]


def _by_name(
    segments: Sequence[Segment],
    question: Question,
    hits: Sequence[NDArray[np.bool_]],
    scores: _Scores,
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


def _ask_again(
    segments: Sequence[Segment],
    question: Question,
    first: _Scores,
    scores: Mapping[Place, float],
    statistics: Statistics,
    places: _Places,
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Words and cosine of the candidates, in the order of `places`, for the moved question."""
    most = min(FEEDBACK, statistics.chunks // FEEDBACK_PER)
    if most < FEEDBACK_LEAST:
        return _same_again(first, places)
    telling = [place for place in scores if not segments[place.segment].aside[place.chunk]]
    best = sorted(telling, key=lambda p: (-scores[p], segments[p.segment].ids[p.chunk]))[:most]
    if not best:
        return _same_again(first, places)
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


def _same_again(
    first: _Scores, places: _Places
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """The first scores of the candidates: nothing to learn from, nothing moved."""
    found = [
        None if lists is None else places.figures(lists).astype(np.float64)
        for lists in (first.words.scores if first.words else None, first.vectors)
    ]
    return found[0], found[1]


def _strength(first: _Scores, best: Sequence[Place]) -> NDArray[np.float64]:
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


def _ranked(segments: Sequence[Segment], place: Place, score: float, first: _Scores) -> Ranked:
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
