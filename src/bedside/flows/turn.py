"""The turn, from open to commit. Nothing else sequences one.

    open      tx 1: turn row, idempotency key, lease, message, grant + audit row
    plan      pure rules
    gather    needs, each under its deadline; then at most one more round
    answer    rules: the whole question, or nothing
    step*     flow.next(view): assemble -> (stream -> tools -> extend)* -> gate -> at most one repair
    commit    tx 2, fenced by lease and revision

The engine owns the task: a door that leaves does not end it. Released text is never recalled.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar, cast

from bedside.context import extend, reorder
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.context import Assembly, Message, Numbering, ToolCall, ToolResult
from bedside.core.errors import BedsideError, BudgetTooSmall, CallerError
from bedside.core.turn import (
    Change,
    Check,
    Citation,
    Decoder,
    Delta,
    Draft,
    Ended,
    Gate,
    Gateway,
    Gathered,
    Got,
    Lost,
    Need,
    NoModel,
    Plan,
    ToolUse,
    TurnRequest,
    Verdict,
)
from bedside.core.value import value
from bedside.flows.flow import Done, Flow, Opened, Release, Step, View
from bedside.flows.numbers import number_draft
from bedside.flows.ready import ready
from bedside.flows.trace import Trace, TurnResult

__all__ = ["Emit", "Services", "Store", "run_flow", "turn"]

S = TypeVar("S")
_NO_ANSWER = "the model asked for a tool instead of answering"
_NO_ROOM = "the prompt has no room for what comes next"
Emit = Callable[["Plan | Delta | Citation"], Awaitable[None]]


class Store(Protocol[S]):
    """Where turns live; `flows.ledger` is the real one."""

    async def open(self, request: TurnRequest) -> Opened[S] | TurnResult:
        """Transaction 1, or the first result of this idempotency key."""
        ...

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
        """Transaction 2, fenced."""
        ...

    async def abandon(self, opened: Opened[S], *, why: str, trace: Trace, shown: str) -> TurnResult:
        """Transaction 2 of a turn that was cut; `shown` is what was released before."""
        ...


@value
class Services(Generic[S]):
    """What a turn needs from outside."""

    store: Store[S]
    models: Gateway
    gather: Callable[[Sequence[Need[Any]], Grant], Awaitable[Gathered]]
    gate: Callable[[Release, tuple[Check, ...], Assembly], Gate]
    clock: Clock


async def turn(
    flows: Callable[[TurnRequest, Opened[S]], Sequence[Flow[S]]],
    request: TurnRequest,
    io: Services[S],
    emit: Emit,
) -> TurnResult:
    """Run one turn to its end.

    Raises:
        BedsideError: the turn could not be opened, or the last architecture failed; the turn is
            then stored as incomplete (or refused, where the budget was too small).
    """
    trace = Trace(io.clock)
    opened = await io.store.open(request)
    if isinstance(opened, TurnResult):
        return opened
    trace.add("opened", audit_seq=opened.grant.audit_seq, history=len(opened.history))
    shown: list[str] = []

    async def out(event: Plan | Delta | Citation) -> None:
        if isinstance(event, Delta):
            shown.append(event.text)
        await emit(event)

    try:
        return await _through(flows(request, opened), request, opened, io, out, trace, shown)
    except BaseException as error:
        if under_way := [one for one in error.args if isinstance(one, Ended)]:
            trace.calls.extend(under_way)
            trace.asking = False
        cut = "cancelled" if not isinstance(error, Exception) else type(error).__name__
        with suppress(BedsideError):  # it ended already, was taken over, or the store is down
            await io.store.abandon(opened, why=cut, trace=trace, shown="".join(shown))
        raise


async def _through(
    chain: Sequence[Flow[S]],
    request: TurnRequest,
    opened: Opened[S],
    io: Services[S],
    out: Emit,
    trace: Trace,
    shown: Sequence[str],
) -> TurnResult:
    """Down the chain until one flow ends; the next is taken only while nothing was shown."""
    for index, flow in enumerate(chain):
        try:
            view = await run_flow(flow, request, opened, io, out, trace)
            final, changes = flow.compose(view), flow.changes(view)
        except Exception as error:
            if shown or index + 1 == len(chain):
                raise
            trace.add("fell_through", flow=flow.name, why=type(error).__name__)
        else:
            return await io.store.commit(
                opened, flow=flow, view=view, final=final, changes=changes, trace=trace
            )
    raise AssertionError("a flow chain is never empty")


async def run_flow(
    flow: Flow[S],
    request: TurnRequest,
    opened: Opened[S],
    io: Services[S],
    out: Emit,
    trace: Trace,
) -> View[S]:
    """From the plan to the last checked step; nothing is written. Observers are run by it too."""
    plan = flow.plan(request, opened)
    trace.add("plan", intent=plan.intent, source=plan.source, needs=len(plan.needs))
    await out(plan)
    gathered = await _gather(plan.needs, opened.grant, io, trace)
    view: View[S] = View(request=request, opened=opened, plan=plan, gathered=gathered)
    if extra := flow.more(view):
        more = await _gather(extra, opened.grant, io, trace)
        view = replace(view, gathered={**view.gathered, **more})
    if request.option("call", "yes") == "no":
        return _assembled_only(flow, view, trace)
    if (draft := flow.answer(view)) is not None:
        done = await _by_rule(flow.next(view), flow.checks, view, draft, io, out, trace)
        return replace(view, done=(done,))
    while (step := flow.next(view)) is not None:
        if step.calls < 1:
            done = await _by_rule(step, flow.checks, view, step.unaided(view), io, out, trace)
        else:
            done = await _perform(step, view, io, out, trace)
        view = replace(view, done=(*view.done, done))
    return view


async def _gather(
    needs: Sequence[Need[Any]], grant: Grant, io: Services[S], trace: Trace
) -> Gathered:
    gathered = await io.gather(needs, grant)
    for need, found in gathered.items():
        if isinstance(found, Got):
            trace.add("gathered", need=need.name, via=found.via, ms=round(found.ms, 2))
        else:
            trace.add("lost", need=need.name, why=found.why, ms=round(found.ms, 2))
    return gathered


def _assembled_only(flow: Flow[S], view: View[S], trace: Trace) -> View[S]:
    step = flow.next(view)
    if step is None:
        return view
    made = ready(step, view, view.opened.numbering)
    trace.add("assembled", step=step.name, tokens=made.prompt.tokens)
    nothing = Done(
        step=made.step,
        draft=Draft(text="", by=""),
        verdict=Verdict(text=""),
        prompt=made.prompt,
        why_unaided=made.why,
        own_limit=made.own_limit,
    )
    return replace(view, done=(nothing,))


async def _by_rule(
    step: Step[S] | None,
    otherwise: tuple[Check, ...],
    view: View[S],
    draft: Draft,
    io: Services[S],
    out: Emit,
    trace: Trace,
) -> Done[S]:
    """Check and release a rule's answer; the context is compiled too, for the receipt."""
    numbering = _numbering(view)
    prompt = ready(step, view, numbering).prompt if step is not None else None
    draft, shown = number_draft(draft, prompt.numbering if prompt else numbering, prompt)
    checks = step.checks if step is not None else otherwise
    verdict, text = io.gate("whole", checks, shown).close(draft, last=True)
    for event in text:
        await out(event)
    trace.add("answered", by=draft.by, claims=len(verdict.claims), removed=len(verdict.removed))
    return Done(step=step, draft=draft, verdict=verdict, prompt=shown)


