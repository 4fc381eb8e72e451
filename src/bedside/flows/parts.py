"""Blocks that several flows share: history, safety, the question, guardrails. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from bedside.clinical.rules import Reference
from bedside.context.windows import window
from bedside.core.context import Block, Cap, Item
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.grounding.guardrails.texts import guardrail_text
from bedside.grounding.prose import prompt_text
from bedside.knowledge.needs import Hit
from bedside.record.needs import Fact, RecordFacts

__all__ = [
    "fact_item",
    "guardrails_block",
    "history_blocks",
    "hit_item",
    "question_block",
    "rule_item",
    "safety_block",
]

_LONGEST_OPENING = 500
_LONGEST_MESSAGE = 1_600
"""Characters of one message in the window: so none takes more than its share."""


def fact_item(fact: Fact, *, rank: float = 0.0, unit: str = "") -> Item:
    """A record entry as a quotable item: its whole canonical line, its derived note beside it."""
    return Item(
        fact.line,
        key=str(fact.source.id),
        span=Span(source=fact.source, start=0, end=len(fact.line)),
        note=fact.note,
        rank=rank,
        unit=unit,
        dated=fact.source.dated,
    )


def hit_item(hit: Hit, *, rank: float = 0.0) -> Item:
    """A passage as a quotable item; `note` says where it stands and whether it is superseded."""
    notes = [hit.prefix.strip()] if hit.prefix.strip() else []
    if hit.span.source.superseded:
        notes.append("superseded edition")
    return Item(
        hit.text,
        key=hit.chunk_id,
        span=hit.span,
        note="; ".join(notes),
        rank=rank or 1.0 / max(hit.rank, 1),
        dated=hit.span.source.dated,
        score=_score(hit),
    )


def _score(hit: Hit) -> float | None:
    """What a reader can compare between searches: the cosine where there is one (EN-K8)."""
    if hit.via != "search":
        return None
    return hit.score if hit.similarity is None else hit.similarity


def rule_item(found: Reference) -> Item:
    """A rule of a clinical table as a quotable item: its whole text, with source and review state."""
    source = Source(
        id=SourceId(found.id), revision=_revision(found.text), kind="guideline", title=found.title
    )
    return Item(
        found.text,
        key=found.id,
        span=Span(source=source, start=0, end=len(found.text)),
        note="content not clinically reviewed" if "not clinically reviewed" in found.text else "",
    )


def _revision(text: str) -> int:
    """A number of the text itself: another text is another revision, whatever its table says."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def safety_block(record: RecordFacts) -> Block:
    """Allergies and alerts: always present, never in the middle, said again at the end (EN-C4)."""
    allergies = [fact for fact in record.of("allergies") if fact.status != "resolved"]
    alerts = list(record.of("alerts"))
    items = [_short_item(fact) for fact in (*allergies, *alerts)]
    if not allergies:
        items.append(
            Item("Allergies: not recorded (this is not the same as none).", key="no allergies")
        )
    if record.no_known_allergies:
        names = "none known, as positively recorded"
    else:
        names = "; ".join(dict.fromkeys(fact.name for fact in allergies)) or "not recorded"
    echo = f"Allergies: {names}"
    if alerts:
        echo += ". Alerts: " + "; ".join(dict.fromkeys(fact.name for fact in alerts))
    return Block(
        "allergies and alerts",
        items,
        slot="system",
        zone="primacy",
        stability="session",
        protected=True,
        priority=100,
        echo=echo + ".",
    )


def _short_item(fact: Fact) -> Item:
    full = fact_item(fact, rank=1.0)
    short = fact.name
    if not short or short == fact.line or len(short) >= len(fact.line):
        return full
    return Item(
        fact.line,
        key=full.key,
        span=full.span,
        note=full.note,
        rank=1.0,
        forms=(short,),
        dated=full.dated,
    )


def question_block(text: str) -> Block:
    """The question at the start of the changing part, and whole again at its end (EN-C5)."""
    return Block(
        "question",
        Item(text, key="question"),
        slot="tail",
        zone="primacy",
        stability="turn",
        protected=True,
        priority=100,
        cap=Cap(tokens=_LONGEST_OPENING),
        shrink="cut_mark",
        echo=f"The question was: {text}",
    )


def history_blocks(
    history: Sequence[Item], *, tokens: int, last: int = 6, step: int = 1
) -> list[Block]:
    """The last messages verbatim, older ones by the first sentence of each answer (EN-C11).

    `tokens` caps both together: the verbatim part gets four fifths.
    """
    if not history:
        return []
    recent, earlier = window(
        history,
        last=last,
        step=step,
        keep=1,
        priority=45,
        cap=Cap(tokens=tokens * 4 // 5, chars_each=_LONGEST_MESSAGE),
        earlier_priority=20,
    )
    if earlier is None:
        return [recent]
    capped = Block(
        earlier.name,
        earlier.items,
        slot=earlier.slot,
        zone=earlier.zone,
        stability=earlier.stability,
        priority=earlier.priority,
        keep=earlier.keep,
        cap=tokens // 5,
        shrink=earlier.shrink,
        trust=earlier.trust,
    )
    return [recent, capped]


def guardrails_block(flow: str, *, patient: bool, country: str, reminder: str) -> Block:
    """The flow's guardrails and how to cite: static text, with one line said again at the end."""
    text = f"{guardrail_text(flow, patient=patient, at=country)}\n\n{prompt_text()}"
    return Block(
        "guardrails",
        Item(text, key="guardrails"),
        slot="system",
        zone="recency",
        stability="static",
        protected=True,
        priority=100,
        trust="ours",
        echo=reminder,
    )
