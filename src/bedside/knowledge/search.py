"""The room's door for reading: search shared knowledge, or one patient's own documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, func, select

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import AccessDenied, DeadlineExceeded, InvalidArgument, OutsideError
from bedside.core.source import Span
from bedside.knowledge.bulk import bulk, bulk_knowledge, cut_at_sentence
from bedside.knowledge.embed.protocol import Embedder
from bedside.knowledge.first import lost_words
from bedside.knowledge.index.rows import load_patient, pending, source_value
from bedside.knowledge.index.scoring import frequency
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.index.snapshot import Snapshots
from bedside.knowledge.near import Near, Outside, with_vectors
from bedside.knowledge.needs import Filters, Hit, Hits, SearchNeed
from bedside.knowledge.question import Question, borne, prepare, read_question
from bedside.knowledge.rank import Ranked, rank
from bedside.knowledge.respell import as_written, respelt, slips, unknown
from bedside.knowledge.within import within
from bedside.knowledge.writing import remove
from bedside.language.stems import STOP_WORDS, stem, words
from bedside.storage.store import Store
from bedside.storage.tables.source import chunk, source

__all__ = ["MOST_HITS", "SHARED_TENANT", "Knowledge"]

SHARED_TENANT = "*"
"""Knowledge of this tenant is searched with everybody's own."""
MOST_HITS = 10
MOST_CHARS = 8_000
MOST_CHARS_EACH = 2_000
_FRESH_PASSAGES = 3
_SPARE = 5
"""Hits read beyond the limit, in place of those that have gone or are too long."""
_RESERVE_MS, _RESERVE_SHARE = 50, 0.1
"""Kept back from the deadline for reading bulk text, so that it comes before whoever waits leaves."""
_EMBED_SHARE = 0.6
"""Share of the deadline that the query's embedding may take before words must do alone."""
_NO_WORD = "the query holds no word to search by, only signs or words too common"