def _numbering(view: View[S]) -> Numbering:
    """The session's numbers with those that earlier steps gave."""
    given = (done.prompt.numbering for done in reversed(view.done) if done.prompt is not None)
    return next(given, view.opened.numbering)


async def _perform(
    step: Step[S], view: View[S], io: Services[S], out: Emit, trace: Trace
) -> Done[S]:
    made = ready(step, view, _numbering(view))
    step, prompt = made.step, made.prompt
    trace.add("assembled", step=step.name, tokens=prompt.tokens, limit=step.budget.limit)
    ended: list[Ended] = []
    left, repairs, why_unaided, uses = step.calls, step.repairs, "", _Uses(step)
    before: Draft | None = None
    while True:
        left -= 1
        # What is said before a tool is used is no part of the answer: it is held, then left out.
        release = step.release if left <= 0 or not step.tools else _held(step.release)
        gate = io.gate(release, step.checks, prompt)
        asking = _heard(step, view, prompt, gate, left, io, out, trace, ended)
        draft, asked, sent, failed = await _tried(asking, made.why, trace, ended)
        if asked and left > 0:
            results = await uses.answer(asked, view.opened.grant, io, trace)
            left = min(left, 1) if uses.spent else left
            if more := _answered(step, view, prompt, draft, asked, results, ended, left):
                prompt = more
                continue
            failed = _NO_ROOM
        elif asked and not draft.text.strip():
            # No turn is left for a tool, and it was asked for in the place of an answer: it is
            # refused with the order to write, which takes the repair.
            results, failed = uses.refuse(asked, trace), _NO_ANSWER
            more = _answered(step, view, prompt, draft, asked, results, ended, 1)
            if repairs > 0 and more is not None:
                prompt, repairs, left = more, repairs - 1, 1
                continue
        if failed and before is None:
            why_unaided = failed
            trace.add("unaided", step=step.name, why=failed, failed_calls=_failed(ended))
            draft, prompt = number_draft(step.unaided(view), prompt.numbering, prompt)
        elif failed and before is not None:
            # The repair could not be had: what was written stands, less what failed.
            trace.add("unrepaired", step=step.name, why=failed)
            draft = before
        if failed:
            gate, repairs = io.gate(step.release, step.checks, prompt), 0
        verdict, text = gate.close(draft, last=repairs == 0 or sent or draft.cut)
        if verdict.repair is None:
            break
        again = _ordered(prompt, draft, verdict.repair, view)
        if again is None:  # what was written stands, less what failed
            trace.add("unrepaired", step=step.name, why=_NO_ROOM)
            verdict, text = io.gate(step.release, step.checks, prompt).close(draft, last=True)
            break
        prompt, repairs = again, repairs - 1
        left, before = 1, draft
        trace.add("repair", step=step.name, findings=[found.id for found in verdict.findings])
    for event in text:
        await out(event)
    trace.add(
        "checked",
        step=step.name,
        by=draft.by.partition(":")[0],
        claims=len(verdict.claims),
        citations=len(verdict.citations),
        removed=len(verdict.removed),
    )
    return Done(
        step=step,
        draft=draft,
        verdict=verdict,
        prompt=prompt,
        calls=tuple(ended),
        why_unaided=why_unaided,
        lost=tuple(dict.fromkeys(uses.lost)),
        used=tuple(uses.made),
        own_limit=made.own_limit,
    )


