"""Turns behind the engine: what each one is given, and the work that it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from bedside import __version__
from bedside.clinical.danger.hints import HintNeed
from bedside.context import Rates, counter
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import AccessDenied, BedsideError
from bedside.core.ids import PatientId, TenantId
from bedside.core.turn import TurnRequest
from bedside.flows.flow import Flow, Opened
from bedside.flows.intake.needs import CaseUploads
from bedside.flows.ledger import Ledger, Pinned, to_its_end
from bedside.flows.notes import NoteNeed
from bedside.flows.observe import observe
from bedside.flows.sources import Sources
from bedside.flows.trace import TurnResult
from bedside.flows.turn import Services, turn
from bedside.jobs import extraction
from bedside.jobs.runner import Handler, Runner, Write
from bedside.knowledge.needs import SearchNeed
from bedside.memory.needs import NotesNeed, RecallNeed
from bedside.memory.recall import Memory
from bedside.models.build import build_gateway, profile_of
from bedside.models.config import Link, ModelsConfig
from bedside.models.egress import statement
from bedside.models.prices import LivePrices, bundled_prices
from bedside.models.profiles import Profile
from bedside.record import uploads
from bedside.record.fetch import fetch
from bedside.record.needs import RecordNeed
from bedside.settings import Settings
from bedside.storage.jobs import Claimed
from bedside.storage.secret import kept_secret
from bedside.storage.store import Store
from bedside.wiring import companion_after, records
from bedside.wiring.ask import Who
from bedside.wiring.cases import may_work
from bedside.wiring.checks import gate_with
from bedside.wiring.corrections import correction_of, learn
from bedside.wiring.embedding import Sent
from bedside.wiring.flows import BUILT_IN, flow_named
from bedside.wiring.hints import hearer, hears_hints
from bedside.wiring.hot import HotData
from bedside.wiring.looking import look_with
from bedside.wiring.memories import keep_note, notes_data
from bedside.wiring.models import Routed, margin_of, models_config, rates_of, windows_of
from bedside.wiring.names import Names
from bedside.wiring.notes import read_note
from bedside.wiring.running import Event
from bedside.wiring.tables import deployers_dosing, deployers_interactions, described
from bedside.wiring.telemetry import telemetry_to
from bedside.wiring.texts import Texts
from bedside.wiring.uploads import extraction_handler, read_uploads

__all__ = ["Turning"]

AFTER_TURN_SECONDS = 5.0
"""So long the committing process works at a turn's own jobs; then the worker has them (IN-10)."""
OBSERVER_SECONDS = 5.0


