"""The briefing: flags by rule, explained and extended by a model that searches guidelines.

Read this file for the whole behaviour. `plan` takes the whole record, `more` searches guidelines
for what stands in it. With a model the first step writes within 16,000 tokens, and its every
sentence is checked; the last step, by rule, puts the rule flags and what is left of the model's
together, so that no flag of a rule can be lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bedside.core.context import Budget
from bedside.core.turn import Draft, Route
from bedside.flows.briefing.blocks import CONTEXT_TOKENS, LOOP_TOKENS, OUTPUT_TOKENS, blocks_of
from bedside.flows.briefing.findings import Briefing, Cited, Summary
from bedside.flows.briefing.merge import merged
from bedside.flows.briefing.plan import Nothing, chart_in, guidance_in, plan_turn, second_round
from bedside.flows.briefing.rules import by_rule
from bedside.flows.briefing.text import as_json, source_json, write
from bedside.flows.briefing.tool import SEARCH, SPENT
from bedside.flows.briefing.written import SCHEMA, WrittenBriefing, checks_of
from bedside.flows.flow import Done, Flow, Step, View
from bedside.grounding.guardrails.policy import Guardrails, guardrails

__all__ = ["BRIEFING"]

TURNS = 4
SEARCHES = 3
_MARKUP, _BESIDE = 40, 1_500
"""Tokens: around each item of a prompt, and for what is kept beside the protected blocks."""
_NO_ROOM = (
    "What may not be left out of a prompt is longer than the model's context, so no model was asked: "
    "this briefing is by rule alone"
)
_NO_PATIENT = "A briefing is about a patient, and none was named."
_NO_RECORD = "The record did not answer, so there is no briefing."


def _answer(view: View[Nothing]) -> Draft | None:
    """Without a record there is nothing to brief about, and that is said."""
    if view.opened.grant.patient is None:
        return Draft(text=_NO_PATIENT, missing=("a patient",))
    if chart_in(view) is None:
        return Draft(text=_NO_RECORD, missing=("the record",))
    return None


def _next(view: View[Nothing]) -> Step[Nothing] | None:
    """The model's step where a model is routed, then the step by rule that ends every briefing."""
    if not view.done and "model" in view.opened.can and _room(view):
        return _model_step(view)
    if not view.done or view.done[-1].step is None or view.done[-1].step.name == "write":
        return _last_step(view)
    return None


def _room(view: View[Nothing]) -> bool:
    """Does what may not be left out of a prompt (the allergies above all) fit into the context?"""
    agent = "tools" in view.opened.can
    loop = _set(view, "loop", LOOP_TOKENS) if agent else 0
    kept = sum(
        view.opened.count(item.body) + _MARKUP
        for block in blocks_of(view, agent=agent)
        if block.protected
        for item in block.items
    )
    return kept <= _set(view, "context", CONTEXT_TOKENS) - loop - _BESIDE


def _model_step(view: View[Nothing]) -> Step[Nothing]:
    agent = "tools" in view.opened.can
    return Step(
        name="write",
        blocks=blocks_of(view, agent=agent),
        budget=Budget(
            _set(view, "context", CONTEXT_TOKENS),
            output=_set(view, "output", OUTPUT_TOKENS),
            loop=_set(view, "loop", LOOP_TOKENS) if agent else 0,
        ),
        layout="balanced",
        route=Route(role="writer"),
        decoder=WrittenBriefing,
        checks=(_guards(), *checks_of(_rule_briefing(view).flags)),
        unaided=lambda _view: Draft(text="", by="rules"),
        release="never",
        tools=(SEARCH,) if agent else (),
        calls=TURNS if agent else 1,
        uses=SEARCHES,
        spent=SPENT,
        schema=SCHEMA,
        repairs=1,
    )


def _set(view: View[Nothing], name: str, otherwise: int) -> int:
    """A number of tokens as the settings have it."""
    return int(view.opened.pinned.get(f"briefing_{name}_tokens", otherwise))


def _guards() -> Guardrails:
    return guardrails("briefing", patient=True)


