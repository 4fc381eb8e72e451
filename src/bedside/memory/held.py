"""What of a person's conversations stays read between two recalls: words counted, vectors in one matrix.

The rows decide at every recall what is in reach: a stamp of them is asked for first, and only where it
changed are they read again, and then the new ones alone. What went from the rows goes from here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from bedside.core.access import Grant
from bedside.core.value import value
from bedside.memory import vectors
from bedside.memory.owner import Message, messages_of, owner_of, patient_of, stamp_of
from bedside.memory.rank import Corpus, Floats, Said
from bedside.memory.vectors import Embeds

__all__ = ["Held", "Sentences", "Shelf"]

MOST_SCOPES = 32
MOST_SENTENCES = 150_000
"""Rows of vectors that stay in memory, of all persons together (230 MB at 384 columns)."""


class _Scope(NamedTuple):
    tenant: str
    owner: str
    patient: str
    session: str
    names: tuple[tuple[str, str], ...]


@value
class Sentences:
    """The sentence vectors of messages, those of one message beside each other.

    `flat` has shape (sentences, dim); `sources` are the messages in the order of their first rows,
    `starts` these rows.
    """

    flat: NDArray[np.float32]
    sources: tuple[str, ...]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Mapping[str, NDArray[np.float32]], *, dim: int) -> Sentences:
        """In the order of the mapping; a message without a sentence is left out."""
        nothing = np.zeros((0, dim), np.float32)
        return cls(flat=nothing, sources=(), starts=np.zeros(0, np.intp)).plus(rows)

    def plus(self, rows: Mapping[str, NDArray[np.float32]]) -> Sentences:
        """These, then those of `rows`. Room is left behind them, so that few are seldom copied."""
        kept = {name: part for name, part in rows.items() if len(part)}
        if not kept:
            return self
        more = np.concatenate(list(kept.values()))
        have, total = len(self.flat), len(self.flat) + len(more)
        room = self.flat.base
        if room is None or len(room) < total or room.shape[1:] != more.shape[1:]:
            room = np.empty((total + total // 4 + 64, more.shape[1]), np.float32)
            room[:have] = self.flat
        room[have:total] = more
        sizes = [len(part) for part in kept.values()]
        starts = np.cumsum([have, *sizes])[:-1].astype(np.intp)
        return Sentences(
            flat=room[:total],
            sources=(*self.sources, *kept),
            starts=np.concatenate([self.starts, starts]),
        )

    def best(self, query: NDArray[np.float32]) -> Floats:
        """The cosine of each message's best sentence, in the order of `sources`."""
        if not len(self.flat):
            return np.zeros(0)
        return np.maximum.reduceat((self.flat @ query).astype(float), self.starts)


@value
class Held:
    """One person's messages as read: `corpus` in their order, `sentences` where they are embedded.

    `places` says where in the corpus each message of `sentences` stands. `sentences` is `None`
    without an embedder.
    """

    stamp: tuple[Any, ...]
    messages: tuple[Message, ...]
    corpus: Corpus
    sentences: Sentences | None
    places: NDArray[np.intp]
    vectors: int

    @property
    def lacking(self) -> int:
        """Messages that have no vector yet."""
        return len(self.messages) - len(self.places) if self.sentences is not None else 0

    def similarity(self, query: NDArray[np.float32] | None) -> tuple[Floats, NDArray[Any]] | None:
        """(cosine of each message, which are measured); the others have the mean of those."""
        if query is None or self.sentences is None or not len(self.places):
            return None
        best = self.sentences.best(query)
        found = np.full(len(self.messages), float(best.mean()))
        found[self.places] = best
        measured = np.zeros(len(self.messages), dtype=bool)
        measured[self.places] = True
        return found, measured


