"""The context of the briefing's model: the record's best, what the rules found, the task. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import resources

from bedside.core.context import Block, Cap, Item
from bedside.core.turn import Got
from bedside.flows.briefing.guidance import need_of, queries_of
from bedside.flows.briefing.plan import Nothing, chart_in
from bedside.flows.briefing.reading import Chart
from bedside.flows.briefing.rules import rule_flags
from bedside.flows.flow import View
from bedside.flows.parts import (
    fact_item,
    guardrails_block,
    hit_item,
    question_block,
    safety_block,
)
from bedside.record.needs import Fact

__all__ = ["CONTEXT_TOKENS", "LOOP_TOKENS", "OUTPUT_TOKENS", "blocks_of"]

CONTEXT_TOKENS = 16_000
LOOP_TOKENS = 7_500
OUTPUT_TOKENS = 4_096
_REMINDER = (
    "One JSON object; every sentence cites a source number with its exact words; figures as written; "
    "options, never orders; take nothing back that a rule says."
)
_FLAGS, _REFERENCES = 14, 12
_VISITS, _OTHERS = 5, 8
_PASSAGES = 8


def blocks_of(view: View[Nothing], *, agent: bool = False) -> tuple[Block, ...]:
    """Every candidate block; `agent` is True where the model can search by itself."""
    chart = chart_in(view)
    blocks = [
        Block(
            "identity",
            Item(_text("agent" if agent else "writer"), key="identity"),
            zone="primacy",
            stability="static",
            protected=True,
            priority=100,
            trust="ours",
        ),
        guardrails_block(
            "copilot",
            patient=True,
            country=view.opened.pinned.get("country", "") or "INT",
            reminder=_REMINDER,
        ),
        question_block(view.request.text),
    ]
    if chart is None:
        return tuple(blocks)
    return (
        *blocks,
        *_of_patient(chart),
        *_found(chart),
        *(() if agent else _guidelines(view, chart)),
    )


@functools.cache
def _text(name: str) -> str:
    path = resources.files("bedside.flows.briefing") / "prompts" / f"{name}.md"
    shared = resources.files("bedside.flows.briefing") / "prompts" / "form.md"
    parts = (path.read_text(encoding="utf-8"), shared.read_text(encoding="utf-8"))
    return "\n".join(part.strip() for part in parts)


def _of_patient(chart: Chart) -> Iterator[Block]:
    lines = [fact for fact in chart.record.of("demographics") if fact.group in {"identity", ""}]
    if lines:
        yield Block(
            "patient",
            [fact_item(lines[0], rank=1.0)],
            slot="system",
            zone="primacy",
            stability="session",
            protected=True,
            priority=100,
        )
    yield safety_block(chart.record)
    for name, facts, priority in (
        ("problems", chart.problems, 65),
        ("medicines", tuple(one.fact for one in chart.medicines), 65),
        ("measurements", tuple(_results(chart)), 60),
        ("visits", chart.record.of("timeline")[:_VISITS], 30),
        ("procedures", chart.record.of("procedures")[:_OTHERS], 25),
        ("vaccines", chart.record.of("immunizations")[:_OTHERS], 20),
    ):
        if facts:
            yield Block(
                name,
                [fact_item(fact, rank=1.0 / (place + 1)) for place, fact in enumerate(facts)],
                zone="middle",
                priority=priority,
                keep=min(2, len(facts)),
                shrink="plus_n_more",
            )


def _results(chart: Chart) -> Iterator[Fact]:
    """Abnormal readings first, then the newest of each kind; each entry once."""
    seen: set[str] = set()
    first = [
        fact
        for insight in chart.record.insights
        if insight.kind in {"abnormal", "trend", "drug_lab"}
        for fact in insight.facts
        if fact.category == "observations"
    ]
    newest = [next((one for one in some if one.when), None) for some in chart.readings.values()]
    for fact in (*first, *(one for one in newest if one is not None)):
        if fact.source.id not in seen:
            seen.add(str(fact.source.id))
            yield fact


def _found(chart: Chart) -> Iterator[Block]:
    """What the rules found, and the rules' own texts, which may be quoted."""
    flags = rule_flags(chart)[:_FLAGS]
    if not flags:
        return
    yield Block(
        "rule_findings",
        [
            Item(
                f"{flag.severity}: {flag.title}. "
                + ". ".join(one.text for one in flag.description),
                key=f"flag:{flag.rule}:{place}",
                rank=1.0 / (place + 1),
            )
            for place, flag in enumerate(flags)
        ],
        zone="primacy",
        priority=80,
        keep=min(5, len(flags)),
    )
    references = {
        item.key: item
        for flag in flags
        for item in flag.items
        if item.span is not None and str(item.span.source.id).startswith("pack:")
    }
    if references:
        yield Block(
            "rule_references", list(references.values())[:_REFERENCES], zone="middle", priority=40
        )


def _guidelines(view: View[Nothing], chart: Chart) -> Iterator[Block]:
    """Passages found by rule, where the model cannot search by itself (BR-07)."""
    items: dict[str, Item] = {}
    for query in queries_of(chart):
        found = view.gathered.get(need_of(query))
        if isinstance(found, Got):
            for hit in found.value.hits[:2]:
                items.setdefault(hit.chunk_id, hit_item(hit))
    if items:
        yield Block(
            "clinical_guidelines",
            list(items.values())[:_PASSAGES],
            zone="recency",
            priority=50,
            cap=Cap(tokens=5_000),
            shrink="plus_n_more",
        )