async def _tried(
    asking: Coroutine[Any, Any, tuple[Draft, list[ToolCall], bool]],
    why: str,
    trace: Trace,
    ended: list[Ended],
) -> tuple[Draft, list[ToolCall], bool, str]:
    """What was heard, and "" or why no model was; with a `why` none is asked."""
    heard, trace.asking = (Draft(text="", by=""), list[ToolCall](), False), True
    try:
        if why:
            asking.close()
        else:
            heard = await asking
    except NoModel as error:
        ended.extend(error.calls)
        trace.calls.extend(error.calls)
        why = error.why
    trace.asking = False  # a turn that is cut while it asks does not come by here
    return *heard, why


def _failed(calls: Sequence[Ended]) -> int:
    return sum(call.outcome != "ok" for call in calls)


def _ordered(prompt: Assembly, draft: Draft, order: str, view: View[S]) -> Assembly | None:
    """The prompt with the draft and the order to mend it, `None` where there is no room for that."""
    with suppress(BudgetTooSmall):
        return reorder(prompt, draft=draft, order=order, count=view.opened.count)
    return None


async def _heard(
    step: Step[S],
    view: View[S],
    prompt: Assembly,
    gate: Gate,
    left: int,
    io: Services[S],
    out: Emit,
    trace: Trace,
    ended: list[Ended],
) -> tuple[Draft, list[ToolCall], bool]:
    """One model call: what was written, the tools it asked for, and whether any text was released.

    Every attempt that counted is added to `ended` and the trace.
    """
    decoder = step.decoder()
    asked: list[ToolCall] = []
    sent = False
    stream = io.models.stream(
        prompt,
        route=step.route,
        tools=step.tools,
        may_call=left > 0,
        schema=step.schema,
        output=step.budget.output,
        deadline_ms=max(1, view.request.deadline_ms - int(trace.ms())),
    )
    async with aclosing(cast("AsyncGenerator[Delta | ToolCall | Ended, None]", stream)) as events:
        async for event in events:
            if isinstance(event, Delta):
                for piece in gate.admit(decoder.feed(event.text)):
                    sent = True
                    await out(piece)
            elif isinstance(event, ToolCall):
                asked.append(event)
            else:
                ended.append(event)
                trace.calls.append(event)
    return _written(decoder, ended), asked, sent


def _answered(
    step: Step[S],
    view: View[S],
    prompt: Assembly,
    draft: Draft,
    asked: Sequence[ToolCall],
    results: Sequence[ToolResult],
    ended: Sequence[Ended],
    left: int,
) -> Assembly | None:
    """The prompt with what the model said before its tools, and what these brought.

    `None` where there is no room even for bare results.
    """
    opaque = ended[-1].opaque if ended else ()
    said = Message(
        role="assistant",
        parts=(*((draft.text,) if draft.text else ()), *asked, *opaque),
        tokens=0,
    )
    # What a refused call wrote is worth no room that the prompt has not got.
    refused = {result.id for result in results if result.error is not None}
    bare = Message(
        role="assistant",
        parts=tuple(replace(one, arguments="{}") if one.id in refused else one for one in asked),
        tokens=0,
    )
    for spoken in (said, bare):
        with suppress(BudgetTooSmall):
            return _extended(step, view, prompt, spoken, results, left)
    return None


