"""The architectures of intake side by side: one state, three ways to lead the conversation (IN-14).

`flexible`: a model decides the next step, the contract's order where there is none. `staged`: stage
by stage, a model words the stage's question. `minimal`: rules and templates alone, in three
languages. Each is a flow over the same case, so that any of them can take any turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bedside.core.context import Block, Budget, Item
from bedside.core.turn import Draft, Job, Plan, Route, TurnRequest
from bedside.core.value import value
from bedside.flows.flow import Flow, Opened, Step, View
from bedside.flows.intake import turn as taking
from bedside.flows.intake.case import Case, dump, initial, load, reduce
from bedside.flows.intake.checks import checks_of
from bedside.flows.intake.dispatch import VERSIONS, Choice, Facts, choose
from bedside.flows.intake.envelope import SCHEMA, EnvelopeDecoder
from bedside.grounding.guardrails.policy import guardrails
from bedside.sop import blocks as sop_blocks

__all__ = ["Dispatch", "architecture", "chain", "pin"]

T = TypeVar("T")
OUTPUT_TOKENS = 1_024


@value
class Dispatch:
    """How this turn came to its architecture. `fallback` is why the one before did not serve."""

    architecture: str
    choice: Choice
    fallback: str = ""


def pin(session: str, tenant: str, data: Any, live: Any) -> dict[str, str]:
    """What the first turn of a case chooses for all of its turns."""
    del live
    flags = data.get("flag") if data is not None else None
    choice = choose(Facts(case=session, tenant=tenant), flags)
    return {"architecture": choice.own, "architecture_source": choice.source}


def chain(request: TurnRequest, opened: Opened[Case]) -> Sequence[Flow[Case]]:
    """The turn's architecture and what stands behind it, each knowing why the last one failed."""
    language = request.option("language") or taking.language_of(request.text, opened.state)
    choice = choose(
        Facts(
            case=str(opened.session),
            tenant=str(opened.grant.tenant),
            pinned=opened.pinned.get("architecture", ""),
            forced=opened.state.forced,
            language=language,
            can=opened.can,
        ),
        (opened.data or {}).get("flag"),
    )
    if choice.source == "sticky" and not opened.state.facts.turn:  # the first turn chose it
        source = opened.pinned.get("architecture_source", choice.source)
        choice = replace(choice, source=source)
    failed: list[str] = []
    return [_recording(architecture(name, choice, failed), failed) for name in choice.chain]


def _recording(flow: Flow[Case], failed: list[str]) -> Flow[Case]:
    """The flow, noting the kind of any exception for the next in the chain."""

    def noted(function: Callable[..., T]) -> Callable[..., T]:
        def call(*given: Any) -> T:
            try:
                return function(*given)
            except Exception as error:
                failed.append(f"exception: {type(error).__name__}")
                raise

        return call

    return replace(
        flow,
        plan=noted(flow.plan),
        next=noted(flow.next),
        compose=noted(flow.compose),
        changes=noted(flow.changes),
    )


def architecture(name: str, choice: Choice, failed: Sequence[str] = ()) -> Flow[Case]:
    """One architecture as a flow."""

    def plan(request: TurnRequest, opened: Opened[Case]) -> Plan:
        why = choice.skipped[-1][1] if choice.skipped else ""
        if name != choice.architecture:
            why = failed[-1] if failed else "exception"
        return taking.plan(
            request, opened, Dispatch(architecture=name, choice=choice, fallback=why)
        )

    return Flow(
        name="intake",
        version=f"{name}/{VERSIONS[name]}",
        initial=initial,
        plan=plan,
        more=taking.nothing_more,
        answer=_no_answer,
        next=_next_of(name),
        compose=taking.compose,
        changes=taking.changes,
        reduce=reduce,
        jobs=_jobs_of(name),
        checks=(guardrails("intake"),),
        dump=dump,
        load=load,
        admits=lambda _case, _actor: True,
    )


def _no_answer(view: View[Case]) -> Draft | None:
    del view


def _jobs_of(name: str) -> Callable[[View[Case]], tuple[Job, ...]]:
    def jobs(view: View[Case]) -> tuple[Job, ...]:
        if name == "minimal" or "model" not in view.opened.can or taking.by_rule(view):
            return ()
        return (Job(kind="intake.extract", payload=(("turn", str(view.opened.turn)),)),)

    return jobs


def _next_of(name: str) -> Callable[[View[Case]], Step[Case] | None]:
    def step(view: View[Case]) -> Step[Case] | None:
        names = [done.step.name for done in view.done if done.step is not None]
        asks_model = name != "minimal" and "model" in view.opened.can and not taking.by_rule(view)
        if not names and asks_model:
            return _write_step(view, name)
        if "say" not in names:
            return _say_step(view, with_blocks=not names, name=name)
        return None

    return step


def _write_step(view: View[Case], name: str) -> Step[Case]:
    now = taking.situation(view)
    return Step(
        name="write",
        blocks=_blocks(view, name),
        budget=Budget(
            sop_blocks.LIMIT_TOKENS,
            output=OUTPUT_TOKENS,
            soft=(sop_blocks.SOFT_TOKENS, "history"),
        ),
        layout="balanced",
        route=Route(role="mechanic", veil=taking.veil(now.case)),
        decoder=EnvelopeDecoder,
        checks=(
            guardrails("intake", asked=view.request.text),
            *checks_of(
                now.contract,
                now.case.facts,
                voice=taking.voice_of(now, _said_before(view)),
                said=taking.own_words(view),
                agreed=now.case.consent.state == "confirmed",
            ),
        ),
        unaided=lambda _view: Draft(text="", by="rules"),
        release="never",
        schema=SCHEMA,
        repairs=1,
    )


def _said_before(view: View[Case]) -> tuple[str, ...]:
    return tuple(one.body for one in view.opened.history if one.role == "assistant")


def _say_step(view: View[Case], *, with_blocks: bool, name: str) -> Step[Case]:
    now = taking.situation(view)
    return Step(
        name="say",
        blocks=_blocks(view, name) if with_blocks else (),
        budget=Budget(
            sop_blocks.LIMIT_TOKENS,
            output=OUTPUT_TOKENS,
            soft=(sop_blocks.SOFT_TOKENS, "history"),
        ),
        layout="balanced",
        route=Route(role="mechanic"),
        decoder=EnvelopeDecoder,
        checks=(
            guardrails("intake", asked=view.request.text),
            *checks_of(now.contract, now.case.facts),
        ),
        unaided=taking.say,
        release="whole",
        calls=0,
    )


def _blocks(view: View[Case], name: str) -> tuple[Block, ...]:
    now = taking.situation(view)
    base = taking.base_prompt(view.opened.data)
    made = sop_blocks.blocks(
        now.contract,
        now.case.facts,
        view.opened.history,
        base=base,
        message=view.request.text,
    )
    if name != "staged":
        return made
    lead = taking.staged_order(now)
    stage = Block(
        "stage",
        Item(lead, key="stage"),
        slot="tail",
        zone="recency",
        stability="turn",
        protected=True,
        priority=90,
        trust="ours",
        cap=80,
        shrink="cut_mark",
    )
    return (*made, stage)
