"""The turn as the contract has it: one JSON value from what a turn saw and did. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bedside.context import prompt_hash, receipt
from bedside.core.context import Assembly, ToolCall, ToolResult
from bedside.core.source import Source
from bedside.core.turn import Citation, Ended, Finding, Got, Lost
from bedside.flows.flow import Done, Flow, Opened, View
from bedside.knowledge.needs import Hits
from bedside.models.prices import total
from bedside.record.needs import RecordFacts

__all__ = ["citation", "prompt_parts", "turn_body", "unanswered_body"]

S = TypeVar("S")

_OUTCOME = {
    "pass": "pass",
    "flag": "flagged",
    "repair": "repaired",
    "remove": "removed",
    "block": "blocked",
}


def turn_body(
    *,
    opened: Opened[S],
    flow: Flow[S],
    view: View[S],
    final: Done[S],
    status: str,
    egress: str,
    tokenizer: str,
    version: str,
    ms: float,
) -> dict[str, Any]:
    """Build the turn JSON. Unknown figures are `None`, never 0."""
    calls = [call for done in view.done for call in done.calls]
    compiled = final.prompt if final.prompt is not None and final.prompt.messages else None
    verdict = final.verdict
    records = [
        found.value
        for found in view.gathered.values()
        if isinstance(found, Got) and isinstance(found.value, RecordFacts)
    ]
    return {
        **_own_fields(final.draft.payload),
        "turn_id": opened.turn,
        "flow": flow.name,
        "session_id": opened.session,
        "status": status,
        "answer": verdict.text,
        "answered_by": final.draft.by or None,
        "citations": [citation(cited) for cited in verdict.citations],
        "claims": [
            {
                "answer_start": claim.at[0],
                "answer_end": claim.at[1],
                "text": verdict.text[claim.at[0] : claim.at[1]],
                "basis": claim.basis,
                "support": claim.support,
                "severity": claim.severity,
                "citations": list(claim.citations),
            }
            for claim in verdict.claims
        ],
        "contradictions": [
            {
                "rule": found.rule,
                "text": found.text,
                "sources": [fact.source.id for fact in found.facts],
            }
            for record in records
            for found in record.contradictions
        ],
        "review": {"state": "draft", "by": None, "at": None},
        "egress": egress,
        "removed": [{"claim": text, "why": why} for text, why in verdict.removed],
        "degraded": _degraded(view, final),
        "missing": list(final.draft.missing),
        "guardrails": [_finding(found) for found in verdict.findings],
        "plan": {
            **_own_plan(final.draft.payload),
            "intent": view.plan.intent,
            "categories": list(view.plan.categories),
            "source": view.plan.source,
            "queries": list(view.plan.queries),
            "mode": view.plan.mode,
        },
        "receipt": _receipt(compiled, _sent(view, final), tokenizer) if compiled else None,
        "calls": [_call(call) for call in calls],
        "cost_usd": _cost(calls),
        "ms": round(ms, 1),
        "trace_id": opened.turn,
        "basis": {
            "record_as_of": _record_as_of(records),
            "knowledge": _editions(verdict.citations),
            "prompt_hash": prompt_hash(compiled.messages) if compiled else None,
            "engine": version,
        },
    }


def _sent(view: View[S], final: Done[S]) -> Done[S]:
    """The step whose prompt the turn shows: its last, or that which `final` was composed of."""
    if final.prompt is None:
        return final
    same = (one for one in view.done if one.prompt and one.prompt.messages is final.prompt.messages)
    return next(same, final)


def _receipt(prompt: Assembly, sent: Done[S], tokenizer: str) -> dict[str, Any]:
    """The receipt, with what the provider counted of the prompt and what its window left of it."""
    reported = sent.calls[-1].usage.get("input") if sent.calls else None
    return {
        **receipt(prompt, tokenizer=tokenizer, reported=reported),
        "own_limit": sent.own_limit,
        "output": sent.step.budget.output if sent.step is not None else None,
    }


def _own_fields(payload: object | None) -> Mapping[str, Any]:
    """A composed draft's payload, where it is a mapping: the flow's own fields beside the turn's."""
    return payload if isinstance(payload, Mapping) else {}


def _own_plan(payload: object | None) -> Mapping[str, Any]:
    """A care plan has its name from the contract too: its fields stand beside the turn's plan."""
    plan = _own_fields(payload).get("plan")
    return plan if isinstance(plan, Mapping) else {}


