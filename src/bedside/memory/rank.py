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
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bedside.core.value import value
from bedside.language.stems import stem, stems, words
from bedside.memory.when import asked_days, fits, is_when, meant_days, speaks_of_time

__all__ = ["WEIGHTS", "Corpus", "Ranking", "Said", "rank", "signals"]

Floats = NDArray[np.float64]
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
    words: int
    timed: bool
    asks: bool

    @classmethod
    def of(cls, text: str) -> _Read:
        counts = Counter(stems(text))
        asks = text.rstrip().endswith("?")
        return cls(text, counts, counts.total(), speaks_of_time(text), asks)


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
            same = held is not None and (held.text is one.text or held.text == one.text)
            self.read[one.key] = held if held is not None and same else _Read.of(one.text)
        sessions = list(dict.fromkeys(one.session for one in self.said))
        self.sessions = tuple(sessions)
        place = {name: number for number, name in enumerate(sessions)}
        self.of_session = np.array([place[one.session] for one in self.said], dtype=int)
        self.counts = [one.counts for one in self.read.values()]
        names = {name: frozenset(map(stem, words(name))) for name in {o.speaker for o in self.said}}
        self.speakers = [names[one.speaker] for one in self.said]
        self._names = tuple(names.values())
        number = {name: at for at, name in enumerate(names)}
        self._speaking = np.array([number[one.speaker] for one in self.said], dtype=int)

    def __len__(self) -> int:
        return len(self.said)

    def spoken_by(self, fits: Callable[[frozenset[str]], bool]) -> Floats:
        """1 where the speaker's name, as stems, is one that fits."""
        if not self._names:
            return np.zeros(0)
        return np.array([fits(names) for names in self._names], dtype=float)[self._speaking]

    @cached_property
    def meant(self) -> list[Any]:
        """The days that each message means by "yesterday" and the like."""
        return [meant_days(one.text, one.day) if one.day else () for one in self.said]

    @cached_property
    def lengths(self) -> Floats:
        """Words of each message, stop words aside, its speaker's name counted."""
        own = np.array([one.words for one in self.read.values()], dtype=float)
        names = np.array([len(names) for names in self._names], dtype=float)
        return own + names[self._speaking] if len(own) else own

    @cached_property
    def asks(self) -> Floats:
        """1 where a message ends in a question."""
        return np.array([one.asks for one in self.read.values()], dtype=float)

    @cached_property
    def timed(self) -> Floats:
        """1 where a message says when something was."""
        return np.array([one.timed for one in self.read.values()], dtype=float)

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
    similarity: Floats | None = None,
    own: str = "",
    weights: Mapping[str, float] = WEIGHTS,
) -> Ranking:
    """Score every message and every session for a question.

    Args:
        corpus: What was said.
        question: As it was asked.
        similarity: The cosine of each message's best sentence to the question, the mean of the
            others where a message has no vector yet; `None` to go by words alone.
        own: The speaker who asks: "I" and "my" are about them where the question names nobody.
        weights: By name of signal.
    """
    if not len(corpus):
        return Ranking(scores=np.zeros(0), sessions=np.zeros(0), similarity=None)
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
    own = np.zeros((len(corpus), len(terms)))
    full = np.zeros((len(corpus), len(terms)))
    for number, term in enumerate(terms):
        own[:, number] = [count[term] if term in count else 0 for count in corpus.counts]  # noqa: SIM401 - a Counter's get is slower
        full[:, number] = own[:, number] + corpus.spoken_by(lambda names, t=term: t in names)
    return own, full


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


def _by_session(corpus: Corpus, scores: Floats, shares: Sequence[float]) -> Floats:
    """A figure a session: its best messages' scores, by their shares."""
    total = len(corpus.sessions)
    order = np.lexsort((-scores, corpus.of_session))
    of = corpus.of_session[order]
    within = np.arange(len(order)) - np.searchsorted(of, of)
    best = within < len(shares)
    weights = np.array(shares)[within[best]]
    kept = scores[order][best] * weights
    found = np.bincount(of[best], weights=kept, minlength=total).astype(float)
    if math.isclose(shares[0], shares[-1]):
        found /= np.bincount(of[best], minlength=total)
    return found


def _speaker(corpus: Corpus, asked: Sequence[frozenset[str]]) -> Floats:
    """1 where the one speaker asked about speaks; 0 throughout where none or several are named."""
    if len(asked) != 1:
        return np.zeros(len(corpus))
    return corpus.spoken_by(lambda names: bool(asked[0] & names))


def _dated(corpus: Corpus, question: str) -> Floats:
    """How well each message fits the days that the question names."""
    days = asked_days(question)
    found = np.zeros(len(corpus))
    if not days:
        return found
    for number, (one, meant) in enumerate(zip(corpus.said, corpus.meant, strict=True)):
        if one.day is not None:
            found[number] = max(fits(day, one.day, meant) for day in days)
    return found


def _standard(row: Floats) -> Floats:
    deviation = float(row.std())
    return (row - row.mean()) / deviation if deviation > _FLAT else np.zeros(len(row))
