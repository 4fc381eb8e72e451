"""Where turns live: joins the rows of `storage.turns` with a flow's state and result."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from bedside.context import Counter, Rates, layout_rows, price_layouts
from bedside.core.clock import Clock
from bedside.core.context import Item
from bedside.core.errors import BudgetTooSmall, Conflict, NotFound, OutsideError
from bedside.core.ids import ActorId, PatientId, PersonId, SessionId, SourceId, TenantId, TurnId
from bedside.core.source import Source, Span
from bedside.core.turn import Change, Ended, Job, TurnRequest
from bedside.core.value import value
from bedside.flows.flow import Done, Flow, Opened, View
from bedside.flows.result import prompt_parts, turn_body, unanswered_body
from bedside.flows.states import load_state, reduce_state
from bedside.flows.trace import Trace, TurnResult
from bedside.storage import access, conversations, turns
from bedside.storage.jobs import NewJob
from bedside.storage.jobs import put as put_jobs
from bedside.storage.store import Store

__all__ = ["Ledger", "Pinned", "message_item", "to_its_end"]

S = TypeVar("S")
T = TypeVar("T")
_POLL_SECONDS = 0.05
_MARKER = re.compile(r"\s?\[\d{1,4}\]")  # yesterday's [3] must not mean today's


@value
class Pinned:
    """What the engine pins for a turn.

    `count` is the token counter of `tokenizer` with the session's correction; `can` the abilities
    of the routed model; `minimum` the provider's smallest cacheable prefix, in tokens; `rates` what
    its input costs; `windows` the context windows by role; `margin` the share of a limit kept free.
    `settings` are kept for the whole session as it began (a function of the session's id, so that
    a choice by percentage can hang on it); `live` ones are read at every turn.
    """

    count: Counter
    tokenizer: str
    can: frozenset[str]
    minimum: int
    settings: Callable[[str], Mapping[str, str]]
    live: Mapping[str, str]
    version: str
    lease_seconds: int
    data: Mapping[str, Any] | None = None
    rates: Rates = field(default_factory=Rates)
    windows: Mapping[str, int] = field(default_factory=dict)
    margin: float = 0.0


class Ledger(Generic[S]):
    """The store of one door's turns: one tenant, one actor."""

    def __init__(
        self,
        store: Store,
        *,
        flow: Flow[S],
        clock: Clock,
        tenant: TenantId,
        actor: ActorId,
        pinned: Pinned,
        new_id: Callable[[str], str],
        egress: Callable[[Sequence[Ended]], str],
        check_patient: Callable[[Connection, TenantId, PatientId], None],
    ) -> None:
        self._store, self._flow, self._clock = store, flow, clock
        self._tenant, self._actor, self._pinned = tenant, actor, pinned
        self._new_id, self._egress, self._check_patient = new_id, egress, check_patient
        self._new: turns.NewTurn | None = None
        self._begun: turns.Begun | None = None
        self._holding: asyncio.Task[None] | None = None
        self.ended: TurnResult | None = None
        """What was stored of a turn that was cut; `None` while none was."""

    async def open(self, request: TurnRequest) -> Opened[S] | TurnResult:
        """Transaction 1, or the first result of this key. Waits while the conversation is busy.

        Raises:
            Conflict: the conversation stayed busy for the request's deadline, or the key belongs
                to another request.
            NotFound: the patient or the session is not in this scope.
        """
        new = self._describe(request)
        deadline = self._clock.monotonic() + request.deadline_ms / 1000
        while True:
            begun = await self._store_begin(request, new)
            if isinstance(begun, tuple):
                return self._opened(request, new, *begun)
            if isinstance(begun, turns.Earlier) and begun.result is not None:
                return _first_result(begun)
            if self._clock.monotonic() >= deadline:
                raise Conflict(
                    "conversation", why="another turn of it is still running", do="Ask again."
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def _store_begin(
        self, request: TurnRequest, new: turns.NewTurn
    ) -> tuple[turns.Begun, Any, S] | turns.Earlier | turns.Busy:
        """Transaction 1. A turn that is stopped meanwhile is closed, and keeps no lease."""
        writing = asyncio.ensure_future(self._store.write(lambda c: self._begin(c, new)))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            begun = await writing
            if isinstance(begun, tuple):
                opened = self._opened(request, new, *begun)
                await self.abandon(opened, why="cancelled", trace=Trace(self._clock), shown="")
            raise

    def _describe(self, request: TurnRequest) -> turns.NewTurn:
        parts = {
            name: getattr(request, name)
            for name in (
                "flow", "text", "session", "person", "patient", "documents", "selected", "act",
                "history", "options",
            )
        }  # fmt: skip
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode())
        session = request.session or self._new_id("session")
        return turns.NewTurn(
            tenant=self._tenant,
            turn=self._new_id("turn"),
            session=session,
            flow=self._flow.name,
            actor=self._actor,
            patient=request.patient,
            key=request.idempotency_key,
            request_sha256=digest.hexdigest(),
            text=request.text,
            person=request.person or "",
            as_of=self._clock.now().date(),
            pinned=self._pinned.settings(session),
            open_to_others=self._flow.admits is not None,
        )

    def _begin(
        self, connection: Connection, new: turns.NewTurn
    ) -> tuple[turns.Begun, Any, S] | turns.Earlier | turns.Busy:
        if new.patient is not None:
            self._check_patient(connection, new.tenant, PatientId(new.patient))
        if self._flow.admits is not None:
            self._check_person(connection, new)
        begun = turns.begin(
            connection,
            new,
            now=self._clock.now(),
            lease=timedelta(seconds=self._pinned.lease_seconds),
        )
        if isinstance(begun, turns.Earlier) and begun.result is not None:
            access.note(
                connection,
                tenant=self._tenant,
                actor=self._actor,
                action="read",
                at=self._clock.now(),
                patient=PatientId(new.patient) if new.patient else None,
                purpose="turn",
            )
        if not isinstance(begun, turns.Begun):
            return begun
        granted = access.grant(
            connection,
            tenant=self._tenant,
            actor=self._actor,
            action="ask",
            at=self._clock.now(),
            patient=PatientId(new.patient) if new.patient else None,
            session=SessionId(begun.session),
            person=PersonId(new.person) if new.person else None,
            purpose=self._flow.name,
        )
        state = load_state(self._flow, connection, new.tenant, begun.session, new.person)
        return begun, granted, state

    def _check_person(self, connection: Connection, new: turns.NewTurn) -> None:
        """Raises: NotFound where the conversation is there and the actor takes no part in it."""
        if self._flow.admits is None:
            return
        if not conversations.session_exists(connection, tenant=new.tenant, session_id=new.session):
            return
        state = load_state(self._flow, connection, new.tenant, new.session, new.person)
        if not self._flow.admits(state, self._actor):
            raise NotFound("session", new.session, hint="You take no part in it.")

    def _opened(
        self,
        request: TurnRequest,
        new: turns.NewTurn,
        begun: turns.Begun,
        granted: Any,
        state: S,
    ) -> Opened[S]:
        self._new = replace(new, turn=begun.turn, session=begun.session)
        self._begun = begun
        self._holding = asyncio.get_running_loop().create_task(self._hold(begun))
        given = request.history
        history = (
            tuple(message_item(role, text, f"given-{i}") for i, (role, text) in enumerate(given))
            if given is not None
            else tuple(message_item(role, text, key) for role, text, key in begun.history)
        )
        return Opened(
            turn=TurnId(begun.turn),
            session=SessionId(begun.session),
            grant=granted,
            state=state,
            revision=begun.revision,
            history=history,
            numbering={(SourceId(s), r): n for (s, r), n in begun.numbering.items()},
            now=self._clock.now(),
            as_of=begun.as_of,
            pinned={**begun.pinned, **self._pinned.live},
            can=self._pinned.can,
            count=self._pinned.count.with_factor(
                float(begun.pinned.get("correction", self._pinned.count.factor))
            ),
            data=self._pinned.data,
            minimum=self._pinned.minimum,
            windows=self._pinned.windows,
            margin=self._pinned.margin,
        )

    async def _hold(self, begun: turns.Begun) -> None:
        """Renew the lease while the turn runs, so that a long answer keeps its conversation."""
        lease = self._pinned.lease_seconds
        held = True
        while held:
            await asyncio.sleep(lease / 3)
            until = self._clock.now() + timedelta(seconds=lease)
            try:
                held = await self._store.write(
                    lambda connection, until=until: turns.renew(
                        connection,
                        tenant=self._tenant,
                        session_id=begun.session,
                        fence=begun.fence,
                        until=until,
                    )
                )
            except OutsideError:
                continue  # the fence decides at commit

    async def commit(
        self,
        opened: Opened[S],
        *,
        flow: Flow[S],
        view: View[S],
        final: Done[S],
        changes: Sequence[Change],
        trace: Trace,
    ) -> TurnResult:
        """Transaction 2: result, answer, citations, state, prompts, under the fence."""
        calls = [call for done in view.done for call in done.calls]
        status = "incomplete" if final.draft.cut else "complete"
        body = turn_body(
            opened=opened,
            flow=flow,
            view=view,
            final=final,
            status=status,
            egress=self._egress(calls),
            tokenizer=self._pinned.tokenizer,
            version=self._pinned.version,
            ms=trace.ms(),
        )
        sent = [done for done in view.done if done.calls] or view.done
        prompts = [parts for done in sent if (parts := prompt_parts(done.prompt))]
        if body["receipt"] is not None:
            body["receipt"]["factor"] = getattr(opened.count, "factor", 1.0)
        if view.request.option("call", "yes") == "no":
            self._price_layouts(opened, final, body)
            body["prompt"] = [
                {"role": role, "content": text} for parts in prompts for role, text in parts
            ]
        if body["receipt"] is not None:
            trace.add(
                "context_assembled",
                tokens={row["name"]: row["given"] for row in body["receipt"]["blocks"]},
                scenario=view.plan.intent,
                plan_source=view.plan.source,
                dropped=sum(len(row["dropped"]) for row in body["receipt"]["blocks"]),
            )
        numbering = final.prompt.numbering if final.prompt else opened.numbering
        await to_its_end(
            self._finish(
                status=status,
                answer=final.verdict.text,
                body=body,
                trace=trace,
                numbering={(str(s), r): n for (s, r), n in numbering.items()},
                prompts=prompts,
                apply=self._applying(flow, changes, flow.jobs(view)),
                cited=_pack_texts(final),
            )
        )
        return TurnResult(turn=opened.turn, status=status, body=body)

    def _price_layouts(self, opened: Opened[S], final: Done[S], body: dict[str, Any]) -> None:
        """What each layout would take: a door asked for the context itself, so the choice shows."""
        if final.step is None or final.prompt is None:
            return
        prices = price_layouts(
            final.step.blocks,
            budget=final.step.budget,
            rates=self._pinned.rates,
            numbering=opened.numbering,
            count=opened.count,
            minimum=opened.minimum,
        )
        body["receipt"]["layouts"] = layout_rows(prices)

    def _applying(
        self, flow: Flow[S], changes: Sequence[Change], jobs: Sequence[Job]
    ) -> Callable[[Connection], None] | None:
        if not changes and not jobs:
            return None
        new, begun = self._require_new(), self._begun
        turn = begun.turn if begun is not None else new.turn
        rows = tuple(
            NewJob(
                tenant=new.tenant,
                id=self._new_id("job"),
                kind=job.kind,
                payload={"flow": flow.name, "person": new.person, **dict(job.payload)},
                patient=new.patient,
                session=new.session,
                turn=turn,
            )
            for job in jobs
        )

        def apply(connection: Connection) -> None:
            if changes:
                reduce_state(flow, connection, new.tenant, new.session, new.person, changes)
            put_jobs(connection, rows, now=self._clock.now())

        return apply

    async def abandon(
        self, opened: Opened[S], *, why: str, trace: Trace, shown: str = ""
    ) -> TurnResult:
        """Transaction 2 of a cut turn, shielded from the cancellation that caused it."""
        status = "refused" if why == BudgetTooSmall.__name__ else "incomplete"
        trace.add("abandoned", why=why)
        body = unanswered_body(
            turn=opened.turn,
            session=opened.session,
            flow=self._flow.name,
            status=status,
            why=why,
            version=self._pinned.version,
            answer=shown,
            egress="unknown" if trace.asking else self._egress(trace.calls),
            calls=trace.calls,
            ms=trace.ms(),
        )
        await asyncio.shield(
            self._finish(
                status=status,
                answer=shown,
                body=body,
                trace=trace,
                numbering={},
                prompts=[],
                apply=None,
            )
        )
        self.ended = TurnResult(turn=opened.turn, status=status, body=body)
        return self.ended

    async def _finish(
        self,
        *,
        status: str,
        answer: str,
        body: Mapping[str, Any],
        trace: Trace,
        numbering: Mapping[tuple[str, int], int],
        prompts: Sequence[Sequence[tuple[str, str]]],
        apply: Callable[[Connection], None] | None,
        cited: Mapping[tuple[str, int], tuple[str, str, str]] | None = None,
    ) -> None:
        begun, new = self._begun, self._require_new()
        if begun is None:
            raise AssertionError("a turn is finished only after it was opened")
        if self._holding is not None:
            self._holding.cancel()
        hashed = [
            [(role, hashlib.sha256(text.encode()).hexdigest(), text) for role, text in parts]
            for parts in prompts
        ]
        await self._store.write(
            lambda connection: turns.finish(
                connection,
                new=new,
                begun=begun,
                status=status,
                answer=answer,
                result=body,
                trace={"events": trace.events},
                numbering=numbering,
                prompts=hashed,
                now=self._clock.now(),
                apply=apply,
                cited=cited,
            )
        )

    def _require_new(self) -> turns.NewTurn:
        if self._new is None:
            raise AssertionError("a turn is finished only after it was opened")
        return self._new


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Await what is not cut half-way: a stop that comes meanwhile is too late, and stops nothing."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if task.cancelled() or me is None:
                raise
            me.uncancel()
    return task.result()


