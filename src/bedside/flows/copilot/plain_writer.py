"""The patient's own answer: short sentences about what the record holds, at a low reading grade (CO-10).

Names of medicines, problems and tests stand as the record has them; all else is everyday words.
Nothing here names a new illness, and nothing tells anyone to start, stop or change a medicine.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

import yaml

from bedside.core.turn import Draft
from bedside.flows.copilot.lexicon import phrase_key
from bedside.flows.copilot.names import bearing_on, concerned, matching, panel_members, shown_name
from bedside.flows.copilot.plain import plain_result
from bedside.flows.copilot.plain_view import (
    ASK_YOUR_DOCTOR,
    evidence_items_for,
    explained,
    for_patient,
    in_plain_words,
)
from bedside.flows.copilot.plan import Nothing, facts_of, parsed_of
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.relevance import rank_facts
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, plain_name, when_text
from bedside.flows.flow import View
from bedside.record.contradictions import allergy_conflict
from bedside.record.needs import Fact, RecordFacts, RecordNeed
from bedside.record.rows import says_none_known

__all__ = ["plain_problem", "write_for_reader"]

_MOST_LISTED = 8
_MOST_RESULTS = 3
_ENOUGH = 45
"""From so many words on a result is told without what it means."""
_FULL = 80
"""From so many words on nothing more is added from the evidence bank."""
_NEAR = 60.0
"""Above this rank an entry is close to what was asked, not only of its kind."""
_ON_MEDICINES = "Do not start, stop or change a medicine on your own. Ask your doctor first."
_NOT_FOUND = "I did not find this in your record. That does not mean it is not so."
_GREETING = "Hello. Ask about your own record, or what a test result means."
_NOT_READ = "I could not read your record just now. Please ask again."
_NEWS = "If you feel very ill, get help now."
_LISTS = {"medications", "conditions", "allergies", "immunizations"}
_HEADS = {
    "medications": "Your record lists these drugs for you now:",
    "conditions": "Your record lists these health problems now:",
    "immunizations": "Your record lists these shots:",
}
_EMPTY = {
    "medications": "Your record lists no drugs for you now.",
    "conditions": "Your record lists no health problems now.",
    "immunizations": "Your record lists no shots.",
}


def write_for_reader(view: View[Nothing], draft: Draft) -> Draft:
    """The draft for a clinician as it is; for a patient the same matter in plain words."""
    if not for_patient(view):
        return draft
    if view.plan.intent == "greeting":
        return replace(draft, text=_GREETING)
    record = facts_of(view)
    if record is None:
        lost = any(isinstance(need, RecordNeed) for need in view.gathered)
        return replace(draft, text=_NOT_READ) if lost else _general(view)
    sheet = Sheet()
    parsed = parsed_of(view)
    if parsed.queries:
        if not all(_query(query, record, sheet) for query in parsed.queries):
            return in_plain_words(view, draft)
    else:
        _open_question(view, record, sheet)
    sheet.gap()
    sheet.say(ASK_YOUR_DOCTOR)
    sheet.calculated(ASK_YOUR_DOCTOR)
    return replace(sheet.draft(by=draft.by), missing=draft.missing)


def _general(view: View[Nothing]) -> Draft:
    """Without a record: what the evidence bank says in plain words."""
    sheet = Sheet()
    for item in evidence_items_for(view):
        sheet.say(f"{item.body.rstrip('.')} {sheet.cite_item(item)}.")
    if not sheet.lines:
        sheet.say("I have no plain text on this.")
        sheet.missing("a text in plain words on this question")
    sheet.gap()
    sheet.say(ASK_YOUR_DOCTOR)
    sheet.calculated(ASK_YOUR_DOCTOR)
    return sheet.draft(by="extractive")


# ---- questions that rules read


def _query(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Answer one query plainly; `False` where only the exact tool can."""
    if query.window is not None or query.threshold is not None or query.last is not None:
        return False
    if query.topic == "observations" and query.entity is not None and query.ask == "latest":
        _results((query.entity,), record, sheet)
        return True
    if query.topic == "allergies" and query.entity is None:
        _allergies(record, sheet)
        return True
    if query.entity is not None and query.ask == "any" and query.topic in _LISTS:
        _thing(query.entity, record, sheet)
        return True
    if query.topic in _HEADS and query.entity is None and query.ask == "list":
        _listed(query.topic, record, sheet)
        return True
    return False


