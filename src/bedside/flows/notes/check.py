"""A model's summary and plan, held to the note: every quote resolved, every claim judged. Pure.

The model picks the chunk and quotes; the offsets are found here. What does not hold is left out,
with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from typing import Any

from bedside.core.value import value
from bedside.flows.notes.note import Note
from bedside.flows.notes.reply import Reply
from bedside.flows.notes.summary import PARTS, SURE, Part, Recommendation, Statement
from bedside.grounding.leaks import active_content
from bedside.grounding.phi import identifiers, key_of
from bedside.grounding.resolve import Ambiguous, Resolved, resolve
from bedside.grounding.source import SourceText
from bedside.grounding.support import Evidence, judge
from bedside.language.note_sections import NoteSection, sections_at
from bedside.language.sentences import sentences

__all__ = ["Checked", "check_plan", "check_sections", "check_summary", "merged"]

Removed = tuple[str, str]
_EMPTY = (
    "none documented", "not documented", "no information", "none", "n/a", "not available", "none noted",
    "not applicable", "none reported", "not mentioned", "not specified", "no information available",
)  # fmt: skip
_LONGEST = 2_000
_UNSURE = "The model was not sure and gave no reason: check the source."


@value
class Checked:
    """What held. `removed` are (text, why) of what did not; `broken` says why nothing could be read."""

    statements: tuple[Statement, ...] = ()
    plan: tuple[Recommendation, ...] = ()
    removed: tuple[Removed, ...] = ()
    broken: str = ""

    def wants(self) -> tuple[str, ...]:
        """What a model is told to mend, in order; empty where all of it held."""
        if self.broken:
            return (f"{self.broken}: answer with the JSON object alone",)
        return tuple(
            f"the item {text[:_SHOWN]!r}: {_MEND.get(why, why.replace('_', ' '))}"
            for text, why in self.removed[:_TOLD]
        )


_TOLD, _SHOWN = 12, 100
_MEND = {
    "unknown_chunk": "its `chunk` is no chunk id of this note",
    "uncited": "it has no quote",
    "quote_not_found": "the quote is not in that chunk: copy it character by character",
    "quote_ambiguous": "the quote stands in that chunk more than once: quote a longer stretch",
    "empty": "leave it out; a part without facts is an empty array",
    "source_not_of_assessment": "its source is none of the assessment's sources",
    "no_assessment": "the assessment is empty, so the plan is empty",
    "figure_not_in_source": "a figure in it is not in the quoted words",
    "no_support": "the quoted words do not say that",
}


def check_summary(reply: Reply, note: Note) -> Checked:
    """Hold a summary to the note."""
    if reply.tree is None:
        return Checked(broken=reply.why)
    kept: list[Statement] = []
    removed: list[Removed] = []
    text = SourceText(id=str(note.source.id), text=note.text, kind="note")
    keys = key_of(note.text)
    for part, raw in _raw_items(reply.tree, removed):
        said = _text(raw, "text")
        found = _statement(part, said, raw, note, text, keys)
        if isinstance(found, Statement):
            if all(found.text != one.text or found.source != one.source for one in kept):
                kept.append(found)
        else:
            removed.append((said or "(an item without text)", found))
    unknown = [name for name in reply.tree if name not in PARTS]
    removed += [(f"part {name[:40]!r}", "unknown_part") for name in unknown]
    return Checked(statements=tuple(kept), removed=tuple(removed))


def _raw_items(
    tree: Mapping[str, Any], removed: list[Removed]
) -> Iterator[tuple[Part, Mapping[str, Any]]]:
    for part in PARTS:
        items = tree.get(part, [])
        if not isinstance(items, list):
            removed.append((f"part {part!r}", "not_an_array"))
            continue
        for raw in items:
            if isinstance(raw, dict):
                yield part, raw
            else:
                removed.append((str(raw)[:_LONGEST], "not_an_item"))


def _statement(
    part: Part, said: str, raw: Mapping[str, Any], note: Note, text: SourceText, keys: str
) -> Statement | str:
    """The statement, or why it does not hold."""
    if not said or said.strip(" .").lower() in _EMPTY:
        return "empty"
    chunk = note.by_id.get(_text(raw, "chunk"))
    if chunk is None:
        return "unknown_chunk"
    quote = _text(raw, "quote")
    if not quote:
        return "uncited"
    found = resolve(quote, text, within=(chunk.start, chunk.end))
    if not isinstance(found, Resolved) and "&" in quote:
        found = resolve(unescape(quote), text, within=(chunk.start, chunk.end))
    if isinstance(found, Ambiguous):
        return "quote_ambiguous"
    if not isinstance(found, Resolved):
        return "quote_not_found"
    cited = note.cite(found.start, found.end)
    if cited is None:
        return "span_outside_chunk"
    why = _unsafe(said, keys) or _unsupported(
        said, note, found.start, found.end, section=chunk.section
    )
    if why:
        return why
    return Statement(part=part, text=said, source=cited, start=found.start, end=found.end)


def _unsafe(said: str, keys: str) -> str:
    """What may never come out: a link, an identifier that the note does not hold."""
    if active_content(said):
        return "active_content"
    return "unknown_identifier" if any(one.key not in keys for one in identifiers(said)) else ""


def _unsupported(said: str, note: Note, start: int, end: int, *, section: str) -> str:
    chunk = note.holder(start, end)
    lower, upper = (chunk.start, chunk.end) if chunk else (start, end)
    around = [
        (lower + a, lower + b)
        for a, b in sentences(note.text[lower:upper])
        if lower + a < end and start < lower + b
    ]
    first = min([start, *(a for a, _ in around)])
    last = max([end, *(b for _, b in around)])
    evidence = Evidence(
        n=1,
        kind="note",
        quote=note.text[start:end],
        context=note.text[first:last],
        heading=section,
        dated=note.source.dated,
    )
    verdict = judge(said, [evidence])
    return verdict.why or "no_support" if verdict.level == "none" else ""


def check_plan(reply: Reply, note: Note, summary: Sequence[Statement]) -> Checked:
    """Hold a plan to the summary's assessment; without an assessment it is empty."""
    if reply.tree is None:
        return Checked(broken=reply.why)
    items = reply.tree.get("recommendations", [])
    if not isinstance(items, list):
        return Checked(broken="its recommendations are no array")
    bases = {one.source: one for one in summary if one.part == "assessment"}
    kept: list[Recommendation] = []
    removed: list[Removed] = []
    keys = key_of(note.text)
    for raw in items:
        if not isinstance(raw, dict):
            removed.append((str(raw)[:_LONGEST], "not_an_item"))
            continue
        said = _text(raw, "recommendation")
        found = _recommendation(said, raw, bases, summary, keys)
        if isinstance(found, Recommendation):
            kept.append(found)
        else:
            removed.append((said or "(an item without text)", found))
    kept.sort(key=lambda one: one.number)
    numbered = tuple(replace(one, number=number) for number, one in enumerate(kept, 1))
    return Checked(plan=numbered, removed=tuple(removed))