def unanswered_body(
    *,
    turn: str,
    session: str,
    flow: str,
    status: str,
    why: str,
    version: str,
    answer: str = "",
    egress: str = "unknown",
    calls: Sequence[Ended] = (),
    ms: float | None = None,
) -> dict[str, Any]:
    """The turn JSON of a turn that did not end with a verdict: cut, refused, or still running.

    `answer` is what was released before it was cut, each sentence after its checks. `egress` is
    "unknown", and so is the cost, where a call was under way and nobody reported how it went.
    """
    return {
        "turn_id": turn,
        "flow": flow,
        "session_id": session,
        "status": status,
        "answer": answer,
        "answered_by": None,
        "citations": [],
        "claims": [],
        "contradictions": [],
        "review": {"state": "draft", "by": None, "at": None},
        "egress": egress,
        "removed": [],
        "degraded": [f"turn: {why}"],
        "missing": [],
        "guardrails": [],
        "plan": {"intent": "", "categories": [], "source": "fallback", "queries": [], "mode": ""},
        "receipt": None,
        "calls": [_call(call) for call in calls],
        "cost_usd": None if egress == "unknown" else _cost(calls),
        "ms": None if ms is None else round(ms, 1),
        "trace_id": turn,
        "basis": {"record_as_of": None, "knowledge": {}, "prompt_hash": None, "engine": version},
        "why": why,
    }


def prompt_parts(prompt: Assembly | None) -> list[tuple[str, str]]:
    """The prompt as (role, text) parts in wire order; tool parts stand as their JSON-like text."""
    if prompt is None:
        return []
    return [(message.role, _text(part)) for message in prompt.messages for part in message.parts]


def _text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, ToolCall):
        return f"[tool call {part.id}: {part.name}({part.arguments})]"
    if isinstance(part, ToolResult):
        bodies = "\n".join(item.body for item in part.items)
        return f"[tool result {part.id}: {part.error or bodies}]"
    return "[opaque part]"


def _source(source: Source) -> dict[str, Any]:
    return {
        "kind": source.kind,
        "id": source.id,
        "revision": source.revision,
        "title": source.title,
        "section": source.section,
        "date": source.dated.isoformat() if source.dated else None,
        "superseded": source.superseded,
    }


def citation(cited: Citation) -> dict[str, Any]:
    """A citation as the contract has it."""
    return {
        "n": cited.n,
        "source": _source(cited.span.source),
        "start": cited.span.start,
        "end": cited.span.end,
        "quote": cited.quote,
        "answer_start": cited.at[0],
        "answer_end": cited.at[1],
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {"id": found.id, "outcome": _OUTCOME[found.want], "detail": found.detail}


def _degraded(view: View[S], final: Done[S]) -> list[str]:
    out: list[str] = []
    for need, found in view.gathered.items():
        if isinstance(found, Lost):
            out.append(f"{need.name}: {found.why}")
        else:
            if found.via != "primary":
                out.append(f"{need.name}: {found.via}")
            if isinstance(found.value, Hits):
                out += [f"{need.name}: {why}" for why in found.value.degraded]
    out += [why for done in view.done for why in done.lost]
    out += [
        f"context: the model's window leaves {done.step.budget.limit:,} of {done.own_limit:,} tokens"
        for done in view.done
        if done.step and done.prompt and done.own_limit and done.prompt.dropped
    ]
    if "model" in view.opened.can:
        out += [f"model: {done.why_unaided}" for done in (*view.done, final) if done.why_unaided]
        out += ["model: the answer broke off" for done in (*view.done, final) if done.draft.cut]
    return list(dict.fromkeys(out))


def _call(call: Ended) -> dict[str, Any]:
    return {
        "provider": call.provider,
        "model": call.model,
        "role": call.role,
        "input": call.usage.get("input"),
        "output": call.usage.get("output"),
        "cache_read": call.usage.get("cache_read"),
        "cache_write": call.usage.get("cache_write"),
        "ms": round(call.ms, 1),
        "cost_usd": float(call.cost_usd) if call.cost_usd is not None else None,
        "outcome": call.outcome,
    }


def _cost(calls: Sequence[Ended]) -> float | None:
    found = total(calls)
    return None if found is None else float(found)


def _record_as_of(records: Sequence[RecordFacts]) -> str | None:
    moments = [record.as_of for record in records if record.as_of is not None]
    return max(moments).isoformat() if moments else None


def _editions(citations: Sequence[Citation]) -> Mapping[str, str | None]:
    return {
        cited.span.source.id: cited.span.source.dated.isoformat()
        if cited.span.source.dated
        else None
        for cited in citations
        if cited.span.source.kind == "guideline"
    }
