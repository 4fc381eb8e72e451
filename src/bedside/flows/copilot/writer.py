"""The extractive writer: an answer composed of cited entries and sentences, with no model (EN-M7).

It reads like an answer (headline, facts in order of relevance, what is missing), adds nothing of
its own, and says that it is extractive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.turn import Draft
from bedside.flows.copilot.excerpts import (
    Excerpt,
    Passage,
    best_passages,
    best_sentences,
    opening_sentences,
    terms_of,
)
from bedside.flows.copilot.hard import hard_data_of, hard_items
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.names import (
    analyte_key,
    classes_of,
    matching,
    nearby,
    panel_members,
    shown_name,
)
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, hits_of, parsed_of
from bedside.flows.copilot.query import Entity, Parsed
from bedside.flows.copilot.relevance import rank_facts
from bedside.flows.copilot.rules import rule_draft
from bedside.flows.copilot.summary import write_summary
from bedside.flows.copilot.tools.allergies import allergy_line
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, day_of
from bedside.flows.flow import View
from bedside.knowledge.needs import Hit
from bedside.language.stems import stems
from bedside.record.needs import Fact, RecordFacts

__all__ = ["write_unaided"]

_HONEST = "Composed without a model from entries and sentences as written; nothing is interpreted."
_MOST_ENTITIES = 4
_RESERVE = 40
_SURE = 0.6
_WITH_CONTRADICTIONS = {"plan", "drug", "diagnosis", "risk", "protocol", "question", "unknown"}
_MOST_QUOTED = 4
_MOST_CHANGES = 8
_MOST_OF_PASSAGE = 2
_RULED = {"drug_lab", "drug_allergy", "overdue"}
_CAUTIONS = ("contraindicated avoid stop withhold caution", "renal kidney function eGFR threshold")
_MOST_STANDING = 3
_PRESSING = {"drug", "plan", "risk"}
"""Intents whose answer may lead to a prescription: contradictions stand before the rest."""
_DUE = re.compile(r"\b(?:over)?due\b", re.IGNORECASE)
_LETTER = re.compile(
    r"\b(?:letter|discharge|summary|report|note|clinic|document|scan)s?\b", re.IGNORECASE
)
_ADVICE = re.compile(
    r"\b(?:recommend\w*|advi[sc]e\w*|suggest\w*|plan\w*|want\w*|ask(?:ed)? (?:us|for))\b",
    re.IGNORECASE,
)
_ADVISING = re.compile(
    r"\b(?:plan|recommendations?|advice|actions?|follow[- ]up|requests?|to do)\b", re.IGNORECASE
)
_LONG_ANSWER = 200
_WITH_ALLERGIES = {"plan", "drug", "protocol", "question", "unknown", "medications"}


def write_unaided(view: View[Nothing]) -> Draft:
    """The draft that stands when no model can."""
    ruled = rule_draft(view)
    if ruled is not None:
        return ruled
    sheet = Sheet()
    limit = MODES[view.plan.mode].words
    record = facts_of(view)
    if not grounded(view.opened) or record is None:
        _knowledge(view, sheet, limit)
        return sheet.draft(by="extractive")
    fresh = [one for one in _documents(view) if one.superseded is False]
    documents_first = bool(view.request.documents or view.request.selected or _of_a_letter(view))
    if documents_first:
        _quoted(fresh, "In the document:", sheet, limit)
    if view.plan.intent == "synopsis":
        write_summary(record, sheet, today=view.opened.as_of, words=limit)
    elif not (view.plan.intent == "changes" and _changes(record, sheet)):
        _grounded(view, record, sheet, limit)
    if not documents_first:
        _quoted(fresh[:2], "In the documents:", sheet, limit)
    _guidelines(view, record, sheet, limit)
    sheet.gap()
    sheet.say(_HONEST)
    return sheet.draft(by="extractive")


def _room(sheet: Sheet, limit: int) -> bool:
    return sum(len(line.split()) for line in sheet.lines) < limit - _RESERVE


# ---- with a patient


def _changes(record: RecordFacts, sheet: Sheet) -> bool:
    """What changed since the last encounter, as the insight rules found it; `False` for nothing."""
    found = [one for one in record.insights if one.kind == "change"]
    if not found:
        return False
    sheet.count("Since the encounter before the last:")
    for one in found[:_MOST_CHANGES]:
        sheet.say(f"- {one.text} {sheet.cite(*one.facts[:2])}")
        sheet.calculated(one.text)
    return True


def _grounded(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> None:
    parsed = parsed_of(view)
    for entity in parsed.entities[:_MOST_ENTITIES]:
        _about(entity, record, sheet)
    told = [
        key
        for entity in parsed.entities
        for key in (entity.key, *panel_members(entity.key))
        if entity.kind in {"analyte", "panel"}
    ]
    _by_rule(record, parsed, sheet, overdue=bool(_DUE.search(view.request.text)))
    warned = view.plan.intent in _WITH_CONTRADICTIONS
    pressing = bool(sheet.lines) or view.plan.intent in _PRESSING
    if warned and pressing:
        _contradictions(record, parsed, sheet)
    if view.plan.intent in _WITH_ALLERGIES:
        _allergies(record, sheet)
    ranked = rank_facts(record, parsed, intent=view.plan.intent, text=view.request.text)
    lines = [one.fact for one in ranked if not sheet.cites(one.fact)]
    if parsed.windows:
        lines = [fact for fact in lines if parsed.windows[0].holds(day_of(fact))] or lines[:3]
    if lines:
        _bullets(lines, record, sheet, limit, told_already=told)
    if warned and not pressing:
        _contradictions(record, parsed, sheet)
    if not sheet.lines:
        sheet.say("Nothing in the record bears on this question as it is put.")
        sheet.missing("entries that bear on the question")


def _bullets(
    facts: Sequence[Fact],
    record: RecordFacts,
    sheet: Sheet,
    limit: int,
    *,
    told_already: Sequence[str],
) -> None:
    """Entries in order of relevance; the readings of one analyte together in one line."""
    sheet.say("Also in the record:" if sheet.lines else "In the record, most relevant first:")
    told = set(told_already)
    for fact in facts:
        if not _room(sheet, limit):
            break
        key = analyte_key(fact) if fact.category == "observations" else ""
        if sheet.cites(fact) or (key and key in told):
            continue
        if key:
            told.add(key)
            _figure(Entity(kind="analyte", key=key, said=key), record, sheet, mark="- ")
        else:
            sheet.say(f"- {_shown(fact)} {sheet.cite(fact)}")


def _shown(fact: Fact) -> str:
    stale = " — stale" if fact.stale else ""
    return fact.line.replace("mm[Hg]", "mmHg") + stale


def _about(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """The standing of one named thing, in one line; or that it is not recorded."""
    if entity.kind == "panel":
        for key in panel_members(entity.key)[:5]:
            _figure(Entity(kind="analyte", key=key, said=key), record, sheet, mark="", quiet=True)
        return
    if entity.kind == "analyte":
        _figure(entity, record, sheet)
        return
    pools = {
        "drug": record.of("medications"),
        "drug_class": record.of("medications"),
        "condition": record.of("conditions"),
        "procedure": (*record.of("procedures"), *record.of("reports")),
        "vaccine": record.of("immunizations"),
        "allergen": record.of("allergies"),
    }
    found = matching(entity, pools.get(entity.kind, ()))
    name = thing_name(entity)
    if not found:
        sheet.say(f"Not recorded: {name}.")
        sheet.missing(name)
        for fact in nearby(entity, record.of("conditions"))[:2]:
            sheet.say(f"Related: {_shown(fact)} {sheet.cite(fact)}")
        return
    standing = [fact for fact in found if is_active(fact)] or found[:1]
    seen: set[str] = set()
    for fact in standing:
        if fact.name in seen:
            continue
        seen.add(fact.name)
        sheet.say(f"{_shown(fact)} {sheet.cite(fact)}")
        if len(seen) == _MOST_STANDING:
            break


def _figure(
    entity: Entity, record: RecordFacts, sheet: Sheet, *, mark: str = "", quiet: bool = False
) -> None:
    found = readings_of(entity, record.of("observations"))
    name = shown_name(entity.key)
    if not found:
        if not quiet:
            sheet.say(f"No {name} is recorded.")
        sheet.missing(name)
        return
    newest = found[-1]
    stale = ", stale" if newest.fact.stale else ""
    line = f"{mark}{name}: {newest.dated}{stale} {sheet.cite(newest.fact)}"
    earlier = [one for one in found if one.fact.when != newest.fact.when]
    if earlier:
        line += f"; before that {earlier[-1].dated} {sheet.cite(earlier[-1].fact)}"
    if len(earlier) >= _MOST_STANDING:
        line += f"; first {earlier[0].dated} {sheet.cite(earlier[0].fact)}"
    sheet.say(line + ".")


def _by_rule(record: RecordFacts, parsed: Parsed, sheet: Sheet, *, overdue: bool) -> None:
    """What the insight rules say of the named things: a medicine against a result, an overdue test.

    With `overdue` every overdue test is told, whatever is named: that is what was asked.
    """
    named = {
        fact.source.id for entity in parsed.entities for fact in matching(entity, record.facts)
    }
    for found in record.insights:
        asked = overdue and found.kind == "overdue"
        about = found.kind in _RULED and any(fact.source.id in named for fact in found.facts)
        if asked or about:
            sheet.say(f"By rule: {found.text} {sheet.cite(*found.facts[:3])}")
            sheet.calculated(found.text)


def _contradictions(record: RecordFacts, parsed: Parsed, sheet: Sheet) -> None:
    named = {
        fact.source.id for entity in parsed.entities for fact in matching(entity, record.facts)
    }
    for found in record.contradictions:
        touches = any(fact.source.id in named for fact in found.facts)
        if touches or found.rule.startswith("allergy"):
            sheet.say(f"Contradiction: {found.text} {sheet.cite(*found.facts)}")


def _allergies(record: RecordFacts, sheet: Sheet) -> None:
    facts = record.of("allergies")
    if not facts:
        sheet.say("Allergies: not recorded.")
        sheet.missing("allergies")
        return
    if record.no_known_allergies:
        sheet.say(f"{facts[0].line} {sheet.cite(facts[0])}")
        return
    listed = "; ".join(f"{allergy_line(fact)} {sheet.cite(fact)}" for fact in facts[:6])
    sheet.say(f"Allergies: {listed}.")


# ---- documents and guidelines


def _documents(view: View[Nothing]) -> tuple[Excerpt, ...]:
    hits = hits_of(view, "documents")
    if hits is None:
        return ()
    ids = {str(one) for one in (*view.request.documents, *view.request.selected)}
    chosen = [hit for hit in hits.hits if not ids or str(hit.span.source.id) in ids]
    terms = terms_of(view.request.text)
    asked = bool(ids) or _of_a_letter(view)
    if not asked:
        return best_sentences(chosen, terms, most=2, about=_names_in(view))
    if not ids:
        chosen = _titled(chosen, view.request.text)
    if _ADVICE.search(view.request.text):
        advising = [hit for hit in chosen if _ADVISING.search(hit.prefix.rpartition(">")[2])]
        if advising:
            return opening_sentences(advising, most=_MOST_QUOTED + 2)
    found = best_sentences(chosen, terms, most=_MOST_QUOTED, fewest=1)
    return found or opening_sentences(chosen, most=_MOST_QUOTED)


def _of_a_letter(view: View[Nothing]) -> bool:
    """Does the question ask what a document says?"""
    if view.plan.intent == "letters":
        return True
    if not _LETTER.search(view.request.text) or view.plan.intent == "synopsis":
        return False
    hits = hits_of(view, "documents")
    said = set(stems(view.request.text))
    return hits is not None and any(said & set(stems(hit.span.source.title)) for hit in hits.hits)


def _titled(hits: Sequence[Hit], text: str) -> list[Hit]:
    """The passages of the documents that the question names by title, else all of them."""
    said = set(stems(text))
    share = {str(hit.span.source.id): len(said & set(stems(hit.span.source.title))) for hit in hits}
    best = max(share.values(), default=0)
    return [hit for hit in hits if share[str(hit.span.source.id)] == best]


def _names_in(view: View[Nothing], *kinds: str) -> tuple[frozenset[str], ...]:
    """What the question names, each as stems: its usual name and as it was said, spelled out."""
    names: list[str] = []
    for entity in parsed_of(view).entities:
        if kinds and entity.kind not in kinds:
            continue
        names += [thing_name(entity).split(" (")[0], entity.said, shown_name(entity.key)]
        names += [one.replacement for one in expand(entity.said) if one.weight > _SURE]
        names += classes_of(entity)
    return tuple(dict.fromkeys(frozenset(stems(name)) for name in names if stems(name)))


def _named_fully(view: View[Nothing]) -> str:
    """The question, with the classes of its medicines: a guideline may speak of these alone."""
    classes = [name for entity in parsed_of(view).entities for name in classes_of(entity)]
    return " ".join([view.request.text, *dict.fromkeys(classes)])


def _quoted(excerpts: Sequence[Excerpt], lead: str, sheet: Sheet, limit: int) -> None:
    if not excerpts:
        return
    sheet.gap()
    sheet.say(lead)
    for one in excerpts:
        mark = " (superseded edition)" if one.superseded else ""
        sheet.say(f"- {_flat(one.text)}{mark} {sheet.cite_item(one.item)}")
        if not _room(sheet, limit + _RESERVE):
            break


def _flat(text: str) -> str:
    """One line: a list mark or a line break inside is left out."""
    if text.count("|") > 1:
        return "; ".join(cell.strip() for cell in text.split("|") if cell.strip())
    return " ".join(text.lstrip("-*• ").split()).replace("**", "")


def _guidelines(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> None:
    hits = hits_of(view, "knowledge")
    if hits is None or not hits.hits or view.plan.intent == "synopsis":
        return
    problems = [fact.name for fact in record.of("conditions") if is_active(fact)][:6]
    more = [*problems, *(_CAUTIONS if view.plan.intent == "drug" else ())]
    found = best_passages(
        hits.hits,
        terms_of(_named_fully(view), more=more),
        most=2 if limit > _LONG_ANSWER else 1,
        about=_names_in(view),
        must=_names_in(view, "drug", "drug_class"),
    )
    if found:
        sheet.gap()
        sheet.say("Guidelines, not specific to this patient:")
        for one in found:
            _passage(one, sheet, most=_MOST_OF_PASSAGE)


def _passage(passage: Passage, sheet: Sheet, *, most: int) -> None:
    """A passage under its place: the sentences that bear most on the question, in its own order."""
    shown = passage.best(most)
    if not shown:
        return
    old = ", superseded edition" if passage.superseded else ""
    sheet.say(f"{passage.label}{old}:")
    for one in shown:
        sheet.say(f"- {_flat(one.text)} {sheet.cite_item(one.item)}")


def _knowledge(view: View[Nothing], sheet: Sheet, limit: int) -> None:
    """Without a patient: the best passage in its own order, then what supports it."""
    hits = hits_of(view, "knowledge")
    found = (
        best_passages(
            hits.hits,
            terms_of(_named_fully(view)),
            most=3,
            about=_names_in(view),
            must=_names_in(view, "drug", "drug_class"),
        )
        if hits is not None
        else ()
    )
    evidence = _evidence(view)
    if not found:
        if evidence:
            sheet.say("No guideline passage was found; papers that bear on the question:")
            for item in evidence:
                _papers(item, sheet)
        else:
            why = f" ({hits.why_empty})" if hits is not None and hits.why_empty else ""
            sheet.say(f"No relevant guideline passage was found{why}.")
        sheet.missing("a guideline passage on this question")
        return
    for place, one in enumerate(found):
        if place and not _room(sheet, limit):
            break
        _passage(one, sheet, most=_MOST_QUOTED if place == 0 else 2)
    if evidence and _room(sheet, limit + _RESERVE // 2):
        sheet.gap()
        sheet.say("Papers:")
        _papers(evidence[0], sheet)
    sheet.gap()
    sheet.say(_HONEST)


def _evidence(view: View[Nothing]) -> list[Item]:
    """Decision nodes that speak of a medicine the question names, or of its subject."""
    drugs = [one for one in parsed_of(view).entities if one.kind in {"drug", "drug_class"}]
    names = {frozenset(stems(thing_name(one).split(" (")[0])) for one in drugs}
    items = hard_items(hard_data_of(view))
    if names:
        items = [one for one in items if any(name <= set(stems(one.body)) for name in names)]
    return items[:2]


def _papers(item: Item, sheet: Sheet) -> None:
    """The lines of a decision node: each finding with its citation."""
    for line in item.body.split("\n")[1:]:
        sheet.say(f"- {_flat(line)} {sheet.cite_item(item)}")
