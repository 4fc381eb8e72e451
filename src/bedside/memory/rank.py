"""What was said, ranked for a question: words in their conversation, meaning, who and when. No model.

A message is short and half of it stands in its neighbours ("Yes, last week!"), so words are counted
in a window of the conversation; meaning is compared sentence by sentence; the best sessions lift
their messages. Every signal is brought to mean 0 and deviation 1 over the messages before it is
weighed, so one that says nothing (no vectors, no speaker named) changes nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.language.stems import stem, stems, words
from bedside.memory.when import asked_days, fits, is_when, meant_days, speaks_of_time

__all__ = ["WEIGHTS", "Corpus", "Ranking", "Said", "rank", "signals"]

Floats = NDArray[np.float64]
Vectors = Sequence["NDArray[np.float32] | None"]
K1, B = 1.2, 0.75
_FLAT = 1e-9
_MINE = re.compile(r"\b(?:I|me|my|mine|myself)\b")
_NEIGHBOURS = ((1, 0.5), (2, 0.25))
"""How much the words of the messages one and two places away count."""
_SESSION = (1.0, 0.3, 0.2)
"""A session's score: its best message, and less of its second and third."""
WEIGHTS: Mapping[str, float] = {
    "context": 0.3,
    "meaning": 0.4,
    "session": 0.2,
    "speaker": 0.5,
    "question": -0.7,
    "length": 0.1,
    "time": 0.6,
    "date": 1.2,
}
"""Chosen on two of the five development conversations of LoCoMo; the other three are held out."""


@value
class Said:
    """One message. Messages of a corpus stand in the order in which they were said.

    `speaker` is a name or a role; `day` the day it was said, `None` where unknown.
    """

    key: str
    session: str
    speaker: str
    text: str
    day: date | None = None


class _Read(NamedTuple):
    """What reading a message's text gave."""

    text: str
    counts: Counter[str]
    timed: bool

    @classmethod
    def of(cls, text: str) -> _Read:
        return cls(text, Counter(stems(text)), speaks_of_time(text))


class Corpus:
    """Messages with their words counted once. Holds one person's messages, never two persons'.

    `before` is the corpus of an earlier reading: what it counted of the same texts is taken over.
    """

    def __init__(self, said: Sequence[Said], *, before: Corpus | None = None) -> None:
        self.said = tuple(said)
        known = before.read if before is not None else {}
        self.read: dict[str, _Read] = {}
        for one in self.said:
            held = known.get(one.key)
            self.read[one.key] = held if held and held.text == one.text else _Read.of(one.text)
        sessions = list(dict.fromkeys(one.session for one in self.said))
        self.sessions = tuple(sessions)
        place = {name: number for number, name in enumerate(sessions)}
        self.of_session = np.array([place[one.session] for one in self.said], dtype=int)
        self.counts = [self.read[one.key].counts for one in self.said]
        names = {name: frozenset(map(stem, words(name))) for name in {o.speaker for o in self.said}}
        self.speakers = [names[one.speaker] for one in self.said]

    def __len__(self) -> int:
        return len(self.said)

    @cached_property
    def lengths(self) -> Floats:
        """Words of each message, stop words aside, its speaker's name counted."""
        pairs = zip(self.counts, self.speakers, strict=True)
        return np.array([sum(count.values()) + len(names) for count, names in pairs], dtype=float)

    @cached_property
    def asks(self) -> Floats:
        """1 where a message ends in a question."""
        return np.array([one.text.rstrip().endswith("?") for one in self.said], dtype=float)

    @cached_property
    def timed(self) -> Floats:
        """1 where a message says when something was."""
        return np.array([self.read[one.key].timed for one in self.said], dtype=float)

    def near(self, rows: Floats) -> Floats:
        """Rows with those of their neighbours in the same session added, by weight."""
        whole = rows.copy()
        for step, weight in _NEIGHBOURS:
            if len(rows) <= step:
                continue
            same = (self.of_session[step:] == self.of_session[:-step]).astype(float) * weight
            by = same if rows.ndim == 1 else same[:, None]
            whole[step:] += rows[:-step] * by
            whole[:-step] += rows[step:] * by
        return whole


@value
class Ranking:
    """Scores of the messages in the corpus's order, and of the sessions in theirs.

    `similarity` is the cosine of the best sentence, `None` where there are no vectors.
    """

    scores: Floats
    sessions: Floats
    similarity: Floats | None

    def best(self) -> list[int]:
        """Places of messages, best first; equals in the order in which they were said."""
        return [int(place) for place in np.argsort(-self.scores, kind="stable")]

    def best_sessions(self) -> list[int]:
        """Places of sessions, best first."""
        return [int(place) for place in np.argsort(-self.sessions, kind="stable")]


