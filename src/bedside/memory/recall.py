"""Remembering for a turn: this conversation's summary and facts, other sessions, messages. No model.

Only what the grant's person said, or was told, is in reach: every read is by tenant, person and
patient. Messages are read from the rows, so that what was said a moment ago is found by its words
before any vector of it exists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from sqlalchemy import Connection

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.language.sentences import sentences
from bedside.language.stems import stems
from bedside.memory import ledger, vectors
from bedside.memory.consent import consented
from bedside.memory.facts import Fact
from bedside.memory.held import Held, Shelf
from bedside.memory.needs import DEPTHS, NotesNeed, Recalled, RecallNeed, Remembered
from bedside.memory.owner import Message
from bedside.memory.rank import Corpus, Ranking, rank
from bedside.memory.summaries import render
from bedside.memory.vectors import Embeds
from bedside.memory.when import meant_days
from bedside.storage.store import Store

__all__ = ["Memory", "ranked"]

RELATED = 0.3
"""Cosine from which a message counts as related although it shares no word with the question."""
_SUMMARY_TOKENS = 220
_PASSAGE_TOKENS = 90
_HEADLINE_TOKENS = 60
_NAMES = {"user": "you", "assistant": "the assistant"}


class Memory:
    """The memory of one installation. `embedder` is `None` where embeddings are switched off."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embeds | None,
        clock: Clock,
        count: Callable[[str], int],
    ) -> None:
        self._store, self._embedder = store, embedder
        self._clock, self._count = clock, count
        self._shelf = Shelf()

    async def recall(self, need: RecallNeed, grant: Grant) -> Recalled:
        """`recall_now` in a thread."""
        return await asyncio.to_thread(self.recall_now, need, grant)

    def recall_now(self, need: RecallNeed, grant: Grant) -> Recalled:
        """What is remembered for a message, in at most `need.tokens` tokens. Calls no model.

        Raises:
            Unavailable: the store does not answer.
        """
        if need.depth == "none":
            return Recalled(why_empty="recall is off for this turn")
        query = self._embedded(need.query)
        return self._store.read_now(lambda c: self._recall(c, need, grant, query))

    async def notes(self, need: NotesNeed, grant: Grant) -> Recalled:
        """What the clinician wants remembered about the work, newest first; nothing without consent."""
        return await self._store.read(lambda c: self._notes(c, need, grant))

    async def catch_up(self, grant: Grant, *, names: Mapping[str, str] | None = None) -> int:
        """`catch_up_now` in a thread."""
        return await asyncio.to_thread(self.catch_up_now, grant, names=names)

    def catch_up_now(self, grant: Grant, *, names: Mapping[str, str] | None = None) -> int:
        """Make the vectors that the owner's messages and sessions lack; how many. After the answer."""
        if self._embedder is None:
            return 0
        model = self._embedder.id
        speakers = dict(names or {})
        done = 0
        while True:
            missing = self._store.read_now(
                lambda c: vectors.pending(c, grant, model=model, names=speakers)
            )
            if not missing:
                return done
            flat = [text for one in missing for text in one.texts]
            rows = self._embedder.embed(flat, kind="passage")
            made, at = [], 0
            for one in missing:
                made.append((one, rows[at : at + len(one.texts)]))
                at += len(one.texts)
            kept = self._store.write_now(
                lambda c, made=made: vectors.store(c, grant, made, model=model)
            )
            if not kept:
                return done
            done += kept

    async def warm(self, grant: Grant) -> int:
        """Read what a first recall of the grant's person would read, in a thread; how many messages.

        For when a person opens their conversation: the first recall of a process then finds the words
        and vectors of years in memory, instead of reading them inside its deadline.
        """

        def read(connection: Connection) -> int:
            across = consented(connection, grant, "across")
            here = str(grant.session or "")
            if not (across or here):
                return 0
            need = RecallNeed(name="warm", query="")
            held = self._held(connection, grant, need, only=None if across else here)
            return len(held.messages)

        return await asyncio.to_thread(self._store.read_now, read)

    def ranking_now(self, need: RecallNeed, grant: Grant) -> tuple[Corpus, Ranking]:
        """The whole ranking behind a recall over all of the owner's conversations, to be measured."""
        query = self._embedded(need.query)

        def read(connection: Connection) -> tuple[Corpus, Ranking]:
            held = self._held(connection, grant, need)
            return held.corpus, ranked(need, held, query=query)[0]

        return self._store.read_now(read)

    # ---- reading

    def _embedded(self, text: str) -> Any:
        if self._embedder is None or not text.strip():
            return None
        return self._embedder.embed([text], kind="query")[0]

    def _notes(self, connection: Connection, need: NotesNeed, grant: Grant) -> Recalled:
        if not consented(connection, grant, "notes"):
            return Recalled(why_empty="no consent to notes")
        facts = ledger.facts_of(connection, replace(grant, patient=None), "note")
        if grant.patient is not None:  # said under this patient, and shown under no other
            facts += ledger.facts_of(connection, grant, "note")
        items = [self._fact(fact, "note", 0.0) for fact in reversed(facts)]
        return self._fitted(items[: need.limit], tokens=need.tokens, why="nothing remembered")

    def _recall(
        self, connection: Connection, need: RecallNeed, grant: Grant, query: Any
    ) -> Recalled:
        here = str(grant.session or "")
        across = need.across and consented(connection, grant, "across")
        items: list[Remembered] = []
        degraded: list[str] = []
        summary = ledger.summary_of(connection, grant, session=here) if here else None
        if summary is not None:
            text = render(summary, count=self._count, tokens=_SUMMARY_TOKENS)
            items.append(
                self._sized(
                    Remembered(kind="summary", key=f"summary:{here}", text=text, session=here)
                )
            )
        if here:
            own = ledger.facts_of(connection, grant, "session", session=here)
            items += self._chosen(own, "fact", need)
        if need.across and consented(connection, grant, "profile"):
            items += self._chosen(ledger.facts_of(connection, grant, "profile"), "profile", need)
        if DEPTHS[need.depth]:
            held = None
            if across or here:
                held = self._held(connection, grant, need, only=None if across else here)
                if held.lacking:
                    degraded.append(f"vectors not ready: {held.lacking} messages")
            if across:
                items += self._sessions(connection, need, grant, query)
            if held is not None and held.messages:
                items += self._messages(need, held, query)
        why = "nothing remembered that fits"
        if need.across and not across:
            why += "; no consent to other sessions"
        return replace(self._fitted(items, tokens=need.tokens, why=why), degraded=tuple(degraded))

    def _held(
        self, connection: Connection, grant: Grant, need: RecallNeed, *, only: str | None = None
    ) -> Held:
        names = {**_NAMES, **dict(need.names)}
        return self._shelf.of(connection, grant, names=names, embedder=self._embedder, only=only)

    def _chosen(self, facts: Sequence[Fact], kind: Any, need: RecallNeed) -> list[Remembered]:
        """The facts nearest to the question by their words, the newest where none is."""
        asked = set(stems(need.query))
        scored = [
            (len(asked & set(stems(fact.text))), place, fact) for place, fact in enumerate(facts)
        ]
        best = sorted(scored, key=lambda one: (-one[0], -one[1]))[: need.facts]
        return [self._fact(fact, kind, float(score)) for score, _, fact in best]

    def _fact(self, fact: Fact, kind: Any, score: float) -> Remembered:
        return self._sized(
            Remembered(
                kind=kind,
                key=fact.id,
                text=fact.text,
                session="",
                span=_span(fact.source, fact.revision, fact.start, fact.end),
                quote=fact.quote,
                category=fact.category,
                label=fact.category,
                score=score,
            )
        )

    def _sessions(
        self, connection: Connection, need: RecallNeed, grant: Grant, query: Any
    ) -> list[Remembered]:
        """Other sessions whose facts and summary are near to the question: their heads."""
        if query is None or self._embedder is None:
            return []
        stored = vectors.session_vectors(connection, grant, model=self._embedder.id)
        scored: list[tuple[float, float, str]] = []
        for session, vector in stored.items():
            cosine = float(vector @ query)
            score = cosine * (need.boost if session in need.linked else 1.0)
            if session != str(grant.session or "") and score >= need.threshold:
                scored.append((score, cosine, session))
        scored.sort(key=lambda one: (-one[0], one[2]))
        found: list[Remembered] = []
        for score, cosine, session in scored[: DEPTHS[need.depth]]:
            text = _cut(
                vectors.session_text(connection, grant, session), _HEADLINE_TOKENS, self._count
            )
            made = Remembered(
                kind="summary", key=f"summary:{session}", text=text, session=session,
                label="an earlier conversation", score=score, similarity=cosine,
            )  # fmt: skip
            found.append(self._sized(made))
        return found

    def _messages(self, need: RecallNeed, held: Held, query: Any) -> list[Remembered]:
        """The messages that fit best, cut to the sentences that do."""
        names = {**_NAMES, **dict(need.names)}
        corpus, messages = held.corpus, held.messages
        ranking, measured = ranked(need, held, query=query)
        asked = set(stems(need.query)) - frozenset().union(*corpus.speakers)
        found: list[Remembered] = []
        for place in ranking.best():
            if len(found) >= need.messages:
                break
            message = messages[place]
            similarity = None
            if ranking.similarity is not None and measured is not None and measured[place]:
                similarity = float(ranking.similarity[place])
            near = (similarity or 0.0) >= RELATED
            if message.source in need.shown or not (near or _shares(asked, corpus, place)):
                continue
            found.append(
                self._message(message, names[message.role], asked, ranking, place, similarity)
            )
        return found

    def _message(
        self,
        message: Message,
        speaker: str,
        asked: set[str],
        ranking: Ranking,
        place: int,
        similarity: float | None,
    ) -> Remembered:
        start, end = _passage(message.text, asked, _PASSAGE_TOKENS, self._count)
        text = message.text[start:end]
        meant = [
            f"{one.said} = {_day(one.first, one.last)}" for one in meant_days(text, message.day)
        ]
        label = "; ".join([f"{_day(message.day)}, {speaker}", *dict.fromkeys(meant[:2])])
        return self._sized(
            Remembered(
                kind="message",
                key=message.source,
                text=text,
                label=label,
                quote=text,
                session=message.session,
                said=message.day,
                span=_span(message.source, 1, start, end),
                score=float(ranking.scores[place]),
                similarity=similarity,
            )
        )

    def _sized(self, item: Remembered) -> Remembered:
        return replace(item, tokens=self._count(item.line) + 1)

    def _fitted(self, items: Iterable[Remembered], *, tokens: int, why: str) -> Recalled:
        kept: list[Remembered] = []
        used = left_out = 0
        for item in items:
            if not item.text:
                continue
            if used + item.tokens > tokens:
                left_out += 1
                continue
            kept.append(item)
            used += item.tokens
        return Recalled(
            items=tuple(kept), tokens=used, left_out=left_out, why_empty="" if kept else why
        )


