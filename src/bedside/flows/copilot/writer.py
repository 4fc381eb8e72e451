"""The extractive writer: an answer composed of cited entries and sentences, with no model (EN-M7).

It reads like an answer: what speaks against it, where the named things stand, what else bears on
the question, what documents and guidelines say, what is missing. It adds nothing of its own, says
that it is extractive, and keeps to the word limit of its mode (CO-06).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.core.context import Item
from bedside.core.turn import Draft
from bedside.flows.copilot.bullets import miss_unmeasured, tell_bullets
from bedside.flows.copilot.elsewhere import names_another
from bedside.flows.copilot.exactly import tell_level, tell_of_time, tell_person_and_visits
from bedside.flows.copilot.findings import DocumentFinding, document_findings
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.moving import tell_moving
from bedside.flows.copilot.names import bearing_on, matching, scores_in
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, hits_of, parsed_of
from bedside.flows.copilot.query import Entity, Parsed
from bedside.flows.copilot.quoting import (
    document_sentences,
    evidence_items,
    guideline_passages,
    of_a_letter,
    papers_fit,
    passage_lines,
)
from bedside.flows.copilot.reading import asks_what_for
from bedside.flows.copilot.room import (
    DOCUMENT_SHARE,
    HONEST,
    MOST_GAPS,
    PRESSING,
    TAIL,
    say_if_fits,
    short_text,
    words_left,
)
from bedside.flows.copilot.rules import letters_may_say, rule_draft
from bedside.flows.copilot.standing import (
    looked_at_results,
    tell_allergies,
    tell_conflicts,
    tell_entity,
)
from bedside.flows.copilot.steps import said_values
from bedside.flows.copilot.summary import write_summary
from bedside.flows.copilot.together import tell_together
from bedside.flows.copilot.tools.allergies import warn_of_orders
from bedside.flows.copilot.tools.answering import answer_into
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.family import tell_family
from bedside.flows.copilot.tools.sheet import Sheet, joined, words_in
from bedside.flows.copilot.watched import tell_watched
from bedside.flows.copilot.whole import tell_gravest, tell_insight, tell_whole
from bedside.flows.copilot.windows import day_text
from bedside.flows.flow import View
from bedside.record.needs import Contradiction, RecordFacts, RecordNeed

__all__ = ["write_unaided"]

_MOST_ENTITIES = 4
_MOST_CHANGES = 8
_LONG_ANSWER = 200
_RULED = {"drug_lab", "drug_allergy", "overdue"}
_MEDICINES = {"drug", "medications"}
_WEIGHED = {"plan", "risk", "diagnosis"}
"""Intents whose answer must not pass over what the rules find grave in other entries."""
_DUE = re.compile(r"\b(?:over)?due\b", re.IGNORECASE)
_PREGNANCY = Entity(kind="condition", key="pregnancy", said="pregnancy")
_SUPPOSED = re.compile(r"\b(?:if|suppos\w+|assum\w+|were)\b", re.IGNORECASE)
_AT_HOME = re.compile(
    r"\b(?:any|some|every)(?:one|body)\b.*\b(?:home|house|family)\b"
    r"|\bhousehold\b|\b(?:passive|second[- ]?hand) smok",
    re.IGNORECASE,
)
_VACCINE = re.compile(r"\b(?:vaccin|immuni[sz])\w*|\bjabs?\b", re.IGNORECASE)


def write_unaided(view: View[Nothing]) -> Draft:
    """The draft that stands when no model can."""
    ruled = rule_draft(view)
    if ruled is not None:
        return ruled
    sheet = Sheet()
    limit = MODES[view.plan.mode].words
    record = facts_of(view)
    if record is None and any(isinstance(need, RecordNeed) for need in view.gathered):
        sheet.say("The record could not be read, so nothing is said about this patient. Ask again.")
        sheet.missing("the record: it could not be read")
        return sheet.draft(by="extractive")
    if not grounded(view.opened) or record is None:
        _knowledge(view, sheet, limit)
        return sheet.draft(by="extractive")
    if names_another(view.request.text, parsed_of(view), record):
        whose = f" of {record.person.name}" if record.person.name else ""
        sheet.count(f"The question names somebody else. The record open here is that{whose}.")
        sheet.say("Nobody else's record is read from here: open that patient and ask there.")
        sheet.missing("a record of the person named")
        return sheet.draft(by="extractive")
    documents_first = bool(view.request.documents or view.request.selected or of_a_letter(view))
    if documents_first:
        _document(view, record, sheet, limit)
        documents_first = bool(sheet.lines)  # no document says a word of it: the record may
    if view.plan.intent == "synopsis" and not documents_first:
        write_summary(record, sheet, today=view.opened.as_of, words=limit - TAIL)
    elif view.plan.intent == "changes":
        _changes(record, parsed_of(view), sheet, limit)
    elif not documents_first and _exact(view, record, sheet):
        pass
    elif not documents_first or parsed_of(view).entities:
        _grounded(view, record, sheet, limit, after_document=documents_first)
    if not documents_first:
        _quoted(view, sheet, int(limit * DOCUMENT_SHARE), limit)
        _guidelines(view, sheet, limit)
    _missing(sheet, limit)
    sheet.gap()
    sheet.say(HONEST)
    sheet.fit(limit, tail=2)
    return sheet.draft(by="extractive")


# ---- with a patient


def _changes(record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int) -> None:
    """What changed since the last encounter, as the insight rules found it; what was named first."""
    found = [one for one in record.insights if one.kind == "change"]
    for entity in parsed.entities[:_MOST_ENTITIES]:
        tell_entity(entity, record, sheet, earlier=False, unit=parsed.unit)
    if not found:
        sheet.say("No change since the encounter before the last is found in the record.")
        sheet.missing("changes since the encounter before the last")
        return
    sheet.count("Since the encounter before the last:")
    for one in sorted(found, key=lambda one: one.rule.endswith("others"))[:_MOST_CHANGES]:
        line = f"- {short_text(one.text)} {sheet.cite(*one.facts[:2])}"
        if say_if_fits(line, sheet, limit):
            sheet.calculated(one.text)


def _grounded(
    view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int, *, after_document: bool
) -> None:
    parsed = parsed_of(view)
    things = {(one.kind, one.key): one for one in reversed(parsed.entities)}  # each said first
    entities = tuple(reversed(things.values()))[:_MOST_ENTITIES]
    overdue = bool(_DUE.search(view.request.text)) and not _VACCINE.search(view.request.text)
    if overdue and "overdue" not in view.request.text.lower() and not entities:
        awaited = [one for one in matching(_PREGNANCY, record.of("conditions")) if is_active(one)]
        if awaited:  # "when is she due?" asks for the birth
            overdue, entities = False, (_PREGNANCY,)
    if after_document:
        sheet.gap()
        sheet.say("In the record:")
    _supposed(view.request.text, sheet)
    _scored(view.request.text, sheet)
    _of_others(view.request.text, sheet)
    tell_moving(view.request.text, parsed, record, sheet)
    warned = warn_of_orders(view.request.text, record, sheet)
    for entity in entities:
        tell_conflicts(entity, record, sheet)
        tell_together(entity, record, sheet, tables=(view.opened.data or {}).get("interactions"))
    entities = _of_family(parsed, record, sheet, entities)
    of_medicines = view.plan.intent in _MEDICINES or "medications" in parsed.topics
    _contradictions(record, parsed, sheet, limit, medicines=of_medicines)
    exact = tell_person_and_visits(parsed, record, sheet, today=view.opened.as_of)
    _told_of(entities, view, record, sheet, limit)
    _by_rule(record, parsed, sheet, limit, overdue=overdue)
    bearing = bearing_on(view.request.text, parsed.entities)
    told = (parsed.topics == ("allergies",) or warned) and not entities
    if entities or bearing or overdue or told or exact:
        _gravest(view, record, sheet, limit)
    else:
        told = tell_whole(view, record, sheet, limit, medicines=of_medicines)
    drugs = any(one.kind in {"drug", "drug_class"} for one in entities)
    jabs = bool(entities) and all(one.kind == "vaccine" for one in entities)
    if (
        (view.plan.intent in PRESSING and not jabs)
        or "allergies" in (view.plan.intent, *parsed.topics)
        or drugs
    ):
        tell_allergies(record, sheet)
    complete = exact and not parsed.topics and (parsed.fields or not parsed.unknown)
    if not (overdue or after_document or told or complete):
        tell_bullets(view, record, parsed, sheet, limit)
        if looked_at_results(record):
            miss_unmeasured(bearing, record, sheet)
    if overdue and not sheet.lines:
        sheet.say("No rule finds a test overdue in this record.")
    if not sheet.lines:
        sheet.count("Nothing in the record was matched to this question as it is put.")


def _told_of(
    entities: Sequence[Entity],
    view: View[Nothing],
    record: RecordFacts,
    sheet: Sheet,
    limit: int,
) -> None:
    """Each named thing: its readings of the time asked for, else how it stands."""
    parsed = parsed_of(view)
    for entity in entities:
        tell_level(entity, view.request.text, sheet)
        before = len(sheet.lines)
        if not tell_of_time(entity, parsed, record, sheet):
            earlier = limit > _LONG_ANSWER or len(entities) == 1
            tell_entity(entity, record, sheet, earlier=earlier, unit=parsed.unit)
        _reason(entity, view, record, sheet)
        after = len(sheet.lines)
        tell_watched(view.request.text, entity, record, sheet, today=view.opened.as_of, limit=limit)
        if len(sheet.lines) == after:
            sheet.hold(before)


def _gravest(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> None:
    """What weighs most of entries together, in an answer that weighs what to do."""
    if view.plan.intent in _WEIGHED:
        tell_gravest(record, sheet, limit)


def _exact(view: View[Nothing], record: RecordFacts, sheet: Sheet) -> bool:
    """What rules find of who, why or where, for a letter to say more; False where they find nothing."""
    asked = parsed_of(view).queries
    if not letters_may_say(view):
        return False
    if not answer_into(Sheet(), asked, record, today=view.opened.as_of):
        return False
    return answer_into(sheet, asked, record, today=view.opened.as_of)


def _scored(text: str, sheet: Sheet) -> None:
    """Say that a score is not recorded as such and not worked out here."""
    for name in scores_in(text):
        sheet.say(f"Not recorded: {name}. It is not worked out here.")
        sheet.missing(name)


def _of_others(text: str, sheet: Sheet) -> None:
    """Say that the record tells of the patient alone, where those at home are asked about."""
    if _AT_HOME.search(text):
        sheet.say("Not recorded: what is so of others at home. What follows is the patient's own.")
        sheet.missing("others at home")


def _supposed(text: str, sheet: Sheet) -> None:
    """Say that a value which the question only supposes is not the one told of the record."""
    if said_values(text) and _SUPPOSED.search(text):
        sheet.count("What the record holds is told as it stands, not as the question supposes.")


def _of_family(
    parsed: Parsed, record: RecordFacts, sheet: Sheet, entities: tuple[Entity, ...]
) -> tuple[Entity, ...]:
    """Tell what relatives have, where they are asked about; problems are then not the patient's."""
    if "family_history" not in parsed.topics:
        return entities
    tell_family(record.of("family_history"), sheet)
    return tuple(one for one in entities if one.kind != "condition")


