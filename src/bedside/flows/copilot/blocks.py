"""The layers of the copilot's context, as blocks in zones (CO-04, CO-05, CO-11). Pure.

Priorities say the order of sacrifice: memories 5, old document text 10, evidence bank 15, the
conversation's summary 20, then the rest of the middle by rank.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources

from bedside.core.context import Block, Cap, Count, Item
from bedside.flows.copilot.findings import document_findings
from bedside.flows.copilot.hard import hard_blocks
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.plain import persona
from bedside.flows.copilot.plain_view import for_patient, plain_blocks
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, hits_of, parsed_of
from bedside.flows.copilot.quoting import in_order_of_worth
from bedside.flows.copilot.relevance import rank_facts
from bedside.flows.copilot.rules import rule_draft
from bedside.flows.flow import View
from bedside.flows.parts import (
    fact_item,
    guardrails_block,
    history_blocks,
    hit_item,
    question_block,
    safety_block,
)
from bedside.knowledge.needs import Hit
from bedside.knowledge.render import EMPTY
from bedside.record.needs import RecordFacts

__all__ = ["BUDGET_TOKENS", "HISTORY_TOKENS", "OUTPUT_TOKENS", "blocks_of", "country_of"]

BUDGET_TOKENS = 6_000
OUTPUT_TOKENS = 4_096
HISTORY_TOKENS = 1_200
FRESH_TOKENS = 1_000
"""So many tokens of the newest upload's relevant passages are protected."""
_DOCUMENT_CHARS = 8_000
_PASSAGE_CHARS = 2_000
_KNOWLEDGE_CHARS = 8_000
_MOST_PASSAGES = 5
_REMINDER = (
    "Cite every statement with its source number and exact words; figures as written; headline first; "
    "at most one closing question."
)
_PRIORITY_LINE = "The documents uploaded for this question take priority over older ones."


def blocks_of(view: View[Nothing]) -> tuple[Block, ...]:
    """Every candidate block of the turn, in wire order inside its zone."""
    record = facts_of(view)
    blocks: list[Block] = [
        _ours("identity", _persona(view), zone="primacy", stability="static"),
        guardrails_block(
            "copilot", patient=grounded(view.opened), country=country_of(view), reminder=_REMINDER
        ),
        *_profile(view),
    ]
    if record is not None:
        blocks += [_patient(record), safety_block(record)]
    blocks += history_blocks(view.opened.history, tokens=HISTORY_TOKENS, step=2)
    blocks += [
        _ours("response mode", MODES[view.plan.mode].hint, zone="primacy", stability="turn"),
        question_block(view.request.text),
    ]
    if record is not None:
        blocks += _record(view, record)
        blocks += _document_findings(view, record)
    blocks += _documents(view)
    blocks += _knowledge(view)
    blocks += plain_blocks(view) if for_patient(view) else hard_blocks(view)
    blocks += _memories(view)
    return tuple(blocks)


def country_of(view: View[Nothing]) -> str:
    """The country whose guidance and references count, "INT" where none is set."""
    return view.opened.pinned.get("country", "") or "INT"


@functools.cache
def _text(name: str) -> str:
    path = resources.files("bedside.flows.copilot") / "prompts" / f"{name}.md"
    return path.read_text(encoding="utf-8").strip()


def _persona(view: View[Nothing]) -> str:
    if for_patient(view):
        return persona()
    return _text("clinician" if grounded(view.opened) else "knowledge")


def _ours(name: str, text: str, *, zone: str, stability: str) -> Block:
    return Block(
        name,
        Item(text, key=name),
        zone=zone,  # type: ignore[arg-type]
        stability=stability,  # type: ignore[arg-type]
        protected=True,
        priority=100,
        trust="ours",
    )


def _profile(view: View[Nothing]) -> list[Block]:
    """L1: who asks, where the installation says so."""
    profile = view.opened.pinned.get("doctor", "")
    if not profile:
        return []
    return [
        Block(
            "doctor", Item(profile, key="doctor"), zone="primacy", stability="session", priority=80
        )
    ]


def _patient(record: RecordFacts) -> Block:
    """Who the patient is: the identity line; contact details only where they are asked for."""
    lines = [fact for fact in record.of("demographics") if fact.group in {"identity", ""}]
    items = [fact_item(fact, rank=1.0) for fact in lines[:1]]
    if not items:
        items = [Item(f"Sex: {record.person.sex or 'not recorded'}.", key="person")]
    return Block(
        "patient",
        items,
        slot="system",
        zone="primacy",
        stability="session",
        protected=True,
        priority=100,
    )


def _record(view: View[Nothing], record: RecordFacts) -> list[Block]:
    parsed = parsed_of(view)
    draft = rule_draft(view)
    cited = {str(item.span.source.id) for item in draft.items if item.span} if draft else set()
    chosen = rank_facts(
        record,
        parsed,
        intent=view.plan.intent,
        text=view.request.text,
        cited=[fact for fact in record.facts if str(fact.source.id) in cited],
    )
    blocks: list[Block] = []
    if chosen:
        blocks.append(
            Block(
                "record",
                [fact_item(one.fact, rank=one.rank) for one in chosen],
                zone="middle",
                priority=60,
                keep=min(3, len(chosen)),
                shrink="drop_lowest",
            )
        )
    if view.plan.intent == "demographics":
        contact = [fact for fact in record.of("demographics") if fact.group not in {"identity", ""}]
        if contact:
            blocks.append(Block("contact", [fact_item(fact) for fact in contact], priority=60))
    blocks += _findings(view, record)
    return blocks