def _pack_texts(final: Done[S]) -> dict[tuple[str, int], tuple[str, str, str]]:
    """Whole texts of cited sources that ship in a pack (their ids begin with "pack:")."""
    found: dict[tuple[str, int], tuple[str, str, str]] = {}
    shown = final.prompt.shown if final.prompt is not None else {}
    for cited in final.verdict.citations:
        source = cited.span.source
        if not source.id.startswith("pack:"):
            continue
        for item in shown.get(cited.n, ()):
            if item.span is not None and (item.span.start, item.span.end) == (0, len(item.body)):
                found[source.id, source.revision] = (source.kind, source.title, item.body)
    return found


def _first_result(earlier: turns.Earlier) -> TurnResult:
    body = json.loads(earlier.result or "{}")
    return TurnResult(turn=TurnId(earlier.turn), status=body["status"], body=body)


def message_item(role: str, text: str, key: str) -> Item:
    """One message of the conversation as an item; an answer's `[n]` markers are taken out."""
    if role == "assistant":
        text = _MARKER.sub("", text)
    source = Source(id=SourceId(key), revision=1, kind="message", title=f"{role} message")
    return Item(
        text,
        key=key,
        role="assistant" if role == "assistant" else "user",
        span=Span(source=source, start=0, end=len(text)),
    )