def _listed(topic: str, record: RecordFacts, sheet: Sheet) -> None:
    facts = record.of(topic)  # type: ignore[arg-type]
    standing = [fact for fact in facts if topic == "immunizations" or is_active(fact)]
    if not standing:
        sheet.say(_EMPTY[topic])
        sheet.missing(topic)
        return
    sheet.count(_HEADS[topic])
    distinct = list({fact.name: fact for fact in standing}.values())
    for fact in distinct[:_MOST_LISTED]:
        sheet.say(f"- {_named(fact)} {sheet.cite(fact)}.")
    if len(distinct) > _MOST_LISTED:
        sheet.count(f"There are {len(distinct) - _MOST_LISTED} more.")
    _fixed("If you are not sure what one of these is, ask your doctor or nurse.", sheet)


def _named(fact: Fact) -> str:
    """The entry's own name, with everyday words for it where there are any."""
    if fact.category == "immunizations":
        return plain_name(fact).partition(",")[0]
    plain = plain_problem(fact.name) if fact.category == "conditions" else ""
    return f"{plain_name(fact)} ({plain})" if plain else plain_name(fact)


# ---- open questions


def _open_question(view: View[Nothing], record: RecordFacts, sheet: Sheet) -> None:
    parsed = parsed_of(view)
    if view.plan.intent == "synopsis" and not parsed.entities:
        _listed("conditions", record, sheet)
        _listed("medications", record, sheet)
        _allergies(record, sheet)
        return
    for entity in parsed.entities[:3]:
        if entity.kind in {"analyte", "panel"}:
            _results((entity,), record, sheet)
        else:
            _thing(entity, record, sheet)
    if not parsed.entities:
        keys = bearing_on(view.request.text, ())
        _results([Entity(kind="analyte", key=key, said=key) for key in keys], record, sheet)
        _problems_near(view, record, sheet)
    if not sheet.lines and ("medications" in parsed.topics or view.plan.intent == "medications"):
        _listed("medications", record, sheet)
    for item in evidence_items_for(view)[:2] if sheet.words < _FULL else ():
        sheet.say(f"{item.body.rstrip('.')} {sheet.cite_item(item)}.")
    if not sheet.lines:
        sheet.say(_NOT_FOUND)
        sheet.missing("an entry on this question")
    drugs = any(one.kind in {"drug", "drug_class"} for one in parsed.entities)
    if drugs or "medications" in parsed.topics or view.plan.intent in {"plan", "drug"}:
        _fixed(_ON_MEDICINES, sheet)
    measured = any(one.kind in {"analyte", "panel"} for one in parsed.entities)
    if view.plan.intent in {"diagnosis", "unknown", "risk"} and not measured:
        _fixed(_NEWS, sheet)  # a result's own text says when to get help


def _problems_near(view: View[Nothing], record: RecordFacts, sheet: Sheet) -> None:
    """Problems whose names the question's own words touch."""
    ranked = rank_facts(record, parsed_of(view), intent="question", text=view.request.text)
    _, known = concerned(view.request.text)
    near = [
        one.fact
        for one in ranked
        if one.fact.category == "conditions" and is_active(one.fact) and (one.rank > _NEAR or known)
    ]
    for fact in near[:2]:
        sheet.say(f"Your record lists this: {_named(fact)} {sheet.cite(fact)}.")


def _fixed(line: str, sheet: Sheet) -> None:
    sheet.say(line)
    sheet.calculated(line)


# ---- one thing