def _last_step(view: View[Nothing]) -> Step[Nothing]:
    return Step(
        name="briefing",
        # The prompt of the model's step is the turn's; without one the context is shown all the same.
        blocks=() if view.done or not _room(view) else blocks_of(view),
        budget=Budget(
            _set(view, "context", CONTEXT_TOKENS), output=_set(view, "output", OUTPUT_TOKENS)
        ),
        layout="balanced",
        route=Route(role="writer"),
        decoder=WrittenBriefing,
        checks=(_guards(),),
        unaided=lambda now: write(_briefing(now)),
        release="whole",
        calls=0,
    )


def _rule_briefing(view: View[Nothing]) -> Briefing:
    chart = chart_in(view)
    if chart is None:
        return Briefing(summary=Summary(one_liner=Cited(text=_NO_RECORD)))
    return by_rule(chart, guidance_in(view, chart))


def _briefing(view: View[Nothing]) -> Briefing:
    """The rule briefing, with what the model wrote and the gate left of it."""
    base = _rule_briefing(view)
    if "model" in view.opened.can and not _room(view):
        base = replace(base, notes=(*base.notes, Cited(text=_NO_ROOM)))
    wrote = next((done for done in view.done if done.step and done.step.name == "write"), None)
    return merged(base, wrote) if wrote is not None else base


def _compose(view: View[Nothing]) -> Done[Nothing]:
    """The last step's answer, under the name of the model where some of it is the model's."""
    final = view.done[-1]
    if final.prompt is None or chart_in(view) is None or view.request.option("call") == "no":
        return final
    briefing = _left(_briefing(replace(view, done=view.done[:-1])), final.verdict.text)
    numbering = final.prompt.numbering
    wrote = view.done[0] if len(view.done) > 1 else None
    by = (
        wrote.draft.by if wrote and any(flag.source == "ai" for flag in briefing.flags) else "rules"
    )
    if wrote and by == "rules" and wrote.verdict.claims:
        by = wrote.draft.by
    body = as_json(briefing, numbering, sources=_sources(final))
    body["loop"] = _loop(wrote)
    removed = (*(wrote.verdict.removed if wrote else ()), *final.verdict.removed)
    findings = (*(wrote.verdict.findings if wrote else ()), *final.verdict.findings)
    asked = wrote.prompt if wrote and wrote.prompt else final.prompt
    return replace(
        final,
        prompt=replace(asked, numbering=numbering, shown=final.prompt.shown),
        draft=replace(final.draft, by=by, payload={"briefing": body}),
        verdict=replace(final.verdict, removed=removed, findings=_once(findings)),
    )


def _left(briefing: Briefing, text: str) -> Briefing:
    """The briefing without what the last check removed; a flag of a rule stays, whatever happens."""

    def stands(cited: Cited) -> bool:
        return cited.text in text

    return replace(
        briefing,
        summary=replace(
            briefing.summary,
            conditions=tuple(filter(stands, briefing.summary.conditions)),
            changes=tuple(filter(stands, briefing.summary.changes)),
        ),
        flags=tuple(
            flag
            for flag in briefing.flags
            if flag.source == "rule" or all(map(stands, flag.description))
        ),
        actions=tuple(one for one in briefing.actions if stands(one.text)),
        guidance=tuple(filter(stands, briefing.guidance)),
    )


def _once(findings: Any) -> tuple[Any, ...]:
    """Findings of both steps; a pass counts only where nothing else was found."""
    hit = {one.id for one in findings if one.want != "pass"}
    kept = [one for one in findings if one.want != "pass" or one.id not in hit]
    return tuple(dict.fromkeys(kept))


def _sources(final: Done[Nothing]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for cited in final.verdict.citations:
        found.setdefault(cited.n, {"n": cited.n, **source_json(cited.span.source)})
    return [found[n] for n in sorted(found)]


def _loop(wrote: Done[Nothing] | None) -> list[dict[str, Any]]:
    """Every search of the model as it went (BR-12)."""
    if wrote is None:
        return []
    return [
        {
            "turn": use.round,
            "tool": use.name,
            "arguments": use.arguments,
            "results": len(use.sources),
            "passages": list(use.sources),
            "why_empty": use.why_empty or None,
            "error": use.error or None,
            "ms": round(use.ms, 1),
        }
        for use in wrote.used
    ]


BRIEFING: Flow[Nothing] = Flow(
    name="briefing",
    version="1",
    initial=Nothing,
    plan=plan_turn,
    more=second_round,
    answer=_answer,
    next=_next,
    compose=_compose,
    checks=(guardrails("briefing"),),
)