def ranked(need: RecallNeed, held: Held, *, query: Any) -> tuple[Ranking, Any]:
    """Every message of the owner ranked for the question, and the sessions with them.

    The second part says for each message whether a vector of its own was compared; `None` where
    there are no vectors.
    """
    names = {**_NAMES, **dict(need.names)}
    compared = held.similarity(query)
    similarity, measured = compared if compared is not None else (None, None)
    ranking = rank(held.corpus, need.query, similarity=similarity, own=names["user"])
    if need.linked:
        ranking = _boosted(ranking, held.corpus, need)
    return ranking, measured


def _shares(asked: set[str], corpus: Corpus, place: int) -> bool:
    """Does the message, or one beside it in its session, hold a word of the question?"""
    for near in (place, place - 1, place + 1):
        there = 0 <= near < len(corpus) and corpus.of_session[near] == corpus.of_session[place]
        if there and asked & corpus.counts[near].keys():
            return True
    return False


def _boosted(ranking: Ranking, corpus: Corpus, need: RecallNeed) -> Ranking:
    """Messages of linked private spaces weigh more.

    Scores are of mean 0, so what is multiplied is how far a message stands above the least of all.
    """
    belongs = np.array([one.session in need.linked for one in corpus.said], dtype=bool)
    if not belongs.any():
        return ranking
    least = ranking.scores.min()
    scores = np.where(belongs, least + (ranking.scores - least) * need.boost, ranking.scores)
    return replace(ranking, scores=scores)