def _results(entities: Iterable[Entity], record: RecordFacts, sheet: Sheet) -> None:
    """The newest reading of each analyte, with what it means; at most three."""
    keys = [key for one in entities for key in (panel_members(one.key) or (one.key,))]
    told = 0
    absent: list[str] = []
    for key in dict.fromkeys(keys):
        found = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
        plain = plain_result(key) or plain_result(shown_name(key))
        name = plain.name if plain else shown_name(key)
        if not found:
            absent.append(name)
            continue
        if told == _MOST_RESULTS:
            break
        told += 1
        newest = found[-1]
        old = " This is an old result." if newest.fact.stale else ""
        sheet.say(f"{name}: {newest.dated} {sheet.cite(newest.fact)}.{old}")
        for line in explained(key, record) if sheet.words < _ENOUGH else ():
            meaning = line.partition(": ")[2] or line
            _fixed(meaning[:1].upper() + meaning[1:], sheet)
    if not told and absent:
        sheet.say(f"Your record has no result for this: {absent[0]}.")
        sheet.missing(absent[0])


def _thing(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """A medicine, problem, shot or procedure: whether the record lists it, since when, what for."""
    pools: Mapping[str, Sequence[Fact]] = {
        "drug": record.of("medications"),
        "drug_class": record.of("medications"),
        "condition": record.of("conditions"),
        "procedure": (*record.of("procedures"), *record.of("reports")),
        "vaccine": record.of("immunizations"),
        "allergen": record.of("allergies"),
    }
    if entity.kind in {"drug", "drug_class"}:
        _warned(entity, record, sheet)
    found = matching(entity, pools.get(entity.kind, ()))
    standing = [fact for fact in found if is_active(fact)]
    if not found:
        if not any(one.endswith("before you take it.") for one in sheet.lines):
            sheet.say(f"Your record does not list this: {thing_name(entity)}.")
        sheet.missing(thing_name(entity))
        return
    fact = (standing or found)[0]
    if standing or entity.kind not in {"drug", "drug_class", "condition"}:
        sheet.say(f"Your record lists this: {_named(fact)} {sheet.cite(fact)}.")
    else:
        sheet.say(f"Your record lists this from the past: {_named(fact)} {sheet.cite(fact)}.")
    sheet.say(f"The date there is {when_text(fact)} {sheet.cite(fact)}.")
    if fact.dosage:
        sheet.say(f"How to take it, as your record has it: {fact.dosage} {sheet.cite(fact)}.")
    if fact.reasons:
        plain = plain_problem(fact.reasons[0])
        reason = f"{fact.reasons[0]} ({plain})" if plain else fact.reasons[0]
        sheet.say(f"It is for this: {reason} {sheet.cite(fact)}.")


def _warned(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """Say first that the record holds an allergy to the medicine, or to its kind."""
    for allergy in record.of("allergies"):
        if says_none_known(allergy) or allergy.status in {"resolved", "inactive"}:
            continue
        same = bool(matching(entity, (allergy,)))
        kin = entity.kind == "drug" and allergy_conflict(entity.key, allergy.name) is not None
        if (same or kin) and not sheet.cites(allergy):
            what = "this" if same else f"a drug of the same kind as {thing_name(entity)}"
            sheet.say(
                f"Your record says you may react badly to {what}: "
                f"{plain_name(allergy)} {sheet.cite(allergy)}."
            )
            _fixed("Ask your doctor before you take it.", sheet)


def _allergies(record: RecordFacts, sheet: Sheet) -> None:
    facts = record.of("allergies")
    real = [fact for fact in facts if not says_none_known(fact)]
    if record.no_known_allergies and facts:
        sheet.say(f"Your record says that you have no known allergy {sheet.cite(facts[0])}.")
    elif real:
        sheet.count("Your record says you may react badly to:")
        for fact in real[:_MOST_LISTED]:
            sheet.say(f"- {plain_name(fact)} {sheet.cite(fact)}.")
    else:
        sheet.say("Your record does not say if you have an allergy.")
        sheet.missing("allergies")


# ---- everyday words


def plain_problem(name: str) -> str:
    """Everyday words for a problem, "" where the name is plain enough or none are known."""
    words = set(phrase_key(name))
    best = max(
        (row for row in _problems() if set(row[0]) <= words),
        key=lambda row: len(row[0]),
        default=None,
    )
    return best[1] if best is not None else ""


@functools.cache
def _problems() -> tuple[tuple[tuple[str, ...], str], ...]:
    path = resources.files("bedside.flows.copilot") / "data" / "patient" / "problems.yaml"
    rows: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["problems"]
    return tuple((phrase_key(name), str(plain)) for name, plain in rows.items())
