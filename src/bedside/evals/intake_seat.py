"""A seat in the intake conversation: the real flow and the real turn, over a store in memory.

What a person writes goes through `bedside.flows.turn`, as behind every door: rules, prompt,
gateway, gate, repair, commit. Only the disk is left out, so that thousands of turns take minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bedside.context import o200k
from bedside.context.tokens import Counter
from bedside.core.access import Grant
from bedside.core.context import Assembly, Item
from bedside.core.ids import ActorId, PatientId, SessionId, TenantId, TurnId
from bedside.core.turn import Change, Gathered, Got, Need, TurnRequest
from bedside.core.value import value
from bedside.flows.flow import Done, Flow, Opened, View
from bedside.flows.intake.case import Case, dump, load
from bedside.flows.intake.flow import INTAKE
from bedside.flows.intake.needs import Upload
from bedside.flows.result import turn_body
from bedside.flows.trace import Trace, TurnResult
from bedside.flows.turn import Services, turn
from bedside.models.fakes import FakeGateway
from bedside.wiring.checks import gate_with

__all__ = ["MODEL", "Seat", "Seen"]

MODEL = frozenset({"model", "json"})
"""What a routed model can do, for seats that have one."""
_TENANT = TenantId("default")
_START = datetime(2026, 11, 22, 9, tzinfo=UTC)


class _Clock:
    """A clock whose day goes on by a minute a turn; its monotonic side runs."""

    def __init__(self) -> None:
        self.minutes = 0

    def now(self) -> datetime:
        return _START + timedelta(minutes=self.minutes)

    def monotonic(self) -> float:
        return time.perf_counter()


@value
class Seen:
    """One turn as the person and the coordinator see it. `prompt` is what a model was sent."""

    text: str
    body: Mapping[str, Any]
    prompt: Assembly | None = None

    @property
    def answer(self) -> str:
        """What the person reads."""
        return str(self.body["answer"])

    @property
    def asked(self) -> str:
        """The field that the question is about; "" for none."""
        return str(self.body.get("asked") or "")


class Seat:
    """One case. `uploads` are its documents as a worker would report them; change them freely.

    Args:
        name: The case's id.
        flags: The live flags of the dispatcher; `None` for flags that cannot be read.
        gateway: A scripted model; `None` for none.
        forced: An architecture that serves every turn whatever the flags say.
        flow: The flow; the intake's own.
        count: A token counter that several seats may share.
    """

    def __init__(
        self,
        name: str,
        *,
        flags: Mapping[str, Any] | None = None,
        gateway: FakeGateway | None = None,
        forced: str = "",
        flow: Flow[Case] = INTAKE,
        count: Counter | None = None,
    ) -> None:
        self.name, self.flags = name, {} if flags is None else flags
        self.uploads: list[Upload] = []
        self.turns: list[Seen] = []
        self._flow, self._count = flow, count or o200k()
        self._can = MODEL if gateway is not None else frozenset[str]()
        self._gateway = gateway or FakeGateway()
        self._clock = _Clock()
        self._number = itertools.count(1)
        self._pinned: Mapping[str, str] | None = None
        self._history: list[Item] = []
        self.case: Case = replace(flow.initial(), forced=forced)

    @property
    def data(self) -> dict[str, Any]:
        """The catalogue as this case's turns see it."""
        return {"sop": {}, "prompt": {}, "price": {}, "pack": {}, "flag": self.flags}

    def send(self, text: str, *, language: str = "", act: tuple[str, str] | None = None) -> Seen:
        """Send one message and return the turn.

        Raises:
            BedsideError: the turn could not be made, with its own words.
        """
        return asyncio.run(self.send_async(text, language=language, act=act))

    async def send_async(
        self, text: str, *, language: str = "", act: tuple[str, str] | None = None
    ) -> Seen:
        """`send` inside a running loop."""
        number = next(self._number)
        options = (("language", language),) if language else ()
        request = TurnRequest(
            flow="intake",
            text=text,
            session=SessionId(self.name),
            patient=PatientId(self.name),
            options=options,
            act=act,
        )
        store = _Rows(self, number)
        services: Services[Case] = Services(
            store=store,
            models=self._gateway,
            gather=self._gather,
            gate=gate_with(()),
            clock=self._clock,
        )
        chain: Callable[[TurnRequest, Opened[Case]], Sequence[Flow[Case]]] = (
            self._flow.chain if self._flow.chain is not None else lambda _r, _o: (self._flow,)
        )
        result = await turn(chain, request, services, _nobody)
        self._clock.minutes += 1
        seen = Seen(text=text, body=result.body, prompt=store.prompt)
        self.turns.append(seen)
        return seen

    async def _gather(self, needs: Sequence[Need[Any]], grant: Grant) -> Gathered:
        del grant
        return {need: Got(value=tuple(self.uploads)) for need in needs}

    def opened(self, number: int) -> Opened[Case]:
        """The turn's opening, from what is kept."""
        if self._pinned is None:
            pin = self._flow.pin
            live: dict[str, str] = {}
            self._pinned = dict(pin(self.name, str(_TENANT), self.data, live)) if pin else {}
        return Opened(
            turn=TurnId(f"{self.name}-{number}"),
            session=SessionId(self.name),
            grant=Grant(
                tenant=_TENANT,
                actor=ActorId("person"),
                audit_seq=number,
                patient=PatientId(self.name),
                session=SessionId(self.name),
            ),
            state=self.case,
            revision=number,
            history=tuple(self._history),
            numbering={},
            now=self._clock.now(),
            as_of=_START.date(),
            count=self._count,
            pinned=self._pinned,
            can=self._can,
            data=self.data,
        )

    def keep(self, text: str, answer: str, changes: Sequence[Change], number: int) -> None:
        """Apply a turn; the case goes through its JSON form, as a store would keep it."""
        case = self.case
        for one in changes:
            case = self._flow.reduce(case, one)
        self.case = load(dump(case))  # type: ignore[arg-type]
        if text:
            self._history.append(Item(text, key=f"m{number}u", role="user"))
        self._history.append(Item(answer, key=f"m{number}a", role="assistant"))


class _Rows:
    """The store of one turn. Implements `bedside.flows.turn.Store`."""

    def __init__(self, seat: Seat, number: int) -> None:
        self._seat, self._turn_number = seat, number
        self.prompt: Assembly | None = None

    async def open(self, request: TurnRequest) -> Opened[Case] | TurnResult:
        del request
        return self._seat.opened(self._turn_number)

    async def commit(
        self,
        opened: Opened[Case],
        *,
        flow: Flow[Case],
        view: View[Case],
        final: Done[Case],
        changes: Sequence[Change],
        trace: Trace,
    ) -> TurnResult:
        body = turn_body(
            opened=opened,
            flow=flow,
            view=view,
            final=final,
            status="incomplete" if final.draft.cut else "complete",
            egress="none",
            tokenizer="o200k_base",
            version="eval",
            ms=trace.ms(),
        )
        body["events"] = [event["event"] for event in trace.events]
        self.prompt = final.prompt
        self._seat.keep(view.request.text, final.verdict.text, changes, self._turn_number)
        return TurnResult(turn=opened.turn, status="complete", body=body)

    async def abandon(
        self, opened: Opened[Case], *, why: str, trace: Trace, shown: str
    ) -> TurnResult:
        del trace, shown
        return TurnResult(turn=opened.turn, status="incomplete", body={"why": why})


async def _nobody(event: object) -> None:
    del event