def _reason(entity: Entity, view: View[Nothing], record: RecordFacts, sheet: Sheet) -> None:
    """That no order says what a medicine is for, where that was asked."""
    asked = any(query.ask == "why" for query in parsed_of(view).queries)
    if entity.kind != "drug" or not (asked or asks_what_for(view.request.text)):
        return
    orders = matching(entity, record.of("medications"))
    if orders and not any("; for " in fact.line for fact in orders):
        name = thing_name(entity)
        sheet.say(f"Not recorded: what {name} is for.")
        sheet.missing(f"what {name} is for")


def _named(record: RecordFacts, parsed: Parsed) -> set[str]:
    return {
        str(fact.source.id) for entity in parsed.entities for fact in matching(entity, record.facts)
    }


def _by_rule(
    record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int, *, overdue: bool
) -> None:
    """What the insight rules say of the named things: a medicine against a result, an overdue test.

    With `overdue` every overdue test is told, whatever is named: that is what was asked.
    """
    named = _named(record, parsed)
    for found in record.insights:
        if all(sheet.cites(fact) for fact in found.facts) and found.kind == "drug_allergy":
            continue
        asked = overdue and found.kind == "overdue"
        about = found.kind in _RULED and any(str(one.source.id) in named for one in found.facts)
        if asked or (about and found.kind != "overdue"):
            tell_insight(found, sheet, limit)


