"""The entries that bear on a question, in order of relevance, each in a line. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.flows.copilot.names import analyte_key, bearing_on, panel_members, shown_name
from bedside.flows.copilot.plan import Nothing
from bedside.flows.copilot.query import Entity, Parsed
from bedside.flows.copilot.quoting import (
    document_sentences,
    guideline_passages,
)
from bedside.flows.copilot.relevance import Ranked, rank_facts
from bedside.flows.copilot.room import DOCUMENT_SHARE, GUIDELINE_SHARE, MOST_GAPS, PRESSING, TAIL
from bedside.flows.copilot.standing import (
    REPEATED,
    figure_line,
    shown_line,
)
from bedside.flows.copilot.tools.events import is_active
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, day_of, words_in
from bedside.flows.flow import View
from bedside.record.needs import Fact, RecordFacts

__all__ = ["miss_unmeasured", "tell_bullets"]

_MOST_BULLETS = 8
_NO_GAP = frozenset({"pain score"})
"""What bears on a question and is not missed where nobody wrote it down."""
_FOCUSED = 60.0
"""Above this rank an entry is of the named thing or close to it, not only of the intent."""
_NAMED = 75.0
"""Above this rank it is the named thing itself."""
_PLAIN = {"question", "labs"}
"""Intents that weigh nothing: of a medicine its own entries answer them."""
_LOOKUP = 3
"""A question of so few words looks one thing up."""
_LACKING = re.compile(r"\b(?:missing|lack\w*|needs?|up to date|behind|due)\b", re.IGNORECASE)


def tell_bullets(
    view: View[Nothing], record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int
) -> None:
    """Entries in order of relevance; the readings of one analyte together in one line."""
    if view.plan.intent == "immunizations" and _LACKING.search(view.request.text):
        sheet.say("Which are missing is not worked out here: no immunisation schedule is applied.")
        sheet.missing("immunisation schedule")
    ranked = rank_facts(record, parsed, intent=view.plan.intent, text=view.request.text)
    if "medications" in parsed.topics:  # "what HF meds is he taking": those before what they treat
        ranked = sorted(ranked, key=_taken_last)
    chosen = _focused(ranked, view, parsed)
    if any(one.kind in {"drug", "drug_class"} for one in parsed.entities):
        bearing = bearing_on(view.request.text, parsed.entities)
        chosen = [one for one in chosen if one.rank > _FOCUSED or not _aside(one.fact, bearing)]
    facts = [one.fact for one in chosen if not sheet.cites(one.fact)]
    if parsed.windows:
        facts = [fact for fact in facts if parsed.windows[0].holds(day_of(fact))] or facts[:3]
    told = {
        key
        for entity in parsed.entities
        for key in (entity.key, *panel_members(entity.key))
        if entity.kind in {"analyte", "panel"}
    }
    names = {fact.name for fact in record.facts if fact.category in REPEATED and sheet.cites(fact)}
    keep = limit - _reserved(view, limit)
    lead = "Also in the record:" if sheet.lines else "In the record, most relevant first:"
    spoken = bearing_on(view.request.text, parsed.entities)
    if spoken and not sheet.lines and not any(one.rank > _FOCUSED for one in ranked):
        lead = "No entry names this; in the record are:"
        if len(view.request.text.split()) <= _LOOKUP:  # "falls?" asks for that and no more
            facts = [fact for fact in facts if not _aside(fact, spoken)]
            facts = [fact for fact in facts if fact.category == "observations"]
    written = 0
    for fact in facts:
        key = analyte_key(fact) if fact.category == "observations" else ""
        if sheet.cites(fact) or (key and key in told) or fact.name in names:
            continue
        told.add(key)
        names.add(fact.name)
        line = (
            figure_line(key, record, sheet, earlier=False)
            if key
            else f"{shown_line(fact)} {sheet.cite(fact)}"
        )
        line = line or f"{shown_line(fact)} {sheet.cite(fact)}"
        need = words_in(line) + (0 if written else words_in(lead))
        if need > keep - TAIL - sheet.words:
            continue
        if not written:
            sheet.say(lead)
        sheet.say(f"- {line}")
        written += 1
        if written == _MOST_BULLETS:
            break


def _aside(fact: Fact, bearing: Sequence[str]) -> bool:
    """True of a result that says nothing about the medicine asked about."""
    return fact.category == "observations" and analyte_key(fact) not in bearing


def _taken_last(one: Ranked) -> bool:
    return not (one.fact.category == "medications" and is_active(one.fact) and one.rank > _FOCUSED)


def _focused(ranked: Sequence[Ranked], view: View[Nothing], parsed: Parsed) -> list[Ranked]:
    """What bears on the question itself, where anything does; a plan also wants the whole patient."""
    kinds = {one.kind for one in parsed.entities}
    if kinds != {"vaccine"} and view.plan.intent in PRESSING:
        return list(ranked)
    looked_up = bool(kinds & {"drug", "drug_class"}) and view.plan.intent in _PLAIN
    near = [one for one in ranked if one.rank > (_NAMED if looked_up else _FOCUSED)]
    named = parsed.entities or parsed.fields or parsed.visits
    return near if near or named else list(ranked)


def _reserved(view: View[Nothing], limit: int) -> int:
    """Words kept back for documents and guidelines, where there are any to quote."""
    kept = 0
    if view.plan.intent != "synopsis" and guideline_passages(view, most=1):
        kept += int(limit * GUIDELINE_SHARE)
    if document_sentences(view):
        kept += int(limit * DOCUMENT_SHARE)
    return kept


def miss_unmeasured(keys: Sequence[str], record: RecordFacts, sheet: Sheet) -> None:
    """Results that bear on the question and are not in the record."""
    missing: list[str] = []
    found = False
    for key in keys:
        if readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations")):
            found = True
        elif key not in _NO_GAP:
            missing.append(shown_name(key))
    for name in missing[: MOST_GAPS if found or not missing else 2]:
        sheet.missing(name)