def _span(source: str, revision: int, start: int, end: int) -> Span:
    made = Source(id=SourceId(source), revision=revision, kind="message", title="message")
    return Span(source=made, start=start, end=end)


def _passage(
    text: str, asked: set[str], tokens: int, count: Callable[[str], int]
) -> tuple[int, int]:
    """The run of whole sentences round the one with most words of the question, within the tokens."""
    if count(text) <= tokens:
        return 0, len(text)
    spans = sentences(text) or [(0, len(text))]
    hits = [len(asked & set(stems(text[start:end]))) for start, end in spans]
    first = last = hits.index(max(hits))
    while True:
        grown = [(first - 1, last), (first, last + 1)]
        fits = [
            (left, right)
            for left, right in grown
            if left >= 0
            and right < len(spans)
            and count(text[spans[left][0] : spans[right][1]]) <= tokens
        ]
        if not fits:
            break
        first, last = max(fits, key=lambda pair: hits[pair[0]] + hits[pair[1]])
    return spans[first][0], spans[last][1]


def _cut(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """Whole lines of a text, as many as fit."""
    kept: list[str] = []
    for line in text.splitlines():
        if count("\n".join([*kept, line])) > tokens:
            break
        kept.append(line)
    return "\n".join(kept)


def _day(first: date, last: date | None = None) -> str:
    if last is None or last == first:
        return f"{first.day} {first:%b %Y}"
    return f"{_day(first)} to {_day(last)}"