class Turning:
    """Runs turns and their jobs. One per engine."""

    def __init__(self, *, settings: Settings, store: Store, clock: Clock, texts: Texts) -> None:
        self.settings, self.store, self.clock, self.texts = settings, store, clock, texts
        self._veil = kept_secret(store, "veil")
        self.models = models_config(settings, secret=self._veil)
        self.hot, self._names = HotData(store), Names()
        self.telemetry = telemetry_to(settings.otlp_endpoint, clock=clock)
        self._prices = LivePrices(bundled_prices())
        self._gateway = self._build(self.models)
        self.interactions = deployers_interactions(settings)
        self._dosing = deployers_dosing(settings)
        self._after: set[asyncio.Task[int | None]] = set()
        handlers: dict[str, Handler] = {
            kind: self._observer(flow)
            for flow in BUILT_IN.values()
            for kind in flow.observers or {}
        }
        handlers |= companion_after.handlers(store, clock, self._catch_up)
        handlers[uploads.KIND] = extraction_handler(
            store, clock=clock, data=self.hot.of, look=look_with(self._gateway, self.models)
        )
        self.jobs = Runner(
            store,
            clock=clock,
            handlers=handlers,
            seconds={**dict.fromkeys(handlers, OBSERVER_SECONDS), uploads.KIND: extraction.SECONDS},
            hands=settings.worker_hands,
            slow=(uploads.KIND,),
        )

    async def _may_ask(self, request: TurnRequest, who: Who) -> bool:
        case = request.patient
        if case is None or who.sees(case):
            return True
        own = request.flow == "intake" and request.session == case
        return own and await self.store.read(lambda c: may_work(c, who, str(case)))

    @property
    def tables(self) -> list[dict[str, Any]]:
        """The interaction and dosing tables in force, in the order in which they speak."""
        return described(self.interactions, self._dosing)

    async def run(
        self, request: TurnRequest, who: Who, emit: Callable[[Event], Awaitable[None]]
    ) -> TurnResult:
        """Run one turn; its jobs begin when its answer is out, and never delay it."""
        if not await self._may_ask(request, who):
            raise AccessDenied("this patient's record", need="a token that names the patient")
        flow = flow_named(request.flow)
        override = request.option("model") or None
        config = (
            models_config(self.settings, secret=self._veil, override=override)
            if override
            else self.models
        )
        if "engineer" not in who.roles:
            self._named(config)
        gateway = self._build(config) if override else self._gateway
        patient = PatientId(request.patient) if request.patient else None
        known = await self.store.read(
            lambda c: records.known_of(c, who.tenant, patient, self._names)
        )
        if named := (*request.documents, *request.selected):
            await self.store.read(lambda c: records.check_documents(c, who.tenant, patient, named))
        # Intake runs on the mechanic by default (IN-04): what it can do decides.
        routed = profile_of(config, "mechanic" if flow.name == "intake" else "writer")
        pinned = await self._pinned(flow, who.tenant, routed, config, unreviewed=known.demo)
        if self._remembers(flow):
            noted = await notes_data(
                self.store, self.memory, who, self.clock, patient=request.patient
            )
            pinned = replace(pinned, data={**(pinned.data or {}), **noted})
        sent = Sent()
        ledger: Ledger[Any] = Ledger(
            self.store,
            flow=flow,
            clock=self.clock,
            tenant=who.tenant,
            actor=who.actor,
            pinned=pinned,
            new_id=_new_id,
            egress=lambda calls: statement(calls, config=config, embedded=sent.tell()),
            check_patient=records.check_patient,
        )
        services = self._services(ledger, known, gateway, sent)

        def chain(asked: TurnRequest, opened: Opened[Any]) -> Sequence[Flow[Any]]:
            return flow.chain(asked, opened) if flow.chain is not None else (flow,)

        try:
            result = await turn(chain, request, services, emit)
        finally:
            if self.telemetry is not None and ledger.ended is not None:  # it was cut
                self.telemetry.turn(ledger.ended.body)
            if gateway is not self._gateway:
                await to_its_end(gateway.aclose())
        await to_its_end(self._ended(flow, routed, request, result, who))
        return result

    async def _ended(
        self,
        flow: Flow[Any],
        routed: tuple[Link, Profile] | None,
        request: TurnRequest,
        result: TurnResult,
        who: Who,
    ) -> None:
        await self._learn(routed, result)
        if self._remembers(flow) and result.status == "complete":
            await keep_note(
                self.store, who, self.clock,
                text=request.text, turn=str(result.turn), patient=request.patient,
            )  # fmt: skip
        if self.telemetry is not None:
            self.telemetry.turn(result.body)
        if flow.observers:
            self._afterwards(str(result.turn))

    def _services(
        self, ledger: Any, known: records.Known, gateway: Any, sent: Sent | None = None
    ) -> Services[Any]:
        """What a turn works with. `sent` notes where its questions are embedded; `None`: nowhere else."""
        return Services(
            store=ledger,
            models=Routed(gateway, veil=known.veil, exempt=known.synthetic, others=known.others),
            gather=self._sources(sent).gather,
            gate=gate_with(known.others),
            clock=self.clock,
        )

    async def _pinned(
        self,
        flow: Flow[Any],
        tenant: TenantId,
        routed: tuple[Link, Profile] | None,
        config: ModelsConfig,
        *,
        unreviewed: bool,
    ) -> Pinned:
        factor = await self._factor(routed)
        count = counter("o200k_base", factor=factor)
        data = {
            **await self.hot.of(tenant),
            "interactions": self.interactions,
            "dosing": self._dosing,
        }
        if tenant == self.settings.tenant:  # prices are the house's, not each tenant's
            self._prices.use(tuple(json.dumps(body) for body in data["price"].values()))
        live = self._live(unreviewed=unreviewed)
        always = {"country": self.settings.country, "correction": f"{factor:g}"}

        def settings(session: str) -> dict[str, str]:
            if flow.pin is None:
                return always
            return {**always, **flow.pin(session, str(tenant), data, live)}

        return Pinned(
            count=count,
            tokenizer=count.name,
            can=routed[1].can if routed else frozenset(),
            minimum=routed[1].minimum if routed else 0,
            settings=settings,
            live=live,
            version=__version__,
            lease_seconds=self.settings.lease_seconds,
            data=data,
            rates=rates_of(self._prices.of(routed[0])) if routed else Rates(),
            windows=windows_of(config),
            margin=margin_of(config),
        )

    def _remembers(self, flow: Flow[Any]) -> bool:
        return flow.name == "copilot" and self.settings.memories

    @cached_property
    def memory(self) -> Memory:
        """What persons said before, found by words and meaning; by words where the embedder is elsewhere."""
        return Memory(
            self.store,
            embedder=None if self.texts.embedded_elsewhere else self.texts.embedder,
            clock=self.clock,
            count=counter("o200k_base"),
        )

    async def _catch_up(self, grant: Grant) -> int:
        return await self.memory.catch_up(grant)

    @cached_property
    def _words_of_memory(self) -> Memory:
        """The same by words alone, for when the embedding is late."""
        return Memory(self.store, embedder=None, clock=self.clock, count=counter("o200k_base"))

    # ---- what a turn leaves behind

    def _afterwards(self, turn_id: str) -> None:
        task = asyncio.create_task(self.jobs.run_turn(turn_id, seconds=AFTER_TURN_SECONDS))
        self._after.add(task)
        task.add_done_callback(self._after.discard)

    def warm_memory(self, grant: Grant) -> None:
        """Begin to read a person's memory, beside whatever else is done; a failure shows at the recall."""

        async def warm() -> None:
            with contextlib.suppress(BedsideError):
                await self.memory.warm(grant)

        task = asyncio.create_task(warm())
        self._after.add(task)
        task.add_done_callback(self._after.discard)

    async def settled(self) -> None:
        """Wait until the jobs of finished turns have had their time; for a door that ends."""
        while self._after:
            await asyncio.gather(*self._after, return_exceptions=True)

    def _observer(self, flow: Flow[Any]) -> Handler:
        async def handle(claimed: Claimed) -> Write:
            tenant = TenantId(claimed.tenant)
            patient = PatientId(claimed.patient) if claimed.patient else None
            known = await self.store.read(
                lambda c: records.known_of(c, tenant, patient, self._names)
            )
            routed = profile_of(self.models, "mechanic")
            pinned = await self._pinned(flow, tenant, routed, self.models, unreviewed=known.demo)
            return await observe(
                flow,
                claimed,
                store=self.store,
                pinned=pinned,
                clock=self.clock,
                services=lambda: self._services(None, known, self._gateway),
            )

        return handle

    # ---- models

    def _build(self, config: ModelsConfig) -> Any:
        return build_gateway(config, clock=self.clock, rng=random.Random(), prices=self._prices)

    async def _factor(self, routed: tuple[Link, Profile] | None) -> float:
        """The model's tokens per token of ours: learned, else its profile's."""
        if routed is None:
            return 1.0
        link, profile = routed
        known = await self.store.read(
            lambda c: correction_of(c, link.spec, prior=profile.correction)
        )
        return known.pinned

    async def _learn(self, routed: tuple[Link, Profile] | None, result: TurnResult) -> None:
        """Compare what a lone call of the routed model reported with what we counted."""
        calls = result.body.get("calls") or []
        receipt = result.body.get("receipt")
        if routed is None or receipt is None or len(calls) != 1 or calls[0]["input"] is None:
            return
        link, profile = routed
        if f"{calls[0]['provider']}:{calls[0]['model']}" != link.spec:
            return
        counted = round(receipt["total"] / (receipt.get("factor") or 1.0))
        await self.store.write(
            lambda c: learn(
                c,
                link.spec,
                prior=profile.correction,
                counted=counted,
                reported=calls[0]["input"],
            )
        )

    def _named(self, config: ModelsConfig) -> None:
        """Who asks chooses among the models of the settings; an engineer may try another (EN-S7).

        Raises:
            AccessDenied: the turn's own chain names a model that the settings do not.
        """
        known = {*self.models.writer, *self.models.mechanic}
        if not known.issuperset(config.writer):
            raise AccessDenied("a model that the settings do not name", need="the role 'engineer'")

    def _live(self, *, unreviewed: bool) -> dict[str, str]:
        """Settings that flows read at every turn, as strings."""
        settings = self.settings
        return {
            "context_tokens": str(settings.context_tokens),
            "output_tokens": str(settings.output_tokens),
            "briefing_context_tokens": str(settings.briefing_context_tokens),
            "briefing_loop_tokens": str(settings.briefing_loop_tokens),
            "briefing_output_tokens": str(settings.briefing_output_tokens),
            "history_messages": str(settings.history_messages),
            "search_deadline_ms": str(settings.search_deadline_ms),
            "thinking_tokens": str(settings.thinking_tokens),
            "memories": "on" if settings.memories else "off",
            "hints": "on" if hears_hints(settings, self.texts.embedder) else "off",
            "unreviewed": "on" if settings.unreviewed_content or unreviewed else "off",
        }

    def _sources(self, sent: Sent | None) -> Sources:
        async def search(need: SearchNeed, grant: Grant) -> Any:
            return await self.texts.search_need(need, grant, sent=sent)

        async def record(need: RecordNeed, grant: Grant) -> Any:
            as_of = self.clock.now().date()
            return await self.store.read(
                lambda c: fetch(c, grant, need, as_of=as_of, interactions=self.interactions)
            )

        async def note(need: NoteNeed, grant: Grant) -> Any:
            return await read_note(self.store, grant, need)

        async def recall(need: RecallNeed, grant: Grant) -> Any:
            return await self.memory.recall(need, grant)

        async def recall_words(need: RecallNeed, grant: Grant) -> Any:
            return await self._words_of_memory.recall(need, grant)

        async def notes(need: NotesNeed, grant: Grant) -> Any:
            return await self.memory.notes(need, grant)

        async def warm(need: HintNeed, grant: Grant) -> None:
            del need, grant
            await self.texts.warm()

        async def case_uploads(need: CaseUploads, grant: Grant) -> Any:
            del need
            now = self.clock.now()
            return await self.store.read(lambda c: read_uploads(c, grant, now=now))

        return Sources(
            readers={
                CaseUploads: case_uploads,
                RecordNeed: record,
                SearchNeed: search,
                NoteNeed: note,
                RecallNeed: recall,
                NotesNeed: notes,
                HintNeed: hearer(self.texts.embedder),
            },
            fallbacks={
                SearchNeed: ("bulk text", self.texts.bulk),
                RecallNeed: ("words alone", recall_words),
            },
            loads={SearchNeed: self.texts.load, HintNeed: warm},
            clock=self.clock,
        )

    async def prepare(self) -> None:
        """Import what the models need, before the first turn waits for it; nothing is sent."""
        await self._gateway.prepare()

    async def close(self) -> None:
        """Let a turn's own jobs end, then close what leads to models."""
        await self.settled()
        await self._gateway.aclose()
        if self.telemetry is not None:
            self.telemetry.close()


def _new_id(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex[:20]}"