def _findings(view: View[Nothing], record: RecordFacts) -> list[Block]:
    """Contradictions, and one insight of the patient: found by rule, put before the model."""
    blocks: list[Block] = []
    if record.contradictions:
        blocks.append(
            Block(
                "contradictions",
                [Item(one.text, key=one.rule) for one in record.contradictions[:5]],
                zone="recency",
                priority=70,
                keep=1,
            )
        )
    if record.insights and view.plan.clinical:
        first = record.insights[0]
        blocks.append(
            Block(
                "insights",
                [Item(f"{first.title}: {first.text}", key=first.rule)],
                zone="recency",
                priority=55,
            )
        )
    return blocks


def _document_findings(view: View[Nothing], record: RecordFacts) -> list[Block]:
    """Insights of the patient's documents, three for all of them."""
    hits = hits_of(view, "documents")
    if hits is None:
        return []
    first = [str(one) for one in (*view.request.documents, *view.request.selected)]
    found = document_findings(hits.hits, record, first=first)
    if not found:
        return []
    items = [
        Item(f"{one.text}.", key=f"{one.rule}:{place}", rank=1.0 / (place + 1))
        for place, one in enumerate(found)
    ]
    return [Block("document insights", items, zone="recency", priority=55, shrink="drop_lowest")]


def _documents(view: View[Nothing]) -> list[Block]:
    found = hits_of(view, "documents")
    if found is None or not found.hits:
        return []
    fresh_ids = {str(one) for one in view.request.documents}
    fresh = [hit for hit in found.hits if str(hit.span.source.id) in fresh_ids]
    chosen = {str(one) for one in view.request.selected}
    older = [hit for hit in found.hits if str(hit.span.source.id) not in fresh_ids]
    selected = [hit for hit in older if str(hit.span.source.id) in chosen]
    rest = [hit for hit in older if str(hit.span.source.id) not in chosen]
    blocks: list[Block] = []
    if fresh:
        blocks.append(_ours("document order", _PRIORITY_LINE, zone="middle", stability="turn"))
        blocks.append(
            Block(
                "new document",
                [hit_item(hit, rank=_rank(place)) for place, hit in enumerate(fresh)],
                zone="recency",
                priority=90,
                keep=_within(fresh, FRESH_TOKENS, view.opened.count),
                cap=Cap(chars=12_000),
                shrink=("drop_lowest", "cut_sentence"),
            )
        )
    if selected:
        blocks.append(_older("selected documents", selected, priority=50, keep=1))
    if rest:
        blocks.append(_older("documents", rest, priority=10, keep=0))
    return blocks


def _rank(place: int) -> float:
    return 1.0 / (place + 1)


def _older(name: str, hits: Sequence[Hit], *, priority: int, keep: int) -> Block:
    return Block(
        name,
        [hit_item(hit, rank=_rank(place)) for place, hit in enumerate(hits)],
        zone="middle",
        priority=priority,
        keep=keep,
        cap=Cap(chars=_DOCUMENT_CHARS, chars_each=_PASSAGE_CHARS),
        shrink=("drop_lowest", "cut_sentence"),
    )


def _within(hits: Sequence[Hit], tokens: int, count: Count) -> int:
    """How many of the best passages fit the tokens, at least one."""
    used = kept = 0
    for hit in hits:
        used += count(hit.text) + 24
        if used > tokens:
            break
        kept += 1
    return max(kept, 1)


def _knowledge(view: View[Nothing]) -> list[Block]:
    """Guideline passages: whole or not at all."""
    found = hits_of(view, "knowledge")
    if found is None:
        return []
    if not found.hits:  # searched and empty is said; a search that failed is not the same
        if found.degraded:
            return []
        return [Block("clinical_guidelines", EMPTY, zone="recency", priority=30)]
    with_patient = grounded(view.opened)
    best = in_order_of_worth(view)[:_MOST_PASSAGES]
    return [
        Block(
            "clinical_guidelines",
            [hit_item(hit, rank=_rank(place)) for place, hit in enumerate(best)],
            zone="recency",
            priority=30 if with_patient else 60,
            keep=0 if with_patient else 1,
            cap=Cap(chars=_KNOWLEDGE_CHARS, items=_MOST_PASSAGES),
            shrink="drop_lowest",
        )
    ]


def _memories(view: View[Nothing]) -> list[Block]:
    """CO-12: only where the installation switched them on and consent is recorded."""
    data = view.opened.data
    if view.opened.pinned.get("memories") != "on" or not data:
        return []
    if data.get("memories_consent") is not True:
        return []
    lines = data.get("memories") or ()
    if not lines:
        return []
    return [Block("memories", [Item(str(line)) for line in lines], zone="middle", priority=5)]
