"""The copilot: a doctor's question, answered from the record or from guidelines.

Read this file for the whole behaviour. `plan` finds the intent and the smallest set of needs;
`more` adds what the record suggests; `answer` takes the question by rule or not at all; else one
step asks a model within 6,000 tokens, and the extractive writer stands in where no model can.
"""

from __future__ import annotations

from bedside.core.context import Budget
from bedside.core.turn import Draft, Route
from bedside.flows.copilot.blocks import BUDGET_TOKENS, OUTPUT_TOKENS, blocks_of, country_of
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.plain_writer import write_for_reader
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, plan_turn, second_round
from bedside.flows.copilot.rules import rule_draft
from bedside.flows.copilot.writer import write_unaided
from bedside.flows.flow import Flow, Step, View
from bedside.grounding.guardrails.policy import Guardrails, guardrails
from bedside.grounding.prose import Prose

__all__ = ["COPILOT"]


def _answer(view: View[Nothing]) -> Draft | None:
    """Rules: the whole question, or nothing."""
    draft = rule_draft(view)
    return write_for_reader(view, draft) if draft is not None else None


def _next(view: View[Nothing]) -> Step[Nothing] | None:
    """One step: the writer, grounded in the record or in guidelines."""
    if view.done:
        return None
    return Step(
        name="answer",
        blocks=blocks_of(view),
        budget=Budget(
            int(view.opened.pinned.get("context_tokens", BUDGET_TOKENS)),
            output=int(view.opened.pinned.get("output_tokens", OUTPUT_TOKENS)),
            window_step=2,
        ),
        layout="balanced",
        route=Route(role="writer"),
        decoder=Prose,
        checks=(_guards(view),),
        unaided=lambda now: write_for_reader(now, write_unaided(now)),
        release="sentence",
    )


def _guards(view: View[Nothing]) -> Guardrails:
    """G1 to G13 with what this turn knows: the word limit, the question, what contradicts what."""
    record = facts_of(view)
    audience = view.request.option("audience", "clinician")
    return guardrails(
        "copilot",
        patient=grounded(view.opened),
        audience="patient" if audience == "patient" else "clinician",
        country=country_of(view),
        words=MODES[view.plan.mode].words,
        asked=view.request.text,
        contradictions=tuple(
            tuple(str(fact.source.id) for fact in found.facts)
            for found in (record.contradictions if record is not None else ())
        ),
    )


COPILOT: Flow[Nothing] = Flow(
    name="copilot",
    version="1",
    initial=Nothing,
    plan=plan_turn,
    more=second_round,
    answer=_answer,
    next=_next,
    checks=(guardrails("copilot"),),
)