def _extended(
    step: Step[S],
    view: View[S],
    prompt: Assembly,
    said: Message,
    results: Sequence[ToolResult],
    left: int,
) -> Assembly:
    return extend(
        prompt,
        said=said,
        results=results,
        budget=step.budget,
        calls_left=left,
        order=step.spent if left <= 1 else "",
        count=view.opened.count,
    )


def _written(decoder: Decoder, ended: Sequence[Ended]) -> Draft:
    """What came in, with the model that wrote it."""
    draft = decoder.finish()
    last = ended[-1] if ended else Ended(usage={}, model="unknown", cut=True)
    return replace(draft, by=f"model:{last.model}", cut=draft.cut or last.cut)


def _held(release: Release) -> Release:
    return "never" if release == "never" else "whole"


class _Uses:
    """Answers a step's tool calls and counts them; a wrong call gets an error to act on.

    `made` are all calls in order; `lost` names what a source did not give.
    """

    def __init__(self, step: Step[S]) -> None:
        self._by_name = {tool.name: tool for tool in step.tools}
        self._most, self._refusal = step.uses, step.spent
        self._answered = self._round = 0
        self.made: list[ToolUse] = []
        self.lost: list[str] = []

    @property
    def spent(self) -> bool:
        """Whether no further call would be answered."""
        return self._most is not None and self._answered >= self._most

    async def answer(
        self, asked: Sequence[ToolCall], grant: Grant, io: Services[S], trace: Trace
    ) -> list[ToolResult]:
        """One result for each call of one round, in order."""
        self._round += 1
        results: list[ToolResult] = []
        for call in asked:
            result, use = await self._one(call, grant, io, trace)
            results.append(result)
            self.made.append(use)
            trace.add(
                "tool",
                # What a model wrote is no public field: a name that is no tool's stays out.
                name=call.name if call.name in self._by_name else "unknown",
                round=self._round,
                items=len(result.items),
                refused=bool(use.error),
                took_ms=round(use.ms, 2),
            )
        return results

    def refuse(self, asked: Sequence[ToolCall], trace: Trace) -> list[ToolResult]:
        """The step's refusal for each call of a round for which no turn is left."""
        self._round += 1
        results: list[ToolResult] = []
        for call in asked:
            use = ToolUse(name=call.name, arguments=call.arguments, round=self._round)
            result, use = _refused(call, use, self._refusal)
            results.append(result)
            self.made.append(use)
            name = call.name if call.name in self._by_name else "unknown"
            trace.add("tool", name=name, round=self._round, items=0, refused=True, took_ms=0.0)
        return results

    async def _one(
        self, call: ToolCall, grant: Grant, io: Services[S], trace: Trace
    ) -> tuple[ToolResult, ToolUse]:
        use = ToolUse(name=call.name, arguments=call.arguments, round=self._round)
        tool = self._by_name.get(call.name)
        if tool is None:
            return _refused(call, use, f"No tool of this name. Use: {', '.join(self._by_name)}.")
        if self.spent:
            return _refused(call, use, self._refusal)
        try:
            arguments = json.loads(call.arguments or "{}")
            need = tool.need(arguments)
            hash(need)  # a list where a text is wanted
        except CallerError as error:
            return _refused(call, use, f"Arguments are wrong: {error}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"Arguments are wrong ({type(error).__name__}). Follow the tool's schema."
            return _refused(call, use, why)
        self._answered += 1
        found = (await _gather((need,), grant, io, trace))[need]
        if isinstance(found, Lost):
            self.lost.append(f"{need.name}: {found.why}")
            return _refused(call, replace(use, ms=found.ms), f"The search failed: {found.why}.")
        self.lost += [f"{need.name}: {why}" for why in getattr(found.value, "degraded", ())]
        items = tuple(tool.items(found.value))
        result = ToolResult(id=call.id, items=items, element=tool.element, nothing=tool.nothing)
        return result, replace(
            use,
            sources=tuple(item.key for item in items),
            why_empty=getattr(found.value, "why_empty", ""),
            ms=found.ms,
        )


def _refused(call: ToolCall, use: ToolUse, why: str) -> tuple[ToolResult, ToolUse]:
    return ToolResult(id=call.id, error=why), replace(use, error=why)