def rank(
    corpus: Corpus,
    question: str,
    *,
    query: NDArray[np.float32] | None = None,
    vectors: Vectors | None = None,
    own: str = "",
    weights: Mapping[str, float] = WEIGHTS,
) -> Ranking:
    """Score every message and every session for a question.

    Args:
        corpus: What was said.
        question: As it was asked.
        query: The question's unit vector, `None` to go by words alone.
        vectors: For each message the unit vectors of its sentences, shape (sentences, dim);
            `None` for a message that has none yet: it is ranked by its words.
        own: The speaker who asks: "I" and "my" are about them where the question names nobody.
        weights: By name of signal.
    """
    if not len(corpus):
        return Ranking(scores=np.zeros(0), sessions=np.zeros(0), similarity=None)
    similarity = _similarity(query, vectors)
    found = signals(corpus, question, similarity, own=own)
    scores = np.zeros(len(corpus))
    for name, row in found.items():
        scores += weights.get(name, 0.0) * row
    return Ranking(
        scores=scores, sessions=_by_session(corpus, scores, _SESSION), similarity=similarity
    )


def signals(
    corpus: Corpus, question: str, similarity: Floats | None, *, own: str = ""
) -> dict[str, Floats]:
    """Every signal by name, one figure a message."""
    terms = list(dict.fromkeys(stems(question)))
    named = frozenset().union(*corpus.speakers)
    asked = [frozenset({term}) for term in terms if term in named]
    if own and not asked and _MINE.search(question):
        asked = [frozenset(map(stem, words(own)))]
    plain, full = _frequencies(corpus, terms)
    found = {
        "context": _standard(
            _bm25(corpus.near(plain) + (full - plain), corpus.near(corpus.lengths))
        ),
        "speaker": _speaker(corpus, asked),
        "question": corpus.asks,
        "length": _standard(np.log(corpus.lengths + 2.0)),
        "time": corpus.timed if is_when(question) else np.zeros(len(corpus)),
        "date": _dated(corpus, question),
    }
    if similarity is not None:
        found["meaning"] = _standard(similarity)
        found["session"] = _standard(_by_session(corpus, similarity, (1.0, 1.0, 1.0)))[
            corpus.of_session
        ]
    return found


def _frequencies(corpus: Corpus, terms: Sequence[str]) -> tuple[Floats, Floats]:
    """How often each term stands in each message, without and with the speaker's name."""
    own = np.array([[count.get(term, 0) for term in terms] for count in corpus.counts], dtype=float)
    own = own.reshape(len(corpus), len(terms))
    names = np.array([[term in some for term in terms] for some in corpus.speakers], dtype=float)
    return own, own + names.reshape(len(corpus), len(terms))


def _bm25(frequencies: Floats, lengths: Floats) -> Floats:
    """BM25 of each row; a row's frequencies and length may be fractions (a window's)."""
    total = len(frequencies)
    if not frequencies.shape[1]:
        return np.zeros(total)
    holding = (frequencies > 0).sum(axis=0)
    idf = np.log(1.0 + (total - holding + 0.5) / (holding + 0.5))
    norm = K1 * (1.0 - B + B * lengths / max(float(lengths.mean()), 1e-9))
    gain = frequencies * (K1 + 1.0) / (frequencies + norm[:, None])
    return np.asarray((gain * idf).sum(axis=1), dtype=float)


def _similarity(query: NDArray[np.float32] | None, vectors: Vectors | None) -> Floats | None:
    """Cosine of each message's best sentence; where vectors are missing, the mean of the others."""
    if query is None or vectors is None:
        return None
    there = [number for number, rows in enumerate(vectors) if rows is not None and len(rows)]
    if not there:
        return None
    rows = [vectors[number] for number in there]
    flat = np.concatenate([row for row in rows if row is not None])
    sizes = [len(row) for row in rows if row is not None]
    starts = np.cumsum([0, *sizes[:-1]])
    best = np.maximum.reduceat((flat @ query).astype(float), starts)
    found = np.full(len(vectors), float(best.mean()))
    found[there] = best
    return found


def _by_session(corpus: Corpus, scores: Floats, shares: Sequence[float]) -> Floats:
    """A figure a session: its best messages' scores, by their shares."""
    found = np.zeros(len(corpus.sessions))
    for number in range(len(corpus.sessions)):
        best = np.sort(scores[corpus.of_session == number])[::-1][: len(shares)]
        weights = np.array(shares[: len(best)])
        found[number] = float((best * weights).sum())
        if math.isclose(shares[0], shares[-1]):
            found[number] /= len(best)
    return found


def _speaker(corpus: Corpus, asked: Sequence[frozenset[str]]) -> Floats:
    """1 where the one speaker asked about speaks; 0 throughout where none or several are named."""
    if len(asked) != 1:
        return np.zeros(len(corpus))
    return np.array([bool(asked[0] & names) for names in corpus.speakers], dtype=float)


def _dated(corpus: Corpus, question: str) -> Floats:
    """How well each message fits the days that the question names."""
    days = asked_days(question)
    found = np.zeros(len(corpus))
    if not days:
        return found
    for number, one in enumerate(corpus.said):
        if one.day is not None:
            meant = meant_days(one.text, one.day)
            found[number] = max(fits(day, one.day, meant) for day in days)
    return found


def _standard(row: Floats) -> Floats:
    deviation = float(row.std())
    return (row - row.mean()) / deviation if deviation > _FLAT else np.zeros(len(row))
