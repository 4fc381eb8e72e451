"""Texts behind the engine: knowledge and patients' documents, in, searchable, and found."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, select

from bedside.context.tokens import o200k
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import BadInput, BedsideError, EgressRefused, NotFound, OutsideError
from bedside.core.ids import PatientId
from bedside.knowledge.index.protocol import VectorIndex
from bedside.knowledge.ingest import (
    IngestReport,
    Labels,
    Progress,
    Upload,
    add_parsed,
    embed_pending,
    ingest,
)
from bedside.knowledge.near import Outside
from bedside.knowledge.needs import Filters, Hits, SearchNeed
from bedside.knowledge.parse import Parsed, parse
from bedside.knowledge.parse.apart import parse_apart
from bedside.knowledge.search import Knowledge
from bedside.models.config import ModelsConfig
from bedside.models.egress import statement
from bedside.models.identifiers import Veil
from bedside.record import documents as uploads
from bedside.record.guess import Guess, guess
from bedside.settings import Settings
from bedside.storage import access
from bedside.storage.secret import kept_secret
from bedside.storage.store import Store
from bedside.storage.tables.source import chunk, source
from bedside.wiring.ask import Who
from bedside.wiring.embedding import Elsewhere, Sent, make_embedder
from bedside.wiring.models import models_config, spoken_of
from bedside.wiring.names import Names
from bedside.wiring.records import known_of
from bedside.wiring.texts_json import ending_of, hit_json, labels_of
from bedside.wiring.vectors import load_client, make_outside

__all__ = ["Tell", "Texts", "documents_in"]

Tell = Callable[[str, int, int], None]
"""Progress for a person: what, how many done, of how many."""

SECONDS_BETWEEN_LOOKS = 2.0
_MOST_SECONDS_BETWEEN_LOOKS = 256.0
"""How far the looks part while the embedder does not answer: each time twice as far."""
_BY_WORDS = "by words alone: the embedder is not on this machine"


class Texts:
    """One store's texts. The embedding model is loaded at its first use."""

    def __init__(self, *, settings: Settings, store: Store, clock: Clock) -> None:
        self._settings, self._store, self._clock = settings, store, clock
        self._stopping = threading.Event()
        self._embedding = threading.Lock()
        self._loaded: set[str] = set()
        self._names = Names()
        load_client(settings)  # now: it takes seconds, and a search has a deadline

    @cached_property
    def _models(self) -> ModelsConfig:
        return models_config(self._settings, secret=kept_secret(self._store, "veil"))

    @cached_property
    def _made(self) -> tuple[Any, EgressRefused | None]:
        try:
            made = make_embedder(self._settings, config=self._models, clock=self._clock)
        except EgressRefused as error:  # as with models: nothing is sent, and the work goes on
            return None, error
        return made, None

    @property
    def _embedder(self) -> Any:
        return self._made[0]

    @property
    def embedder(self) -> Any:
        """The embedder of the settings, shared by every room; `None` where it is switched off."""
        return self._embedder

    @property
    def embedded_elsewhere(self) -> str:
        """The provider that guidelines and questions are sent to for their vectors; "" for none."""
        return self._embedder.provider if isinstance(self._embedder, Elsewhere) else ""

    @cached_property
    def outside(self) -> Outside | None:
        """The index of vectors that the settings name, `None` where memory holds them."""
        return make_outside(self._settings, self._store, self._embedder)

    @property
    def indexes(self) -> tuple[VectorIndex, ...]:
        """Every index outside the rows: what an erasure must reach."""
        return (self.outside.index,) if self.outside is not None else ()

    @cached_property
    def _knowledge(self) -> Knowledge:
        return Knowledge(
            self._store,
            embedder=self._embedder,
            clock=self._clock,
            outside=self.outside,
            folder=self._settings.cache / "knowledge",
            why_off=f"{self._made[1].provider} is not in egress.allow"
            if self._made[1]
            else "no embedding model",
        )

    def embedder_id(self) -> str:
        """The embedding model's id; loads it, so that a broken one shows.

        Raises:
            EgressRefused: It is remote, and its provider is not in `egress.allow`.
        """
        if self._made[1] is not None:
            raise self._made[1]
        if self._embedder is None:
            return "switched off"
        if hasattr(self._embedder, "warm"):
            self._embedder.warm()
        return str(self._embedder.id)

    async def warm(self) -> None:
        """Load the model now (and build its graph, the first time), so that no search waits."""
        await asyncio.to_thread(self.embedder_id)

    async def load(self, need: SearchNeed, grant: Grant) -> None:
        """Hold in memory what this need reads there: the model, and the tenant's knowledge.

        A deadline is for searching; this is for before it. Done once in a process.
        """
        if need.retriever != "lexical" and self._embedder is not None:
            with suppress(BedsideError):  # the search itself says what did not serve
                await self.warm()
        if need.corpus == "knowledge" and grant.tenant not in self._loaded:
            await asyncio.to_thread(self._knowledge.warm, grant.tenant)
            self._loaded.add(grant.tenant)

    async def load_ahead(self) -> None:
        """`load` for the settings' tenant before anybody asks: a model and 100,000 chunks take seconds.

        Where there is no knowledge nothing is loaded. What fails here, a search will say.
        """
        tenant = self._settings.tenant
        with suppress(BedsideError):
            if tenant not in self._loaded and await asyncio.to_thread(self._knowledge.warm, tenant):
                self._loaded.add(tenant)
                await self.warm()

    # ---- search

    async def search_need(
        self, need: SearchNeed, grant: Grant, *, sent: Sent | None = None
    ) -> Hits:
        """Meet a search need inside the grant's scope.

        Where the embedder is elsewhere, a question about guidelines goes there without its direct
        identifiers, and `sent` notes it; without a `sent` nothing goes. A patient's documents are
        searched by words alone: they have no vectors of it.
        """
        elsewhere = self._embedder
        if need.retriever == "lexical" or not isinstance(elsewhere, Elsewhere):
            return await self._knowledge.search(grant, need)
        if need.corpus == "documents":
            found = await self._knowledge.search(grant, replace(need, retriever="lexical"))
            return replace(found, degraded=(*found.degraded, _BY_WORDS))
        if sent is None:
            return await self._knowledge.search(grant, need)
        hide = await self._hiding(grant)
        return await self._knowledge.search(grant, need, embedder=elsewhere.asking(hide, sent))

    async def _hiding(self, grant: Grant) -> Callable[[str], str]:
        """Takes out what `egress.identifiers` says: what the gateway of models takes out."""
        egress = self._models.egress
        if not egress.deidentify:
            return str
        known = await self._store.read(
            lambda c: known_of(c, grant.tenant, grant.patient, self._names)
        )

        def hide(text: str) -> str:
            veil = Veil((*known.veil, *spoken_of(known.others, text)), key=egress.secret)
            return veil.hide(text)

        return hide

    async def bulk(self, need: SearchNeed, grant: Grant) -> Hits:
        """What serves when search does not answer: bulk text of the need's own scope."""
        return await asyncio.to_thread(self._knowledge.bulk_now, grant, need)

    async def search(
        self,
        who: Who,
        *,
        query: str,
        limit: int,
        retriever: Literal["hybrid", "lexical", "dense"],
        filters: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Search the knowledge; the contract's JSON."""
        grant = await self._store.write(
            lambda c: access.grant(
                c,
                tenant=who.tenant,
                actor=who.actor,
                action="read",
                at=self._clock.now(),
                purpose="search",
            )
        )
        need = SearchNeed(
            name="search",
            query=query,
            corpus="knowledge",
            limit=limit,
            retriever=retriever,
            filters=Filters(**filters),
            deadline_ms=self._settings.search_deadline_ms,
        )
        await self.load(need, grant)
        sent = Sent()
        found = await self.search_need(need, grant, sent=sent)
        return {
            "hits": [hit_json(hit) for hit in found.hits],
            "removed_by_filter": dict(found.removed_by_filter),
            "degraded": list(found.degraded),
            "why_empty": found.why_empty,
            "read_as": [{"written": word, "read": other} for word, other in found.read_as],
            "in_no_passage": list(found.in_no_passage),
            "egress": statement((), config=self._models, embedded=sent.tell()),
        }

    # ---- knowledge in

    async def ingest_paths(
        self,
        paths: Sequence[Path],
        who: Who,
        *,
        meta: Mapping[str, Any],
        progress: Tell | None = None,
    ) -> dict[str, Any]:
        """Add knowledge from files and folders; words are searchable when this returns."""
        return await self._ingest(list(paths), who, meta, progress)

    async def ingest_bytes(
        self, files: Sequence[tuple[str, bytes]], who: Who, *, meta: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Add knowledge from uploads."""
        return await self._ingest([Upload(name=n, data=b) for n, b in files], who, meta, None)

    async def _ingest(
        self,
        files: Sequence[Path | Upload],
        who: Who,
        meta: Mapping[str, Any],
        progress: Tell | None,
    ) -> dict[str, Any]:
        labels, to = labels_of(meta), self.embedded_elsewhere

        def work() -> IngestReport:
            return ingest(
                self._store,
                files,
                tenant=who.tenant,
                clock=self._clock,
                labels=labels,
                count=o200k(),
                read=parse_apart,
                progress=_told(progress),
            )

        report = await asyncio.to_thread(work)
        await self._store.write(
            lambda c: access.note(
                c,
                tenant=who.tenant,
                actor=who.actor,
                action="write",
                at=self._clock.now(),
                purpose="ingest",
            )
        )
        return {
            "documents": report.documents,
            "chunks": report.chunks,
            "skipped": report.skipped,
            "rejected": [{"path": r.path, "reason": r.reason} for r in report.rejected],
            "ids": list(report.ids),
            "warnings": list(report.warnings),
            "egress": f"{to}, full" if to else "none",
        }

    async def remove(self, document: str, who: Who) -> dict[str, Any]:
        """Remove a document of the tenant's knowledge with all its editions.

        Raises:
            NotFound: there is none of this id.
        """

        def noted(connection: Connection) -> None:
            access.note(
                connection,
                tenant=who.tenant,
                actor=who.actor,
                action="erase",
                at=self._clock.now(),
                purpose=f"document {document}",
            )

        gone = await asyncio.to_thread(
            self._knowledge.remove_now, who.tenant, document, noted=noted
        )
        if not gone:
            raise NotFound("document", document, hint="`GET /v1/documents` lists them.")
        return {"document_id": document, "editions": gone}

    # ---- a patient's documents in

    async def read_files(
        self, files: Sequence[tuple[str, bytes]]
    ) -> list[tuple[str, bytes, Parsed]]:
        """The words of each file, before anything is written, so that a bad one changes nothing.

        Raises:
            BadInput: a file cannot be read.
        """
        return [
            (name, body, await asyncio.to_thread(parse_apart, body, name=name))
            for name, body in files
        ]

    async def attach(
        self, grant: Grant, files: Sequence[tuple[str, bytes, Parsed]]
    ) -> list[dict[str, Any]]:
        """Add documents that were read."""
        added: list[dict[str, Any]] = []
        for name, body, text in files:
            seen = guess(text.text, file_name=name)
            made = await self._store.write(
                partial(self._register, grant=grant, name=name, body=body, text=text, seen=seen)
            )
            done = made.status == "complete"
            added.append(
                await (self._shown(grant, made) if done else self._take(grant, made, text))
            )
        return added

    def _register(
        self,
        connection: Connection,
        *,
        grant: Grant,
        name: str,
        body: bytes,
        text: Parsed,
        seen: Guess,
    ) -> uploads.PatientDocument:
        """Keep an upload and what it says of itself; until its words are there it is queued."""
        now = self._clock.now()
        made = uploads.attach(
            connection,
            grant,
            content=body,
            file_name=name,
            media_type=text.media_type,
            now=now,
        )
        if made.status == "complete":
            return made
        return _described(connection, grant, made, text, seen, now)

    async def _take(
        self, grant: Grant, described: uploads.PatientDocument, text: Parsed
    ) -> dict[str, Any]:
        """Write a registered document's words, and that it has them, in one transaction."""
        labels = Labels(
            id=described.id,
            title=described.title,
            published=described.dated,
            category=described.category,
            facility=described.facility,
            file_name=described.file_name,
        )
        await asyncio.to_thread(
            add_parsed,
            self._store,
            text,
            name=described.file_name or described.id,
            tenant=grant.tenant,
            clock=self._clock,
            patient=str(grant.patient),
            labels=labels,
            count=o200k(),
            also=lambda c: uploads.set_state(  # raises where the patient was erased meanwhile
                c,
                grant,
                described.id,
                now=self._clock.now(),
                status="complete",
                index="words",
                source_id=described.id,
            ),
        )
        done = await self._store.read(lambda c: uploads.one_document(c, grant, described.id))
        return await self._shown(grant, done)

    async def index_waiting(self, _documents: Sequence[str], who: Who) -> None:
        """Read and index what came inside records and waits; a bad one is marked with its reason."""
        waiting = await self._store.read(lambda c: uploads.waiting(c, who.tenant))
        for patient, ident in waiting:
            grant = await self._store.write(
                lambda c, patient=patient: access.grant(
                    c,
                    tenant=who.tenant,
                    actor=who.actor,
                    action="write",
                    at=self._clock.now(),
                    patient=PatientId(patient),
                    purpose="index",
                )
            )
            made = await self._store.read(
                lambda c, grant=grant, ident=ident: uploads.one_document(c, grant, ident)
            )
            body = await self._store.read(
                lambda c, grant=grant, ident=ident: uploads.content_of(c, grant, ident)
            )
            name = made.file_name or f"{made.id}{ending_of(made.media_type)}"
            try:
                text = await asyncio.to_thread(
                    parse, body, name=name, media_type=made.media_type or None
                )
            except BadInput as error:
                await self._store.write(
                    lambda c, grant=grant, ident=ident, error=error: uploads.set_state(
                        c,
                        grant,
                        ident,
                        now=self._clock.now(),
                        status="failed_permanent",
                        problem=error.why,
                    )
                )
                continue
            seen = guess(text.text, file_name=made.file_name)
            described = await self._store.write(
                lambda c, grant=grant, made=made, text=text, seen=seen: _described(
                    c, grant, made, text, seen, self._clock.now()
                )
            )
            await self._take(grant, described, text)

    async def _shown(self, grant: Grant, item: uploads.PatientDocument) -> dict[str, Any]:
        return (await self._store.read(lambda c: _with_states(c, grant, [item])))[0]

    async def refreshed(self, item: dict[str, Any], who: Who) -> dict[str, Any]:
        """An attached document's JSON with its index state as it is now."""
        state = await self._store.read(
            lambda c: c.execute(
                select(source.c.state)
                .where(source.c.tenant == who.tenant, source.c.id == item["document_id"])
                .order_by(source.c.revision.desc())
            ).scalar()
        )
        return {**item, "index": state or item["index"]}

    async def chunks(self, who: Who) -> int:
        """How many passages of knowledge the tenant has."""
        return await self._store.read(
            lambda c: c.execute(
                select(func.count())
                .select_from(chunk)
                .where(chunk.c.tenant == who.tenant, chunk.c.patient.is_(None))
            ).scalar_one()
        )

    # ---- vectors

    async def embed_waiting(self, *, progress: Tell | None = None) -> int:
        """Make the vectors that are missing; how many documents became ready."""
        if self._embedder is None:
            return 0
        return await asyncio.to_thread(self._embed, _told(progress))

    def _embed(self, tell: Callable[[Progress], None]) -> int:
        with self._embedding:
            ready = embed_pending(
                self._store,
                self._embedder,
                progress=tell,
                stop=self._stopping.is_set,
                shared=bool(self.embedded_elsewhere),
            )
            if self.outside is not None:
                self.outside.follower.catch_up(stop=self._stopping.is_set)
            return ready

    async def keep_embedding(self) -> None:
        """Make vectors whenever some are missing, until the process ends."""
        wait = SECONDS_BETWEEN_LOOKS
        while not self._stopping.is_set():
            try:
                await self.embed_waiting()
                wait = SECONDS_BETWEEN_LOOKS
            except OutsideError:  # shown by doctor and by every search as "vectors not ready"
                wait = min(2 * wait, _MOST_SECONDS_BETWEEN_LOOKS)
            except BedsideError:
                return  # no model is installed: words serve, and every search says so
            await asyncio.sleep(wait)

    def close(self) -> None:
        """Stop background work at its next batch, and let go of the index once it has stopped."""
        self._stopping.set()
        if isinstance(self.__dict__.get("outside"), Outside):
            with self._embedding:
                for index in self.indexes:
                    index.close()


_STATES = (
    select(source.c.id, source.c.state)
    .where(
        source.c.tenant == bindparam("tenant"),
        source.c.patient == bindparam("patient"),
        source.c.id.in_(bindparam("documents", expanding=True)),
    )
    .order_by(source.c.revision)
)


def documents_in(connection: Connection, grant: Grant) -> list[dict[str, Any]]:
    """The patient's documents with their states."""
    return _with_states(connection, grant, uploads.documents_of(connection, grant))


def _with_states(
    connection: Connection, grant: Grant, found: Sequence[uploads.PatientDocument]
) -> list[dict[str, Any]]:
    """The documents' JSON with how far the index has got with the newest revision of each."""
    named = {"tenant": grant.tenant, "patient": grant.patient, "documents": [d.id for d in found]}
    states = {row.id: row.state for row in connection.execute(_STATES, named)}
    return [{**item.as_json(), "index": states.get(item.id) or item.index} for item in found]


def _described(
    connection: Connection,
    grant: Grant,
    made: uploads.PatientDocument,
    text: Parsed,
    seen: Guess,
    now: datetime,
) -> uploads.PatientDocument:
    """The document with what its text says of itself."""
    return uploads.describe(
        connection,
        grant,
        made.id,
        now=now,
        title=text.title or seen.title,
        category=seen.category,
        dated=seen.dated,
        facility=seen.facility,
    )


def _told(progress: Tell | None) -> Callable[[Progress], None]:
    words = {"words": "reading", "skipped": "reading", "rejected": "reading", "ready": ""}

    def tell(step: Progress) -> None:
        what = words.get(step.stage, "vectors")
        if progress is not None and what:
            progress(what, step.done, step.total)

    return tell
