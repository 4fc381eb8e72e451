"""The extractive writer: an answer composed of cited entries and sentences, with no model (EN-M7).

It reads like an answer: what speaks against it, where the named things stand, what else bears on
the question, what documents and guidelines say, what is missing. It adds nothing of its own, says
that it is extractive, and keeps to the word limit of its mode (CO-06).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.turn import Draft
from bedside.flows.copilot.elsewhere import names_another
from bedside.flows.copilot.findings import DocumentFinding, document_findings
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.names import analyte_key, bearing_on, matching, panel_members, shown_name
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, hits_of, parsed_of
from bedside.flows.copilot.query import Entity, Parsed, Window
from bedside.flows.copilot.quoting import (
    document_sentences,
    evidence_items,
    guideline_passages,
    of_a_letter,
    papers_fit,
    passage_lines,
)
from bedside.flows.copilot.reading import asks_what_for
from bedside.flows.copilot.relevance import Ranked, rank_facts
from bedside.flows.copilot.rules import rule_draft
from bedside.flows.copilot.standing import (
    figure_line,
    looked_at_results,
    shown_line,
    tell_allergies,
    tell_conflicts,
    tell_entity,
)
from bedside.flows.copilot.summary import write_summary
from bedside.flows.copilot.together import tell_together
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.family import tell_family
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, day_of, joined, words_in
from bedside.flows.copilot.windows import day_text
from bedside.flows.flow import View
from bedside.record.abnormal import abnormal_now, short_name
from bedside.record.abnormal import readings_of as readings_by_analyte
from bedside.record.insights import priorities
from bedside.record.needs import Contradiction, Fact, Insight, RecordFacts, RecordNeed

__all__ = ["write_unaided"]

_HONEST = "Composed without a model from entries as written; nothing is interpreted."
_TAIL = words_in(_HONEST)
_MOST_ENTITIES = 4
_MOST_CHANGES = 8
_MOST_BULLETS = 8
_MOST_GAPS = 3
_NO_GAP = frozenset({"pain score"})
"""What bears on a question and is not missed where nobody wrote it down."""
_LONG_ANSWER = 200
_ALSO = 20
"""Words kept back for the names of what found no room."""
_FOCUSED = 60.0
"""Above this rank an entry is of the named thing or close to it, not only of the intent."""
_GUIDELINE_SHARE, _DOCUMENT_SHARE = 0.35, 0.25
_RULED = {"drug_lab", "drug_allergy", "overdue"}
_MEDICINES = {"drug", "medications"}
_PRESSING = {"drug", "plan", "medications"}
"""Intents whose answer may lead to a prescription: allergies stand before the rest."""
_BROAD = {"plan", "unknown", "risk", "diagnosis", "question", "drug", "protocol"}
_DUE = re.compile(r"\b(?:over)?due\b", re.IGNORECASE)
_ABNORMAL = re.compile(
    r"\b(?:abnormal\w*|not normal|out of range|deranged|flagged)\b", re.IGNORECASE
)
_LACKING = re.compile(r"\b(?:missing|lack\w*|needs?|up to date|behind|due)\b", re.IGNORECASE)
_GENERIC = frozenset(
    [
        "who",
        "status",
        "score",
        "scores",
        "level",
        "result",
        "results",
        "test",
        "tests",
        "value",
        "can",
        "could",
        "will",
        "would",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "about",
        "with",
        "from",
        "been",
    ]
)
_ABBREVIATED = 4
"""A replacement as short as this would be found inside other words."""
_BEGINS = 4
"""So many letters may begin a word of the record: "car" begins too many."""
_LOOKUP = 6
_PREGNANCY = Entity(kind="condition", key="pregnancy", said="pregnancy")
_VACCINE = re.compile(r"\b(?:vaccin|immuni[sz])\w*|\bjabs?\b", re.IGNORECASE)
_CITED_SOURCE = re.compile(r"\s*\(source: .*?\)(?=\.?\s*\Z)", re.DOTALL)


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
    if view.plan.intent == "synopsis" and not documents_first:
        write_summary(record, sheet, today=view.opened.as_of, words=limit - _TAIL)
    elif view.plan.intent == "changes":
        _changes(record, parsed_of(view), sheet, limit)
    elif not documents_first or parsed_of(view).entities:
        _grounded(view, record, sheet, limit, after_document=documents_first)
    if not documents_first:
        _quoted(view, sheet, int(limit * _DOCUMENT_SHARE), limit)
        _guidelines(view, sheet, limit)
    _missing(sheet, limit)
    sheet.gap()
    sheet.say(_HONEST)
    return sheet.draft(by="extractive")


def _left(sheet: Sheet, limit: int) -> int:
    """How many words are left for anything but the last line."""
    return limit - _TAIL - sheet.words


def _say_if_fits(line: str, sheet: Sheet, limit: int) -> bool:
    if words_in(line) > _left(sheet, limit):
        return False
    sheet.say(line)
    return True


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
        line = f"- {_short(one.text)} {sheet.cite(*one.facts[:2])}"
        if _say_if_fits(line, sheet, limit):
            sheet.calculated(one.text)


def _short(text: str) -> str:
    """A finding without the citation of its rule, which stands in the insight itself."""
    return _CITED_SOURCE.sub("", text).rstrip(". ") + "."


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
    for entity in entities:
        tell_conflicts(entity, record, sheet)
        tell_together(entity, record, sheet, tables=(view.opened.data or {}).get("interactions"))
    entities = _of_family(parsed, record, sheet, entities)
    of_medicines = view.plan.intent in _MEDICINES or "medications" in parsed.topics
    _contradictions(record, parsed, sheet, limit, medicines=of_medicines)
    for entity in entities:
        earlier = limit > _LONG_ANSWER or len(entities) == 1
        tell_entity(entity, record, sheet, earlier=earlier, unit=parsed.unit)
        _reason(entity, view, record, sheet)
    _by_rule(record, parsed, sheet, limit, overdue=overdue)
    bearing = bearing_on(view.request.text, parsed.entities)
    told = parsed.topics == ("allergies",) and not entities
    if not (entities or bearing or overdue or told):
        told = _of_the_whole(view, record, sheet, limit, medicines=of_medicines)
    drugs = any(one.kind in {"drug", "drug_class"} for one in entities)
    if view.plan.intent in _PRESSING or "allergies" in (view.plan.intent, *parsed.topics) or drugs:
        tell_allergies(record, sheet)
    if not (overdue or after_document or told):
        _bullets(view, record, parsed, sheet, limit)
        if looked_at_results(record):
            _unmeasured(bearing, record, sheet)
    if overdue and not sheet.lines:
        sheet.say("No rule finds a test overdue in this record.")
    if not sheet.lines:
        sheet.say("Nothing in the record bears on this question as it is put.")
        sheet.missing("entries that bear on the question")


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


def _of_the_whole(
    view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int, *, medicines: bool
) -> bool:
    """What heads the answer to a question that names no entry; True where that is all of it."""
    parsed = parsed_of(view)
    if _abnormal(view, record, sheet, limit):
        return True
    words = _own_words(view, parsed)
    having = _having(words, record)
    if words and not having:
        _say_unmatched(words, sheet)
    elif _lookup(view):
        for fact in having[:_MOST_GAPS]:
            sheet.say(f"{shown_line(fact)} {sheet.cite(fact)}")
    if view.plan.intent in _BROAD:
        _leading(record, sheet, limit, medicines=medicines)
    return bool(words) and _lookup(view)


def _lookup(view: View[Nothing]) -> bool:
    """A question of so few words looks one thing up."""
    return len(view.request.text.split()) <= _LOOKUP


def _abnormal(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> bool:
    """The newest results that stand outside their range, of the time asked for, where asked for."""
    asked = _ABNORMAL.search(view.request.text) and "labs" in parsed_of(view).topics
    if not asked:
        return False
    windows = parsed_of(view).windows
    found = _abnormal_in(windows, record) if windows else _newest_abnormal(record)
    left: list[Fact] = []
    for one in found:
        before = sheet.words
        _insight(one, sheet, limit - _ALSO)
        if sheet.words == before:
            left.append(one.facts[0])
    if left:
        names = joined([f"{short_name(fact)} {sheet.cite(fact)}" for fact in left])
        sheet.say(f"Also outside their range: {names}.")
    if not found:
        span = f" {windows[0].said}" if windows else ""
        sheet.say(f"No rule finds a newest result{span} outside its range.")
    return True


def _newest_abnormal(record: RecordFacts) -> list[Insight]:
    return [one for one in record.insights if one.kind == "abnormal"]


def _abnormal_in(windows: Sequence[Window], record: RecordFacts) -> list[Insight]:
    """The same of a time: the newest of each measurement in it, a newer one after it or not."""

    def inside(fact: Fact) -> bool:
        return any(window.holds(day_of(fact)) for window in windows)

    now = [one for one in _newest_abnormal(record) if inside(one.facts[0])]
    told = {str(one.facts[0].source.id) for one in now}
    within = readings_by_analyte(filter(inside, record.of("observations")), as_of=date.max)
    then = abnormal_now(within, record.person, pregnant=None)
    return [*now, *(one for one in then if str(one.facts[0].source.id) not in told)]


def _say_unmatched(words: Sequence[str], sheet: Sheet) -> None:
    said = joined([f'"{word}"' for word in words[:_MOST_GAPS]])
    sheet.count(f"Nothing in the record was matched to {said}.")
    for word in words[:_MOST_GAPS]:
        sheet.missing(word)


def _own_words(view: View[Nothing], parsed: Parsed) -> list[str]:
    """The words that carry a question of no known kind, which names nothing that rules know."""
    if view.plan.intent != "unknown" or parsed.entities or parsed.topics:
        return []
    return [word for word in parsed.unknown if word not in _GENERIC and len(word) > 1]


def _having(words: Sequence[str], record: RecordFacts) -> list[Fact]:
    """The entries that have one of the words, or what an abbreviation among them stands for.

    A word of four letters or more may begin a longer one; a shorter one stands alone.
    """
    meant = [one.replacement.lower() for one in expand(" ".join(words))]
    meant = [one for one in meant if len(one) > _ABBREVIATED]
    forms = [
        re.compile(rf"(?<!\w){re.escape(one)}" + ("" if len(one) >= _BEGINS else r"(?!\w)"))
        for one in (*words, *meant)
    ]
    return [fact for fact in record.facts if any(one.search(fact.line.lower()) for one in forms)]


def _leading(record: RecordFacts, sheet: Sheet, limit: int, *, medicines: bool) -> None:
    """The gravest findings by rule head a question about the patient as a whole."""
    for one in _of_first_rank(record, medicines=medicines):
        if all(sheet.cites(fact) for fact in one.facts):
            continue
        _insight(one, sheet, limit)


def _of_first_rank(record: RecordFacts, *, medicines: bool) -> Sequence[Insight]:
    if not medicines:
        return [one for one in priorities(record) if one.severity != "info"]
    return [one for one in record.insights if one.kind in {"drug_allergy", "drug_lab"}][:3]


def _insight(one: Insight, sheet: Sheet, limit: int) -> None:
    if _say_if_fits(f"By rule: {_short(one.text)} {sheet.cite(*one.facts[:3])}", sheet, limit):
        sheet.calculated(one.text)


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
            _insight(found, sheet, limit)


def _contradictions(
    record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int, *, medicines: bool
) -> None:
    """Contradictions about the named things; of medicines also where medicines as such are asked."""
    named = _named(record, parsed)
    for found in record.contradictions:
        touches = any(str(fact.source.id) in named for fact in found.facts)
        general = medicines and not parsed.entities and _of_medicines(found)
        if touches or general:
            line = f"Contradiction: {_short(found.text)} {sheet.cite(*found.facts)}"
            _say_if_fits(line, sheet, limit)


def _of_medicines(found: Contradiction) -> bool:
    return found.rule in {"allergy-medicine", "medicine-twice", "class-twice"}


def _bullets(
    view: View[Nothing], record: RecordFacts, parsed: Parsed, sheet: Sheet, limit: int
) -> None:
    """Entries in order of relevance; the readings of one analyte together in one line."""
    if view.plan.intent == "immunizations" and _LACKING.search(view.request.text):
        sheet.say("Which are missing is not worked out here: no immunisation schedule is applied.")
        sheet.missing("immunisation schedule")
    ranked = rank_facts(record, parsed, intent=view.plan.intent, text=view.request.text)
    if "medications" in parsed.topics:  # "what HF meds is he taking": those before what they treat
        ranked = sorted(ranked, key=_taken_last)
    facts = [one.fact for one in _focused(ranked, view, parsed) if not sheet.cites(one.fact)]
    if parsed.windows:
        facts = [fact for fact in facts if parsed.windows[0].holds(day_of(fact))] or facts[:3]
    told = {
        key
        for entity in parsed.entities
        for key in (entity.key, *panel_members(entity.key))
        if entity.kind in {"analyte", "panel"}
    }
    names: set[str] = set()
    keep = limit - _reserved(view, limit)
    lead = "Also in the record:" if sheet.lines else "In the record, most relevant first:"
    spoken = bearing_on(view.request.text, parsed.entities)
    if spoken and not sheet.lines and not any(one.rank > _FOCUSED for one in ranked):
        lead = "No entry names this; in the record are:"
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
        if need > keep - _TAIL - sheet.words:
            continue
        if not written:
            sheet.say(lead)
        sheet.say(f"- {line}")
        written += 1
        if written == _MOST_BULLETS:
            break


def _taken_last(one: Ranked) -> bool:
    return not (one.fact.category == "medications" and is_active(one.fact) and one.rank > _FOCUSED)


def _focused(ranked: Sequence[Ranked], view: View[Nothing], parsed: Parsed) -> list[Ranked]:
    """What bears on the question itself, where anything does; a plan also wants the whole patient."""
    if view.plan.intent in _PRESSING or any(
        one.kind in {"drug", "drug_class"} for one in parsed.entities
    ):
        return list(ranked)
    near = [one for one in ranked if one.rank > _FOCUSED]
    return near if near or parsed.entities else list(ranked)


def _reserved(view: View[Nothing], limit: int) -> int:
    """Words kept back for documents and guidelines, where there are any to quote."""
    kept = 0
    if view.plan.intent != "synopsis" and guideline_passages(view, most=1):
        kept += int(limit * _GUIDELINE_SHARE)
    if document_sentences(view):
        kept += int(limit * _DOCUMENT_SHARE)
    return kept


def _unmeasured(keys: Sequence[str], record: RecordFacts, sheet: Sheet) -> None:
    """Results that bear on the question and are not in the record."""
    missing: list[str] = []
    found = False
    for key in keys:
        if readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations")):
            found = True
        elif key not in _NO_GAP:
            missing.append(shown_name(key))
    for name in missing[: _MOST_GAPS if found or not missing else 2]:
        sheet.missing(name)


def _missing(sheet: Sheet, limit: int) -> None:
    """One line with what was looked for and not found, where no line said so yet."""
    left = [one for one in sheet.gaps if not sheet.told(one)]
    if left:
        sheet.gap()
        _say_if_fits(f"Not in the record: {joined(left[:_MOST_GAPS])}.", sheet, limit)


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
                if _say_if_fits(_finding_line(one, sheet), sheet, limit)
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
    room = min(share, _left(sheet, limit)) - words_in(lead)
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
    room = _left(sheet, limit) - words_in(lead)
    lines: list[str] = []
    for one in found:
        made = passage_lines(one, sheet, most=3, words=room, record=facts_of(view))
        room -= sum(words_in(line) for line in made)
        lines += made
    if lines:
        sheet.gap()
        for line in (lead, *lines):
            sheet.say(line)


def _knowledge(view: View[Nothing], sheet: Sheet, limit: int) -> None:
    """Without a patient: the best passage in its own order, then what supports it."""
    evidence = evidence_items(view)
    found = guideline_passages(view, most=3)
    if not found:
        drugs = [one for one in parsed_of(view).entities if one.kind in {"drug", "drug_class"}]
        of = f" on {joined([thing_name(one) for one in drugs])}" if drugs else ""
        sheet.say(f"No relevant guideline passage{of} was found.")
        sheet.missing("a guideline passage on this question")
    for place, one in enumerate(found):
        most = 5 if place == 0 else 2
        for line in passage_lines(one, sheet, most=most, words=_left(sheet, limit)):
            sheet.say(line)
    papers: list[str] = []
    for item in evidence:
        room = _left(sheet, limit) - 1 - sum(words_in(line) for line in papers)
        papers += papers_fit(item, sheet, words=room)
    if papers:
        sheet.gap()
        for line in ("Papers:", *papers):
            sheet.say(line)
    sheet.gap()
    sheet.say(_HONEST)