class Shelf:
    """What was read for the persons asked for last; safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[_Scope, Held] = {}
        self._lock = threading.Lock()

    def of(
        self,
        connection: Connection,
        grant: Grant,
        *,
        names: Mapping[str, str],
        embedder: Embeds | None,
        only: str | None = None,
    ) -> Held:
        """The messages in the grant's reach as they are now; `only` names one session."""
        whose = _Scope(
            tenant=str(grant.tenant),
            owner=f"{owner_of(grant)}\0{grant.person is None}",
            patient=patient_of(grant),
            session=only or "",
            names=tuple(sorted(names.items())),
        )
        with self._lock:  # what is read is added to what was: one at a time
            read = _read(connection, grant, self._held.get(whose), names, only)
            held = _with_vectors(connection, grant, read, embedder, only)
            self._held.pop(whose, None)
            self._held[whose] = held
            while len(self._held) > 1 and self._too_much():
                del self._held[next(iter(self._held))]
        return held

    def _too_much(self) -> bool:
        rows = sum(len(one.sentences.flat) for one in self._held.values() if one.sentences)
        return len(self._held) > MOST_SCOPES or rows > MOST_SENTENCES


def _read(
    connection: Connection,
    grant: Grant,
    before: Held | None,
    names: Mapping[str, str],
    only: str | None,
) -> Held:
    stamp = stamp_of(connection, grant, only=only)
    if before is not None and before.stamp == stamp:
        return before
    messages = _grown(connection, grant, before, stamp, only) if before is not None else None
    if messages is None:
        known = {one.source: one for one in before.messages} if before is not None else {}
        messages = tuple(messages_of(connection, grant, only=only, known=known))
    corpus = Corpus(
        [
            Said(key=one.source, session=one.session, speaker=names[one.role], text=one.text,
                 day=one.day)
            for one in messages
        ],
        before=before.corpus if before is not None else None,
    )  # fmt: skip
    sentences = before.sentences if before is not None else None
    return Held(
        stamp=stamp,
        messages=messages,
        corpus=corpus,
        sentences=sentences,
        places=np.zeros(0, np.intp),
        vectors=-1,  # to be looked at
    )


def _grown(
    connection: Connection,
    grant: Grant,
    before: Held,
    stamp: tuple[Any, ...],
    only: str | None,
) -> tuple[Message, ...] | None:
    """The messages with the newer ones in their sessions' places; `None` where others changed."""
    count, ordinals, newest = before.stamp
    if not count or newest is None:
        return None
    more = messages_of(connection, grant, only=only, since=newest)
    if (count + len(more), ordinals + sum(one.ordinal for one in more)) != stamp[:2]:
        return None
    made = list(before.messages)
    for one in more:
        at = len(made)
        while at and made[at - 1].session != one.session:
            at -= 1
        made.insert(at or len(made), one)
    return tuple(made)


def _with_vectors(
    connection: Connection,
    grant: Grant,
    held: Held,
    embedder: Embeds | None,
    only: str | None,
) -> Held:
    if embedder is None:
        return held
    model = embedder.id
    count = vectors.message_count(connection, grant, model=model, only=only)
    if held.vectors == count:
        return held
    place = {one.source: number for number, one in enumerate(held.messages)}
    old = held.sentences
    if old is None or not set(old.sources) <= place.keys():
        old = Sentences.of({}, dim=embedder.dim)
    embedded = set(old.sources)
    missing = [one.source for one in held.messages if one.source not in embedded]
    sentences = old.plus(_vectors(connection, grant, missing, embedder, only))
    if old.sources and len(sentences.sources) != count:
        # Something was taken back: what came of it is let go, and what stands is read anew.
        sentences = Sentences.of(
            _vectors(connection, grant, list(place), embedder, only), dim=embedder.dim
        )
    places = np.array([place[one] for one in sentences.sources], dtype=np.intp)
    return replace(held, sentences=sentences, places=places, vectors=count)


def _vectors(
    connection: Connection,
    grant: Grant,
    sources: Sequence[str],
    embedder: Embeds,
    only: str | None,
) -> dict[str, NDArray[np.float32]]:
    return vectors.message_vectors(
        connection, grant, sources, model=embedder.id, dim=embedder.dim, only=only
    )