class Knowledge:
    """Search over one store. Safe between threads; made once by wiring.

    `embedder` is `None` where no model is at hand: then words alone serve, and every result says so.
    `outside` is an index that searches where knowledge has more vectors than memory is to hold;
    `None` leaves all of it to the snapshots. A patient's documents are always read from their rows.
    `folder` is where a large library lies loaded between processes (`knowledge.index.kept`).
    `why_off` is what results say where `embedder` is `None`.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None,
        clock: Clock,
        outside: Outside | None = None,
        folder: Path | None = None,
        why_off: str = "no embedding model",
    ) -> None:
        self._store, self._embedder, self._clock = store, embedder, clock
        self._why_off = why_off
        self._outside = outside if embedder else None
        dim = embedder.dim if embedder else 1
        self.snapshots = Snapshots(model=embedder.id if embedder else None, dim=dim, folder=folder)
        self._words = Snapshots(model=None, dim=dim, folder=folder)

    async def search(
        self, grant: Grant, need: SearchNeed, *, embedder: Embedder | None = None
    ) -> Hits:
        """`search_now` in a thread."""
        return await asyncio.to_thread(self.search_now, grant, need, embedder=embedder)

    def search_now(
        self, grant: Grant, need: SearchNeed, *, embedder: Embedder | None = None
    ) -> Hits:
        """Passages for a query, inside the grant's scope.

        Shared knowledge: the tenant's own and that of `SHARED_TENANT`. Documents: those of the
        grant's patient alone. Filters apply before ranking. When the deadline of the need is all but
        over (or, of documents, when nothing is found) bulk text comes: a patient's documents, or the
        beginnings of the guidelines that the query names. What did not serve is named in `degraded`.
        At most 8,000 characters: 2,000 of each patient's passage, cut at a sentence; a guideline's
        passage whole or not at all. `embedder` embeds this question in place of the room's own: the
        same model, asked in another way.

        Raises:
            AccessDenied: Documents are asked for without a patient in the grant.
            InvalidArgument: `limit` is not in 1 to 10, or the query is blank.
        """
        if not 1 <= need.limit <= MOST_HITS:
            raise InvalidArgument("limit", found=need.limit, want=f"1 to {MOST_HITS}")
        if not need.query.strip() and not (need.fresh or need.selected):
            raise InvalidArgument("query", found="", want="some words")
        if need.corpus == "documents" and grant.patient is None:
            raise AccessDenied("search documents", need="a patient in the grant")
        prepare()
        seconds = need.deadline_ms / 1000
        begun = self._clock.monotonic()
        searching = seconds - min(_RESERVE_MS / 1000, seconds * _RESERVE_SHARE)
        lost = ""
        try:
            found = within(searching, "search", lambda: self._searched(grant, need, embedder))
        except (DeadlineExceeded, OutsideError) as error:
            lost = "search timed out" if isinstance(error, DeadlineExceeded) else "search failed"
            found = Hits(why_empty=lost, degraded=(lost,))
        left = max(seconds - (self._clock.monotonic() - begun), 1.0)
        if need.corpus == "documents":
            return self._filled(grant, need, found, seconds=left)
        return self._named(grant, need, found, seconds=left) if lost else found

    def bulk_now(self, grant: Grant, need: SearchNeed) -> Hits:
        """What serves when no search answers at all: bulk text, and `degraded` says so."""
        lost = "search did not answer"
        found = Hits(why_empty=lost, degraded=(lost,))
        seconds = need.deadline_ms / 1000
        if need.corpus == "knowledge" or grant.patient is None:
            return self._named(grant, need, found, seconds=seconds)
        return self._filled(grant, need, found, seconds=seconds)

    def warm(self, tenant: str) -> int:
        """Load a tenant's knowledge (and the shared one) now, so that no search waits for it.

        A large library is kept in a file for the next process. Returns how many chunks are held.
        """
        prepare()
        tenants = list(dict.fromkeys([tenant, SHARED_TENANT]))

        def load(connection: Connection) -> int:
            outside = self._outside is not None and self._outside.serves(connection, tenants)
            held = [(self._words if outside else self.snapshots).at(connection, n) for n in tenants]
            return sum(len(segment) for one in held for segment in one.segments)

        count = self._store.read_now(load)
        for held in (self.snapshots, self._words):
            for name in tenants:
                if held.keep(name):
                    self._store.read_now(partial(held.settle, tenant=name))
        return count

    def remove_now(
        self, tenant: str, document: str, *, noted: Callable[[Connection], object] | None = None
    ) -> int:
        """Remove a document of a tenant's knowledge with all its editions; how many went.

        Its rows go, and with them every file that was made of them, of this process and of others; a
        process that holds them in memory drops them before it answers again. 0 where there is none of that
        name; a patient's document is none, nor is a note, or a rule of a table that ships. `noted` is
        called in the same transaction where there is one.
        """

        def work(connection: Connection) -> int:
            shared = select(source.c.id).where(
                source.c.tenant == tenant,
                source.c.id == document,
                source.c.kind == "guideline",
                source.c.patient.is_(None),
                source.c.id.not_like("pack:%"),
            )
            if connection.execute(shared).first() is None:
                return 0
            if noted is not None:
                noted(connection)
            return remove(connection, tenant, document)

        gone = self._store.write_now(work)
        self.snapshots.discard(tenant)
        return gone

    # ---- the search itself ----------------------------------------------------------------------

    def _searched(self, grant: Grant, need: SearchNeed, embedder: Embedder | None) -> Hits:
        meant = self._slips(grant, need)
        need = replace(need, query=respelt(need.query, meant))
        question, degraded = self._embedded(need, self._question(grant, need), embedder)
        near = self._near(grant, need, question)
        if near is not None and near.found is None:
            question, degraded = replace(question, vector=None), (*degraded, near.why)
        found = self._store.read_now(
            lambda connection: self._answered(connection, grant, need, question, degraded, near)
        )
        return replace(found, read_as=meant)

    def _slips(self, grant: Grant, need: SearchNeed) -> tuple[tuple[str, str], ...]:
        """The query's slips of the pen with what was meant, where memory holds the library's words."""
        if need.corpus != "knowledge" or self._outside is not None:
            return ()
        held = [segment for name in _tenants(grant) for segment in self.snapshots.held(name)]
        if held and not unknown(need.query, held):
            return ()

        def mended(connection: Connection) -> tuple[tuple[str, str], ...]:
            segments = self._segments(connection, grant, need, lean=False)
            return slips(need.query, segments, partial(as_written, connection))

        return self._store.read_now(mended)

    def _near(self, grant: Grant, need: SearchNeed, question: Question) -> Near | None:
        """What the outside index names; `None` where the snapshots hold the vectors themselves."""
        if self._outside is None or need.corpus != "knowledge":
            return None
        outside, tenants = self._outside, _tenants(grant)
        if not self._store.read_now(lambda connection: outside.serves(connection, tenants)):
            return None
        return outside.near(tenants, question, need.filters)

    def _question(self, grant: Grant, need: SearchNeed) -> Question:
        """The query as read. What its signs suggest counts where a passage is to be found under it."""
        question = read_question(need.query)
        if not question.suggested:
            return question

        def held(connection: Connection) -> Question:
            lean = self._outside is not None and self._outside.serves(connection, _tenants(grant))
            return borne(question, self._segments(connection, grant, need, lean=lean))

        return self._store.read_now(held)

    def _embedded(
        self, need: SearchNeed, question: Question, asked: Embedder | None
    ) -> tuple[Question, tuple[str, ...]]:
        if need.retriever == "lexical":
            return question, ()
        if self._embedder is None:
            return question, (f"dense search is off: {self._why_off}",)
        embedder = asked or self._embedder
        seconds = need.deadline_ms / 1000 * _EMBED_SHARE
        try:
            rows = within(seconds, "dense", lambda: embedder.embed([question.spoken], kind="query"))
        except DeadlineExceeded:
            return question, ("dense timed out",)
        except OutsideError:
            return question, ("dense failed: the embedder did not answer",)
        return question.with_vector(rows[0]), ()

    def _answered(
        self,
        connection: Connection,
        grant: Grant,
        need: SearchNeed,
        question: Question,
        degraded: tuple[str, ...],
        near: Near | None,
    ) -> Hits:
        segments = self._segments(connection, grant, need, lean=near is not None)
        if not segments:
            nothing = "no guidelines" if need.corpus == "knowledge" else "no indexed documents"
            return Hits(why_empty=nothing, degraded=degraded)
        if not question.names and not need.fresh:
            return Hits(why_empty=_NO_WORD, degraded=degraded)
        lean = near is not None
        degraded += self._not_ready(connection, grant, need, () if lean else segments)
        if near is not None and near.found is not None and self._outside is not None:
            late, missed = self._outside.behind(connection, _tenants(grant))
            if missed:
                degraded += (f"the vector index is behind: {missed} documents",)
            segments = with_vectors(
                connection,
                segments,
                question,
                filters=need.filters,
                near=near.found,
                also=late,
                model=str(self.snapshots.model),
            )
        if need.retriever == "dense" and question.vector is None:
            return Hits(why_empty="dense search did not serve", degraded=degraded)
        threshold = self._embedder.threshold if self._embedder else 1.0
        ranking = rank(
            segments,
            question,
            filters=need.filters,
            retriever=need.retriever,
            threshold=threshold,
            limit=need.limit + _SPARE,
        )
        ranked = [*ranking.ranked, *self._fresh(segments, question, need, ranking.ranked)]
        hits = _read(connection, grant, need, ranked)
        why = ""
        if not hits:
            if not ranking.searched:
                why = "the filters leave nothing to search"
            elif need.retriever == "dense" and degraded:
                why = degraded[-1]
            elif not ranking.ranked:
                why = _why_nothing(segments, question, ranking.searched)
            else:
                why = "what was found has just been removed, or is too long to be shown whole"
        return Hits(
            hits=hits,
            why_empty=why,
            removed_by_filter=ranking.removed_by_filter,
            degraded=degraded,
            in_no_passage=_unheld(segments, question),
        )

    def _segments(
        self, connection: Connection, grant: Grant, need: SearchNeed, *, lean: bool
    ) -> tuple[Segment, ...]:
        if need.corpus == "knowledge":
            held = self._words if lean else self.snapshots
            if lean:
                self.snapshots.forget(str(grant.tenant))  # it has outgrown memory
            return tuple(
                segment
                for tenant in _tenants(grant)
                for segment in held.at(connection, tenant).segments
            )
        entries = load_patient(
            connection, grant.tenant, str(grant.patient), model=self.snapshots.model
        )
        return (Segment(entries, dim=self.snapshots.dim),) if entries else ()

    def _not_ready(
        self,
        connection: Connection,
        grant: Grant,
        need: SearchNeed,
        segments: Sequence[Segment],
    ) -> tuple[str, ...]:
        """Of documents without vectors: new ones, and those with the vectors of another model alone."""
        if need.retriever == "lexical" or self._embedder is None:
            return ()
        if segments:
            count = len(frozenset[tuple[str, str]]().union(*(one.bare for one in segments)))
        else:
            count = sum(pending(connection, tenant, None) for tenant in _tenants(grant))
        return (f"vectors not ready: {count} document{'s' * (count != 1)}",) if count else ()

    def _fresh(
        self,
        segments: Sequence[Segment],
        question: Question,
        need: SearchNeed,
        ranked: Sequence[Ranked],
    ) -> list[Ranked]:
        """The most relevant passages of documents attached for this turn that search left out."""
        found: list[Ranked] = []
        for name in need.fresh:
            if sum(1 for hit in ranked if hit.document.id == name) >= _FRESH_PASSAGES:
                continue
            own = rank(
                segments,
                question,
                filters=Filters(document=name),
                retriever="hybrid",
                threshold=-1.0,
                limit=_FRESH_PASSAGES,
                feedback=False,
                floor=0.0,
            )
            known = {hit.id for hit in ranked}
            found.extend(hit for hit in own.ranked if hit.id not in known)
        return found

    # ---- fallbacks ------------------------------------------------------------------------------

    def _named(self, grant: Grant, need: SearchNeed, found: Hits, *, seconds: float) -> Hits:
        """The beginnings of the guidelines that the query names, in place of a search."""

        def read(connection: Connection) -> list[Hit]:
            return bulk_knowledge(
                connection,
                read_question(need.query, among=()),
                tenants=_tenants(grant),
                filters=need.filters,
            )

        try:
            more = within(seconds, "bulk text", lambda: self._store.read_now(read))
        except (DeadlineExceeded, OutsideError):
            return replace(found, degraded=(*found.degraded, "bulk text did not serve"))
        return replace(found, hits=tuple(more), why_empty="" if more else found.why_empty)

    def _filled(self, grant: Grant, need: SearchNeed, found: Hits, *, seconds: float) -> Hits:
        """Bulk text for what search did not bring: everything, or the documents that must show."""
        present = {str(hit.span.source.id) for hit in found.hits}
        must = [name for name in (*need.fresh, *need.selected) if name not in present]
        if found.hits and not must:
            return found
        only = must if found.hits or must else None

        def read(connection: Connection) -> list[Hit]:
            return bulk(
                connection,
                tenant=grant.tenant,
                patient=str(grant.patient),
                only=only,
                leave_out=present,
            )

        try:
            more = within(seconds, "bulk text", lambda: self._store.read_now(read))
        except (DeadlineExceeded, OutsideError):
            return replace(found, degraded=(*found.degraded, "bulk text did not serve"))
        placed = tuple(
            replace(hit, rank=len(found.hits) + number) for number, hit in enumerate(more, 1)
        )
        return replace(found, hits=(*found.hits, *placed))


def _why_nothing(segments: Sequence[Segment], question: Question, searched: int) -> str:
    """Why no passage came over a threshold: a query of no words, of words unknown here, or too far."""
    if not question.terms:
        return _NO_WORD
    if not any(frequency(segments, term) for term in question.terms):
        and_meaning = "" if question.vector is None else ", and none is close in meaning"
        return f"none of its words is in any of {searched} passages{and_meaning}"
    return f"nothing is close enough among {searched} passages"


def _unheld(segments: Sequence[Segment], question: Question) -> tuple[str, ...]:
    """Telling words of the query that no living passage holds, nor any other name of them."""
    lost = lost_words(segments, question)
    if not lost:
        return ()
    return tuple(
        word
        for word in dict.fromkeys(words(question.text))
        if not word[:1].isdigit() and word not in STOP_WORDS and stem(word) in lost
    )


def _tenants(grant: Grant) -> list[str]:
    """Whose knowledge is searched: the tenant's own and what is shared."""
    return list(dict.fromkeys([str(grant.tenant), SHARED_TENANT]))