def _contradictions(
    record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int, *, medicines: bool
) -> None:
    """Contradictions about the named things; of medicines also where medicines as such are asked."""
    named = _named(record, parsed)
    for found in record.contradictions:
        touches = any(str(fact.source.id) in named for fact in found.facts)
        general = medicines and not parsed.entities and _of_medicines(found)
        if touches or general:
            line = f"Contradiction: {short_text(found.text)} {sheet.cite(*found.facts)}"
            say_if_fits(line, sheet, limit)


def _of_medicines(found: Contradiction) -> bool:
    return found.rule in {"allergy-medicine", "medicine-twice", "class-twice"}


def _missing(sheet: Sheet, limit: int) -> None:
    """One line with what was looked for and not found, where no line said so yet."""
    left = [one for one in sheet.gaps if not sheet.told(one)]
    if left:
        sheet.gap()
        say_if_fits(f"Not in the record: {joined(left[:MOST_GAPS])}.", sheet, limit)


# ---- documents and guidelines


def _document(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> None:
    """A question about a document: what rules find in it, then its own words."""
    hits = hits_of(view, "documents")
    ids = [str(one) for one in (*view.request.documents, *view.request.selected)]
    about = document_sentences(view)
    told: list[str] = []
    shown = {str(one.item.span.source.id) for one in about if one.item.span is not None}
    if hits is not None:
        wanted = set(ids) or shown
        passages = [hit for hit in hits.hits if str(hit.span.source.id) in wanted]
        if not parsed_of(view).entities or ids:
            found = _on_the_point(document_findings(passages, record, first=ids), view)
            told += [
                one.item.body
                for one in found
                if say_if_fits(_finding_line(one, sheet), sheet, limit)
            ]
    _quoted(view, sheet, limit, limit, besides=told)


def _on_the_point(
    found: Sequence[DocumentFinding], view: View[Nothing]
) -> Sequence[DocumentFinding]:
    """All findings, or where the question names something those that speak of it."""
    names = [thing_name(one).split(" (")[0].lower() for one in parsed_of(view).entities]
    names += [one.said for one in parsed_of(view).entities]
    return [one for one in found if not names or any(name in one.text.lower() for name in names)]


def _finding_line(finding: DocumentFinding, sheet: Sheet) -> str:
    sheet.calculated(finding.text)
    marks = f"{sheet.cite_item(finding.item)}{sheet.cite(*finding.facts[:2])}"
    return f"By rule: {finding.text} {marks}."


def _quoted(
    view: View[Nothing], sheet: Sheet, share: int, limit: int, *, besides: Sequence[str] = ()
) -> None:
    """Sentences of the patient's documents, within `share` words; `besides` were told already."""
    rows = [one for one in besides if one.count("|") > 1]
    excerpts = [one for one in document_sentences(view) if one.text not in rows]
    if not excerpts:
        return
    titles = list(dict.fromkeys(_title(one.item) for one in excerpts))
    lead = f"In the document ({titles[0]}):" if len(titles) == 1 else "In the documents:"
    room = min(share, words_left(sheet, limit)) - words_in(lead)
    lines: list[str] = []
    for one in excerpts:
        if words_in(one.shown) > room:
            continue
        room -= words_in(one.shown)
        mark = " (superseded edition)" if one.superseded else ""
        lines.append(f"- {one.shown}{mark} {sheet.cite_item(one.item, head=one.head)}")
    if lines:
        sheet.gap()
        for line in (lead, *lines):
            sheet.say(line)


def _title(item: Item) -> str:
    """A document's title and date: what it says was so on that day."""
    if item.span is None:
        return "undated"
    source = item.span.source
    return f"{source.title}, {day_text(source.dated)}" if source.dated else source.title


def _guidelines(view: View[Nothing], sheet: Sheet, limit: int) -> None:
    if view.plan.intent in {"synopsis", "changes"}:
        return
    lead = "Guidelines, not specific to this patient:"
    found = guideline_passages(view, most=2 if limit > _LONG_ANSWER else 1)
    room = words_left(sheet, limit) - words_in(lead)
    lines: list[str] = []
    said = said_values(view.request.text)
    for one in found:
        made = passage_lines(one, sheet, most=3, words=room, record=facts_of(view), said=said)
        room -= sum(words_in(line) for line in made)
        lines += made
    if lines:
        sheet.gap()
        for line in (lead, *lines):
            sheet.say(line)


def _knowledge(view: View[Nothing], sheet: Sheet, limit: int) -> None:
    """Without a patient: the best passage in its own order, then what supports it."""
    evidence, said = evidence_items(view), said_values(view.request.text)
    found = guideline_passages(view, most=3)
    if not found:
        drugs = [one for one in parsed_of(view).entities if one.kind in {"drug", "drug_class"}]
        of = f" on {joined([thing_name(one) for one in drugs])}" if drugs else ""
        sheet.say(f"No relevant guideline passage{of} was found.")
        sheet.missing("a guideline passage on this question")
    for place, one in enumerate(found):
        most = 5 if place == 0 else 2
        room = words_left(sheet, limit)
        for line in passage_lines(one, sheet, most=most, words=room, said=said):
            sheet.say(line)
    papers: list[str] = []
    for item in evidence:
        room = words_left(sheet, limit) - 1 - sum(words_in(line) for line in papers)
        papers += papers_fit(item, sheet, words=room)
    if papers:
        sheet.gap()
        for line in ("Papers:", *papers):
            sheet.say(line)
    sheet.gap()
    sheet.say(HONEST)
