"""Asking: from a door's request to a finished turn, with one task per turn."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

from bedside.core.errors import Conflict, InvalidArgument, NotFound
from bedside.core.ids import ActorId, PatientId, SessionId, SourceId, TenantId
from bedside.core.turn import TurnRequest
from bedside.core.value import value
from bedside.flows.trace import TurnResult
from bedside.wiring.running import Broadcast, Event

__all__ = ["Ask", "Asker", "Who"]

MODES = ("casual", "default", "synopsis", "plan", "broad", "detail")
LONGEST_QUESTION = 20_000
_PLAIN = re.compile(r"[A-Za-z0-9._:@-]{1,200}")


@value
class Who:
    """Who asks. `roles` are of: clinician, patient, coordinator, safety, admin, engineer.

    `patients` are those that the actor may see; `None` is every patient of the tenant, for
    clinicians and safety officers. A patient sees those that the token names, and nobody else.
    """

    tenant: TenantId = TenantId("default")
    actor: ActorId = ActorId("local")
    roles: frozenset[str] = frozenset({"clinician", "coordinator", "safety", "admin", "engineer"})
    patients: frozenset[str] | None = None

    def sees(self, patient: str) -> bool:
        """May the actor read this patient's data? An admin or engineer as such may not."""
        if self.patients is not None and patient not in self.patients:
            return False
        return bool(self.roles & (_BOUND if self.patients is not None else _CARE))

    def leads(self, case: str) -> bool:
        """May the actor work at this intake case? Of the records of patients it opens nothing."""
        named = self.patients is None or case in self.patients
        return "coordinator" in self.roles and named


_CARE = frozenset({"clinician", "safety"})
_BOUND = _CARE | {"patient"}


@value
class Ask:
    """A question as a door takes it. `documents` are attached already; `model` overrides the chain."""

    question: str
    patient: str | None = None
    documents: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    mode: str | None = None
    session: str | None = None
    audience: Literal["clinician", "patient"] = "clinician"
    model: str | None = None
    call: bool = True
    key: str | None = None
    history: tuple[tuple[Literal["user", "assistant"], str], ...] | None = None
    flow: str = "copilot"

    def request(self, *, deadline_ms: int) -> TurnRequest:
        """The engine's request.

        Raises:
            InvalidArgument: an empty or overlong question, text that is no Unicode, a mode that is
                none, or a session that is no plain identifier.
        """
        for said in (self.question, *(text for _role, text in self.history or ())):
            _readable(said)
        if self.session and not _PLAIN.fullmatch(self.session):
            raise InvalidArgument(
                "session",
                found=f"{len(self.session)} characters",
                want="1 to 200 letters, digits or ._:@- (it stands in traces: no patient text)",
            )
        if not self.question.strip():
            raise InvalidArgument("question", found="", want="at least one word")
        if len(self.question) > LONGEST_QUESTION:
            raise InvalidArgument(
                "question",
                found=f"{len(self.question)} characters",
                want=f"at most {LONGEST_QUESTION} characters; attach longer text as a document",
            )
        if self.mode is not None and self.mode not in MODES:
            raise InvalidArgument("mode", found=self.mode, want="one of " + ", ".join(MODES))
        options = [("audience", self.audience)]
        if self.mode:
            options.append(("mode", self.mode))
        if self.model:
            options.append(("model", self.model))
        if not self.call:
            options.append(("call", "no"))
        return TurnRequest(
            flow=self.flow,
            text=self.question,
            session=SessionId(self.session) if self.session else None,
            patient=PatientId(self.patient) if self.patient else None,
            documents=tuple(SourceId(item) for item in self.documents),
            selected=tuple(SourceId(item) for item in self.selected),
            history=self.history,
            options=tuple(options),
            idempotency_key=self.key or None,
            deadline_ms=deadline_ms,
        )


def _readable(text: str) -> None:
    """Raises: InvalidArgument for half a surrogate pair or a NUL, which no store can keep."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidArgument(
            "question", found="a character that is none", want="valid Unicode text without NUL"
        )


Run = Callable[
    [TurnRequest, Who, Callable[[Event], Awaitable[None]]], Coroutine[Any, Any, TurnResult]
]


@dataclass
class Asker:
    """Runs turns as tasks of its own, so that a door that leaves does not end one."""

    run: Run
    deadline_ms: int
    _running: dict[tuple[str, str, str], Broadcast] = field(default_factory=dict)
    _tasks: set[asyncio.Task[TurnResult]] = field(default_factory=set)

    async def ask(self, ask: Ask, who: Who) -> dict[str, Any]:
        """The finished turn as the contract has it."""
        result: TurnResult = await self.start(ask, who).result()
        return dict(result.body)

    async def stream(self, ask: Ask, who: Who) -> AsyncIterator[Event | TurnResult]:
        """The turn's events as they come, then its result."""
        broadcast = self.start(ask, who)
        async for event in broadcast.listen():
            yield event
        yield await broadcast.result()

    def start(self, ask: Ask, who: Who) -> Broadcast:
        """Begin a turn, or attach to the one that runs under the same key.

        Raises:
            Conflict: under this key another request is running.
        """
        request = ask.request(deadline_ms=self.deadline_ms)
        key = (who.tenant, who.actor, ask.key) if ask.key else None
        if key is not None and (running := self._running.get(key)) is not None:
            if running.request != request:
                raise Conflict(
                    "idempotency key",
                    why="it was used for a different request",
                    do="Use a new key for a new request.",
                )
            return running
        broadcast = Broadcast(request)
        task = asyncio.get_running_loop().create_task(self.run(request, who, broadcast.emit))
        broadcast.task = task
        self._tasks.add(task)
        if key is not None:
            self._running[key] = broadcast

        def ended(done: asyncio.Task[TurnResult]) -> None:
            self._tasks.discard(done)
            if key is not None:
                self._running.pop(key, None)
            if not done.cancelled():
                done.exception()  # seen: a door that left must not leave a warning behind

        task.add_done_callback(ended)
        return broadcast

    async def stop(self, key: str, who: Who) -> TurnRequest:
        """Stop the caller's turn that runs under this idempotency key; says what was asked in it.

        Raises:
            NotFound: none runs under it in this process, or it ended before it could be stopped.
        """
        running = self._running.get((who.tenant, who.actor, key))
        if running is None or not await running.stop():
            raise NotFound("running turn", key, hint="It has ended, or another process runs it.")
        return running.request

    async def close(self, *, seconds: float) -> None:
        """Wait for running turns, then cancel what is left."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