@cache
def _passages(*, shared: bool) -> Select[Any]:
    """Chunks by id with their texts: of what all may read, or of one patient."""
    of_source = and_(
        chunk.c.tenant == source.c.tenant,
        chunk.c.source == source.c.id,
        chunk.c.revision == source.c.revision,
    )
    length = chunk.c.end - chunk.c.start
    columns = [column for column in source.c if column.name not in {"text", "meta"}]
    own = source.c.patient.is_(None) if shared else source.c.patient == bindparam("patient")
    return (
        select(
            chunk.c.tenant.label("chunk_tenant"),
            chunk.c.id.label("chunk"),
            chunk.c.section.label("path"),
            chunk.c.prefix,
            chunk.c.start,
            chunk.c.end,
            chunk.c.tokens,
            func.substr(source.c.text, chunk.c.start + 1, length).label("body"),
            *columns,
        )
        .select_from(chunk.join(source, of_source))
        .where(
            own,
            chunk.c.tenant.in_(bindparam("tenants", expanding=True)),
            chunk.c.id.in_(bindparam("chunks", expanding=True)),
        )
    )


def _read(
    connection: Connection, grant: Grant, need: SearchNeed, ranked: Sequence[Ranked]
) -> tuple[Hit, ...]:
    """Texts of ranked chunks from their rows; a chunk whose row has gone is no hit. Caps apply."""
    named: dict[str, Any] = {
        "tenants": list(dict.fromkeys(hit.document.tenant for hit in ranked)),
        "chunks": [hit.id for hit in ranked],
    }
    if need.corpus != "knowledge":
        named["patient"] = str(grant.patient)
    rows = connection.execute(_passages(shared=need.corpus == "knowledge"), named)
    by_id = {(row.chunk_tenant, row.chunk): row for row in rows}
    fresh = frozenset(need.fresh)
    found: list[Hit] = []
    room = MOST_CHARS
    must = [hit for hit in ranked if hit.document.id in fresh][: _FRESH_PASSAGES * len(fresh)]
    rest = [hit for hit in ranked if hit not in must]
    for hit in (*must, *rest):
        row = by_id.get((hit.document.tenant, hit.id))
        if row is None or len(found) >= max(need.limit, len(must)):
            continue
        end = row.end
        if need.corpus == "documents":
            end = row.start + cut_at_sentence(row.body, 0, min(MOST_CHARS_EACH, room))
        if end - row.start > room or end <= row.start:
            continue
        room -= end - row.start
        whole = end == row.end
        found.append(
            Hit(
                chunk_id=hit.id,
                span=Span(source=source_value(row, section=row.path), start=row.start, end=end),
                text=row.body[: end - row.start],
                prefix=row.prefix,
                rank=len(found) + 1,
                score=hit.score,
                similarity=hit.similarity,
                lexical=hit.lexical,
                tokens=row.tokens if whole else None,
            )
        )
    return tuple(found)
