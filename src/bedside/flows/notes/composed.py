"""From finished steps to the turn: the summary and plan that held, readable and as JSON. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bedside.clinical.drugs import find_classes, find_drugs
from bedside.core.source import Source, Span
from bedside.core.turn import Citation, Claim, Draft, Finding, Verdict
from bedside.core.value import value
from bedside.flows.flow import Done, View
from bedside.flows.notes.check import Checked, check_plan, check_summary, merged
from bedside.flows.notes.extractive import extract
from bedside.flows.notes.note import Note
from bedside.flows.notes.passes import Pass
from bedside.flows.notes.reply import Reply
from bedside.flows.notes.summary import (
    PARTS,
    TITLES,
    Part,
    Recommendation,
    Statement,
    plan_json,
    summary_json,
)
from bedside.grounding.cite import parse_chunk
from bedside.language.section_kinds import kind_of

__all__ = ["Summarised", "compose", "summarised"]


@value
class Summarised:
    """The merged summary.

    `by_model` is False where no pass was written by a model; `missing` says which passes were
    extracted instead, and why.
    """

    statements: tuple[Statement, ...]
    removed: tuple[tuple[str, str], ...] = ()
    by_model: bool = False
    missing: tuple[str, ...] = ()

    def of(self, part: Part) -> tuple[Statement, ...]:
        """The statements of one part."""
        return tuple(one for one in self.statements if one.part == part)


def summarised(view: View[Any], note: Note, parts: Sequence[Pass]) -> Summarised:
    """The summary so far: what held of each pass; a pass without a model is extracted."""
    replies = [done for done in view.done if done.step and done.step.name.startswith("summary")]
    read: list[Checked] = []
    missing: list[str] = []
    by_model = False
    own: tuple[Statement, ...] | None = None
    for number, (done, chunks) in enumerate(zip(replies, parts, strict=False), 1):
        reply = done.draft.payload
        why = done.why_unaided
        if isinstance(reply, Reply) and not why:
            found = check_summary(reply, note)
            if not found.broken:
                by_model = True
                read.append(found)
                continue
            why = found.broken
        own = extract(note)[0] if own is None else own
        held = {chunk.id for chunk in chunks}
        here = tuple(one for one in own if parse_chunk(one.source).chunk in held)
        read.append(Checked(statements=here))
        place = "summary" if len(parts) == 1 else f"summary, pass {number} of {len(parts)}"
        missing.append(f"{place}: extracted from the note, because {why}")
    whole = merged(read)
    ordered = sorted(whole.statements, key=lambda one: PARTS.index(one.part))
    return Summarised(
        statements=tuple(ordered),
        removed=whole.removed,
        by_model=by_model,
        missing=tuple(missing),
    )


def compose(
    view: View[Any], note: Note, parts: Sequence[Pass], *, prompts: Mapping[str, str]
) -> Done[Any]:
    """The final result of a turn."""
    last = view.done[-1]
    ruled = last.step is None
    if ruled:
        statements, plan = extract(note)
        found = Summarised(statements=statements)
        removed: tuple[tuple[str, str], ...] = ()
    else:
        found = summarised(view, note, parts)
        plan, removed, found = _planned(view, note, found)
        removed = (*found.removed, *removed)
    draft, verdict = _written(view, note, found, plan, removed)
    payload: dict[str, Any] = {
        "summary": summary_json(found.statements),
        "plan": plan_json(plan),
        "chunks": note.chunks_json(),
        "sections": note.sections_json(),
        "note": {
            "id": str(note.source.id),
            "revision": note.source.revision,
            "title": note.source.title,
            "characters": len(note.text),
        },
        "extractive": not found.by_model,
        "passes": len(parts),
        "prompts": dict(prompts),
    }
    first = next((done for done in view.done if done.prompt is not None), last)
    by = next(
        (done.draft.by for done in view.done if not done.why_unaided and done.draft.by),
        last.draft.by,
    )
    return replace(
        first if not ruled else last,
        draft=replace(
            draft,
            payload=payload,
            by=by if found.by_model else "extractive",
            cut=any(done.draft.cut for done in view.done),
        ),
        verdict=verdict,
    )


def _planned(
    view: View[Any], note: Note, found: Summarised
) -> tuple[tuple[Recommendation, ...], tuple[tuple[str, str], ...], Summarised]:
    """The model's plan where it wrote one; the note's own orders where no model did."""
    done = next((one for one in view.done if one.step and one.step.name.startswith("plan")), None)
    if done is None:
        if found.by_model:
            return (), (), found
        return extract(note)[1], (), found
    reply = done.draft.payload
    why = done.why_unaided
    if isinstance(reply, Reply) and not why:
        held = check_plan(reply, note, found.statements)
        if not held.broken:
            return held.plan, held.removed, found
        why = held.broken
    said = f"plan: the note's own orders, because {why}"
    return extract(note)[1], (), replace(found, missing=(*found.missing, said))


def _written(
    view: View[Any],
    note: Note,
    found: Summarised,
    plan: Sequence[Recommendation],
    removed: tuple[tuple[str, str], ...],
) -> tuple[Draft, Verdict]:
    """The readable answer, with its claims and exact citations."""
    n = _number(view, note)
    source = note.source
    lines: list[str] = []
    size = 0
    claims: list[Claim] = []
    citations: list[Citation] = []

    def line(text: str) -> None:
        nonlocal size
        lines.append(text)
        size += len(text) + 1

    def item(lead: str, text: str, start: int, end: int, *, inferred: bool) -> None:
        begin = size + len(lead)
        stop = begin + len(text)
        line(f"{lead}{text} [{n}]")
        claims.append(
            Claim(
                at=(begin, stop + len(f" [{n}]")),
                basis="inference" if inferred else "record",
                support="partial" if inferred else "full",
                severity="info",
                citations=(n,),
            )
        )
        citations.append(
            Citation(
                n=n,
                span=Span(source=_cited(source, note, start, end), start=start, end=end),
                quote=note.text[start:end],
                at=(begin, stop),
            )
        )

    for part in PARTS:
        statements = found.of(part)
        if not statements:
            continue
        if lines:
            line("")
        line(f"## {TITLES[part]}")
        for one in statements:
            item(f"- {_over(one)}", one.text, one.start, one.end, inferred=False)
    if plan:
        line("")
        line("## Plan")
        for order in plan:
            lead = f"{order.number}. {_over(order)}"
            item(lead, order.text, order.start, order.end, inferred=found.by_model)
    text = "\n".join(lines)
    findings = [
        Finding(id="G1", want="remove" if removed else "pass", detail=_counts(removed)),
        *_contradictions(found),
    ]
    verdict = Verdict(
        text=text,
        claims=tuple(claims),
        citations=tuple(citations),
        removed=removed,
        findings=tuple(findings),
    )
    return Draft(text=text, missing=found.missing), verdict


def _over(one: Statement | Recommendation) -> str:
    """The note's own heading over an item that does not say what it is about."""
    return f"{one.about}: " if one.about else ""