def _recommendation(
    said: str,
    raw: Mapping[str, Any],
    bases: Mapping[str, Statement],
    summary: Sequence[Statement],
    keys: str,
) -> Recommendation | str:
    if not said:
        return "empty"
    base = bases.get(_text(raw, "source"))
    if base is None:
        return "no_assessment" if not bases else "source_not_of_assessment"
    confidence = raw.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return "no_confidence"
    if not 0 <= confidence <= 1:
        return "confidence_out_of_range"
    unsafe = _unsafe(said, keys)
    if unsafe:
        return unsafe
    whole = "\n".join(one.text for one in summary)
    evidence = Evidence(n=1, kind="note", quote=base.text, context=whole)
    verdict = judge(said, [evidence], inference=True)
    if verdict.level == "none" and verdict.why in _FIGURES:
        return verdict.why
    number = raw.get("number")
    guard = _text(raw, "hallucination_guard_note") or None
    return Recommendation(
        number=number if isinstance(number, int) and not isinstance(number, bool) else 10**6,
        text=said,
        source=base.source,
        start=base.start,
        end=base.end,
        confidence=float(confidence),
        guard=guard if guard or confidence >= SURE else _UNSURE,
    )


_FIGURES = frozenset(
    {"dose_not_in_source", "figure_not_in_source", "unit_mismatch", "date_not_in_source",
     "drug_not_in_source", "laterality_mismatch"}
)  # fmt: skip
"""What a plan may not bring in anew; its advice itself is the model's."""


def check_sections(reply: Reply, note: Note) -> list[NoteSection] | None:
    """Sections that a model found; `None` where none of them holds."""
    items = (reply.tree or {}).get("sections", [])
    if not isinstance(items, list):
        return None
    text = SourceText(id=str(note.source.id), text=note.text, kind="note")
    headings: dict[int, str] = {}
    for raw in items:
        if not isinstance(raw, dict):
            continue
        title, chunk = _text(raw, "title"), note.by_id.get(_text(raw, "chunk"))
        if not title or chunk is None or len(title) > 80 or "\n" in title:  # noqa: PLR2004
            continue
        found = resolve(_text(raw, "quote"), text, within=(chunk.start, chunk.end))
        if isinstance(found, Resolved):
            headings.setdefault(found.start, title)
    if not headings:
        return None
    return sections_at(note.text, [(at, at, title) for at, title in headings.items()])


def merged(passes: Sequence[Checked]) -> Checked:
    """Several passes as one: in order, the same statement of the same place once."""
    statements: dict[tuple[str, str], Statement] = {}
    for one in passes:
        for said in one.statements:
            statements.setdefault((said.source, said.text.lower()), said)
    return Checked(
        statements=tuple(statements.values()),
        removed=tuple(gone for one in passes for gone in one.removed),
        broken="; ".join(one.broken for one in passes if one.broken),
    )


def _text(raw: Mapping[str, Any], name: str) -> str:
    given = raw.get(name)
    return " ".join(given.split())[:_LONGEST] if isinstance(given, str) else ""