def _contradictions(found: Summarised) -> list[Finding]:
    """A note that denies allergies in one place and names one in another: both are given, flagged."""
    said = [one for one in found.of("medicines_allergies") if _of_allergies(one)]
    denied = [one for one in said if _NO_ALLERGY.search(one.text)]
    named = [one for one in said if _names_allergy(one.text)]
    if not denied or not named:
        return []
    places = f"{denied[0].source}; {named[0].source}"
    detail = f"the note denies allergies and names one; both are given ({places})"
    return [Finding(id="G8", want="flag", detail=detail)]


def _of_allergies(one: Statement) -> bool:
    title = parse_chunk(one.source).section
    return kind_of(title) == "allergies" or "allerg" in one.text.lower()


def _names_allergy(text: str) -> bool:
    """Does it name an allergy, wholly or beside a denial ("Penicillin (hives). No food allergies")?"""
    if not _NO_ALLERGY.search(text):
        return True
    return any(
        _NO_ALLERGY.search(one) is None
        and (find_drugs(one) or find_classes(one) or _SUBSTANCE.search(one))
        for one in _CLAUSE.split(text)
    )


_NO_ALLERGY = re.compile(
    r"\bno (?:known )?(?:\w+ |(?:(?:drug|food|latex|medication|medicine|environmental|seasonal|or|and)\b[,/]?\s*)+)?allerg"
    r"|\bNKD?A\b|allerg\w*[:,\s]+(?:none|nil|denied|negative)"
    r"|allerg\w*(?:\s*:)?\s+no\b|denies .{0,30}allerg",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[.;]\s|[.;,]?\s+(?:but|and|except(?: for)?|other than|[-•*])\s|(?<=NKDA),|(?<=NKA),|,\s*(?=no\b|NKD?A\b|denies\b)",
    re.IGNORECASE,
)
"""Where a denial and what is named beside it part."""
_SUBSTANCE = re.compile(
    r"\b(?:latex|peanuts?|nuts?|shellfish|shrimp|fish|eggs?|milk|dairy|soy|wheat|gluten|bees?|wasps?|venom|iodine|contrast|adhesives?|tape|nickel|pollen"
    r"|dust|mold|mould|dander|sulfa\w*|penicillins?|hives|rash|anaphyla\w+|angioedema|swelling|itching|urticaria)\b",
    re.IGNORECASE,
)


def _counts(removed: Sequence[tuple[str, str]]) -> str:
    if not removed:
        return ""
    reasons: dict[str, int] = {}
    for _, why in removed:
        reasons[why] = reasons.get(why, 0) + 1
    return ", ".join(f"{why} {n}" for why, n in sorted(reasons.items()))


def _cited(source: Source, note: Note, start: int, end: int) -> Source:
    chunk = note.holder(start, end)
    return replace(source, section=chunk.section if chunk is not None else "")


def _number(view: View[Any], note: Note) -> int:
    for done in view.done:
        if done.prompt is not None:
            n = done.prompt.numbering.get((note.source.id, note.source.revision))
            if n is not None:
                return n
    return 1
