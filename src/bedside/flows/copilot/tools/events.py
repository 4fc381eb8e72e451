"""Answers about one named medicine, problem, procedure or vaccine. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from bedside.clinical.vocabulary import expand
from bedside.flows.copilot.lexicon import results_by
from bedside.flows.copilot.names import group_name, matching, nearby, vaccinations
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import (
    Sheet,
    day_of,
    on_text,
    plain_name,
    said_as_written,
    when_text,
)
from bedside.language.stems import stems
from bedside.record.needs import Category, Fact, Insight, RecordFacts

__all__ = ["answer_event", "given_for", "is_active", "is_over", "mentions", "thing_name"]

_ACTIVE = {
    "medications": {"active"},
    "conditions": {"active", "recurrence", "relapse"},
    "careplans": {"active"},
    "goals": {"active", "accepted", "in-progress"},
    "orders": {"active"},
}
_ENDED = {"stopped", "completed"}
_VERBS = {
    "medications": ("first ordered", "last ordered"),
    "conditions": ("first recorded", "last recorded"),
    "procedures": ("first done", "last done"),
    "immunizations": ("first given", "last given"),
}
_PLACE = {
    "medications": "the medicines",
    "conditions": "the problems",
    "procedures": "the procedures",
    "immunizations": "the immunizations",
}
_MOST_NAMED = 8
_ALIKE = 0.6
_SHORT = 5
_LONGEST_NOTE = 40
"""In words: a longer note is read in the entry itself."""


def is_active(fact: Fact) -> bool:
    """True when the entry's own status says that it stands now."""
    return fact.status in _ACTIVE.get(fact.category, set())


def is_over(fact: Fact) -> bool:
    """True when it stands no more; a medicine on hold, in draft or not taken neither stands nor ended."""
    return fact.status in _ENDED if fact.category == "medications" else not is_active(fact)


def thing_name(entity: Entity) -> str:
    """How an answer calls the thing: its usual name, and how the question said it if far from that."""
    said = entity.said
    if entity.key.startswith("record:"):
        return said
    if entity.kind == "drug_class":
        return group_name(said)
    name = entity.key.replace("-", " / ") if entity.kind == "drug" else entity.key
    shared = set(said.split()) & set(name.split())
    if shared or SequenceMatcher(None, said, name).ratio() > _ALIKE or said in name:
        return name
    shown = said.upper() if len(said.replace(" ", "")) <= _SHORT else said
    return f"{name} ({shown})"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def answer_event(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Answer a query about a named thing; `False` where the entries do not allow it."""
    if query.entity is None:
        return False
    category: Category = query.topic  # type: ignore[assignment]
    everything = record.of(category)
    if query.ask == "for":
        return _for(query.entity, everything, sheet)
    all_named = matching(query.entity, everything)
    if query.topic == "procedures":
        all_named += matching(query.entity, record.of("reports"))
        all_named += _history(query.entity, record)
    named = [fact for fact in all_named if query.window is None or query.window.holds(day_of(fact))]
    if query.status == "inactive" and query.ask != "any":
        named = [fact for fact in named if is_over(fact)]
    if query.ask == "dose" and not any(is_active(fact) for fact in named):
        # "The dose of X" may ask for the dose to give: only what she takes is answered by rule.
        return False
    if not named:
        return _none(query, record, everything, all_named, sheet)
    return _ASKS[query.ask](query, named, record, sheet) if query.ask in _ASKS else False


def _history(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Problems that say that a procedure was done: "History of appendectomy"."""
    return [
        fact for fact in matching(entity, record.of("conditions")) if "history" in fact.name.lower()
    ]


def _none(
    query: Query,
    record: RecordFacts,
    everything: Sequence[Fact],
    outside: Sequence[Fact],
    sheet: Sheet,
) -> bool:
    entity = query.entity
    if entity is None:
        return False
    name = thing_name(entity)
    span = f" {query.window.said}" if query.window is not None else ""
    place = _PLACE[query.topic]
    if query.topic == "conditions" and (measured := _measured(entity, query, record)):
        sheet.say(f"Not among the problems: {name}{span}. As a result it is recorded:")
        for fact in measured:
            sheet.say(f"- {fact.line.rstrip('.')} {sheet.cite(fact)}")
        return True
    sheet.missing(f"{name}{span}")
    total = dict(record.total).get(query.topic, len(everything))
    looked = (
        f"none of {place} in this record matches" if total else f"no {query.topic} are recorded"
    )
    sheet.say(f"Not recorded: {name}{span} ({looked}).")
    for one in _criteria(entity, query, record):
        sheet.say(f"By rule: {one.text.partition(' (source: ')[0]} {sheet.cite(*one.facts)}.")
        sheet.calculated(one.text)
    if outside:
        for fact in _nearest(outside, query):
            sheet.say(f"Outside that time: {_line(fact)} {sheet.cite(fact)}.")
        return True
    related = _related(query, entity, record)
    related += [fact for fact in _done_for(entity, record) if fact not in related]
    if related:
        names = "; ".join(f"{_line(fact)} {sheet.cite(fact)}" for fact in related)
        sheet.say(f"Related entries, which do not say the same: {names}.")
    return True


def _criteria(entity: Entity, query: Query, record: RecordFacts) -> list[Insight]:
    """Results that together meet the criteria of a problem which is not among the problems."""
    if query.topic != "conditions" or query.window is not None:
        return []
    names = {entity.key.lower(), entity.said.lower()}
    return [
        one
        for one in record.insights
        if one.kind == "combination" and any(name in one.text.lower() for name in names)
    ]


def _nearest(outside: Sequence[Fact], query: Query) -> list[Fact]:
    """The last entry before the time asked for and the first after it; the newest where neither is."""
    start = query.window.start if query.window is not None else None
    before = [f for f in outside if start is not None and (day := day_of(f)) and day < start]
    after = [f for f in outside if day_of(f) is not None and f not in before]
    found = [*(after[-1:] if query.window and query.window.end else []), *before[:1]]
    return found or list(outside[:1])


def _related(query: Query, entity: Entity, record: RecordFacts) -> list[Fact]:
    if query.topic == "conditions":
        pool = [*record.of("conditions"), *record.of("procedures")]
        return _distinct([*mentions(entity, record), *nearby(entity, pool)])[:3]
    if query.topic == "medications" and entity.kind == "drug_class":
        problems = record.of("conditions")
        return _distinct([fact for fact in problems if entity.key in fact.name.lower()])[:3]
    if query.topic == "immunizations":
        return _distinct(vaccinations(entity, record))[:3]
    if query.topic == "procedures":
        return _distinct(nearby(entity, record.of("procedures")))[:3]
    return []


def _measured(entity: Entity, query: Query, record: RecordFacts) -> list[Fact]:
    """The newest results that answer in words and name the problem: "HIV status: HIV positive"."""
    told = [
        fact
        for fact in record.of("observations")
        if fact.value is None and fact.text_value
        if query.window is None or query.window.holds(day_of(fact))
    ]
    return _distinct(matching(entity, told))[:2]


def mentions(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Alerts, medicines and what was done, whose own words name a problem that is no entry among the problems."""
    said = {entity.said.lower(), entity.key.lower()}
    said |= {one.replacement.lower() for word in tuple(said) for one in expand(word)}
    forms = [word for word in said if len(word) > _SHORT]
    pool = [
        fact
        for category in ("alerts", "medications", "procedures", "reports")
        for fact in record.of(category)
    ]
    return [fact for fact in pool if any(form in fact.line.lower() for form in forms)]


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    """The newest entry of each name, order kept."""
    seen: dict[str, Fact] = {}
    for fact in facts:
        seen.setdefault(plain_name(fact).lower(), fact)
    return list(seen.values())


def _line(fact: Fact) -> str:
    """One entry in words: name, standing, dates."""
    name = plain_name(fact)
    match fact.category:
        case "medications":
            dose = f", {fact.dosage}" if fact.dosage else ""
            old = ", stale" if fact.stale and is_active(fact) else ""
            return (
                f"{name}: {fact.status or 'status not recorded'}, ordered {when_text(fact)}"
                f"{dose}{old}{_noted(fact, '; ')}"
            )
        case "conditions":
            return f"{name}, {_standing(fact)}{_noted(fact, '; ')}"
        case _:
            return f"{name} {on_text(fact)}{_noted(fact, ': ')}"


def _noted(fact: Fact, before: str) -> str:
    """What was noted on the entry, where it is short enough to stand in its line."""
    said = fact.noted.removeprefix("conclusion: ").rstrip(". ")
    return f"{before}{said}" if said and len(said.split()) <= _LONGEST_NOTE else ""


def _standing(fact: Fact) -> str:
    end = f", ended {_end(fact)}" if fact.end is not None else ""
    status = fact.status or "status not recorded"
    return f"{status}, since {when_text(fact)}{end}"


def _end(fact: Fact) -> str:
    return said_as_written(fact.end.date(), fact) if fact.end is not None else "not recorded"


def _entries(facts: Sequence[Fact], sheet: Sheet, *, most: int = _MOST_NAMED) -> None:
    shown = facts[:most]
    for fact in shown:
        sheet.say(f"- {_line(fact)} {sheet.cite(fact)}")
    if len(facts) > len(shown) and most == _MOST_NAMED:
        oldest = facts[-1]
        sheet.say(f"- the first: {_line(oldest)} {sheet.cite(oldest)}")
        sheet.count(f"- and {len(facts) - len(shown) - 1} between")


def _done_for(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Procedures that a group of medicines is named in: a contraceptive device is no prescription."""
    if entity.kind != "drug_class":
        return []
    names = set(stems(group_name(entity.said)))
    shared = min(2, len(names))  # "hormone replacement" is no replaced device
    done = [f for f in record.of("procedures") if len(names & set(stems(f.name))) >= shared]
    return _distinct(done)[:2]


def _each(facts: Sequence[Fact], sheet: Sheet) -> str:
    """The entries in one line, each with its marker."""
    return "; ".join(f"{_line(fact)} {sheet.cite(fact)}" for fact in facts)


def _any(query: Query, named: list[Fact], record: RecordFacts, sheet: Sheet) -> bool:
    entity = query.entity
    if entity is None:
        return False
    if query.topic in {"procedures", "immunizations"}:
        return _any_done(query, entity, named, record, sheet)
    standing = [fact for fact in named if is_active(fact)]
    over = [fact for fact in named if not is_active(fact)]
    if not standing:
        return _any_over(query, entity, over, record, sheet)
    if query.topic == "medications" and not any(fact.dosage for fact in named):
        sheet.missing(f"dosage instructions for {thing_name(entity)}")
    kinds = _distinct(standing)
    word = "current" if query.topic == "medications" else "active"
    sheet.say(f"Yes, {word}: {_each(kinds[:_MOST_NAMED], sheet)}.")
    past = [
        f
        for f in _distinct([one for one in over if is_over(one)])
        if plain_name(f) not in {plain_name(k) for k in kinds}
    ]
    if past:
        sheet.say(f"Also in the past: {_each(past[:4], sheet)}.")
    return True


def _any_done(
    query: Query, entity: Entity, named: list[Fact], record: RecordFacts, sheet: Sheet
) -> bool:
    newest = named[0]
    if query.status == "active":
        sheet.say(f"Last recorded: {_line(newest)} {sheet.cite(newest)}.")
        if "removal" not in newest.name.lower():
            sheet.say("Whether that still stands is not recorded.")
            sheet.missing(f"whether {thing_name(entity)} still stands")
    else:
        lead = "Last done: " if query.field else "Yes: "  # "yes" would be read as the result
        sheet.say(f"{lead}{_line(newest)} {sheet.cite(newest)}.")
    if query.field and not _found(entity, newest, named, record, sheet):
        return False
    if len(named) > 1:
        sheet.count(f"In all: {len(named)} entries.")
    others = [fact for fact in _distinct(named) if plain_name(fact) != plain_name(newest)]
    if others:
        sheet.say(f"Also: {_each(others[:4], sheet)}.")
    return True


def _any_over(
    query: Query, entity: Entity, over: list[Fact], record: RecordFacts, sheet: Sheet
) -> bool:
    ended = [fact for fact in over if is_over(fact)]
    kinds = _distinct(ended or over)
    listed = _each(kinds[:_MOST_NAMED], sheet)
    if all(not fact.status for fact in over):
        sheet.say(f"Recorded, without saying whether it stands now: {listed}.")
        return True
    if all(fact.status == "proposed" for fact in over):
        sheet.say(f"Only proposed, not ordered: {listed}.")
        return True
    done = _done_for(entity, record)
    if not ended:
        sheet.say("Recorded, neither as current nor as ended:")
        for fact in kinds[:_MOST_NAMED]:  # in its own words: it denies as much as it states
            sheet.say(f"- {fact.line.rstrip('.')} {sheet.cite(fact)}")
    elif done:
        sheet.say(f"Among the medicines only in the past: {listed}.")
    elif query.status == "active":
        sheet.say(f"Not now, only in the past: {listed}.")
    else:
        sheet.say(f"Yes, in the past, not now: {listed}.")
    if done:
        sheet.say(f"Among the procedures: {_each(done, sheet)}.")
    unsettled = _distinct([fact for fact in over if fact not in ended]) if ended else []
    if unsettled:
        sheet.say(f"Neither as current nor as ended: {_each(unsettled[:_MOST_NAMED], sheet)}.")
    if len(over) > len(kinds):
        sheet.count(f"In all: {len(over)} entries.")
    return True


def _stopped(_query: Query, named: list[Fact], _record: RecordFacts, sheet: Sheet) -> bool:
    """Does it stand still? Said by its state, since yes and no would both mislead."""
    standing = _distinct([fact for fact in named if is_active(fact)])
    over = _distinct([fact for fact in named if is_over(fact)])
    chosen, lead = (standing, "Still active") if standing else (over, "Ended")
    if not chosen:
        chosen, lead = _distinct(named), "Recorded, neither as current nor as ended"
    if not all(fact.status for fact in chosen):
        return False
    listed = "; ".join(f"{_line(fact)} {sheet.cite(fact)}" for fact in chosen[:_MOST_NAMED])
    sheet.say(f"{lead}: {listed}.")
    return True


def _count(query: Query, named: list[Fact], _: RecordFacts, sheet: Sheet) -> bool:
    name = thing_name(query.entity) if query.entity is not None else "it"
    span = f" {query.window.said}" if query.window is not None else ""
    noun = {"medications": "order", "conditions": "entry", "procedures": "entry"}.get(
        query.topic, "entry"
    )
    plural = "entries" if noun == "entry" else "orders"
    many = f"{len(named)} {noun if len(named) == 1 else plural}"
    sheet.count(f"{_sentence(name)}{span}: {many}:")
    _entries(named, sheet)
    return True


def _list(query: Query, named: list[Fact], _: RecordFacts, sheet: Sheet) -> bool:
    name = thing_name(query.entity) if query.entity is not None else "it"
    span = f" {query.window.said}" if query.window is not None else ""
    many = f"{len(named)} entr{'y' if len(named) == 1 else 'ies'}"
    if query.last is not None:
        shown = f"the last {query.last} of {many}" if query.last < len(named) else many
        sheet.count(f"{_sentence(name)}{span}, {shown}, newest first:")
        _entries(named, sheet, most=query.last)
        return True
    sheet.count(f"Yes: {name}{span} is recorded, {many}, newest first:")
    _entries(named, sheet)
    return True


def _found(
    entity: Entity, done: Fact, reports: Sequence[Fact], record: RecordFacts, sheet: Sheet
) -> bool:
    """Tell what a procedure measured that day; that nothing says what it showed.

    Returns:
        False where a document may say it.
    """
    told = bool(done.noted) or any(fact.noted for fact in reports if _reports(fact, done))
    for key in results_by(entity.key):
        measured = Entity(kind="analyte", key=key, said=key)
        for one in readings_of(measured, record.of("observations")):
            if one.day == day_of(done):
                sheet.say(f"{one.name}: {one.dated} {sheet.cite(one.fact)}.")
                told = True
    if not told and record.of("documents"):
        return False
    if not told:
        sheet.say("What it showed is not recorded.")
        sheet.missing(f"what {plain_name(done)} showed")
    return True


def _reports(fact: Fact, done: Fact) -> bool:
    """True of the report of what was done that day: no second time that it was done."""
    apart = fact.category == "reports" and done.category == "procedures"
    return apart and day_of(fact) == day_of(done)


def _when(query: Query, named: list[Fact], record: RecordFacts, sheet: Sheet) -> bool:
    dated = [fact for fact in named if day_of(fact) is not None]
    if not dated:
        sheet.say(f"Recorded without an exact date: {named[0].line} {sheet.cite(named[0])}.")
        sheet.missing(f"the date of {plain_name(named[0])}")
        return True
    first = query.ask == "when_first"
    chosen = dated[-1] if first else dated[0]
    verb = _VERBS[query.topic][0 if first else 1]
    status = f"{chosen.status}, " if query.topic in {"medications", "conditions"} else ""
    said = _noted(chosen, ". As recorded: ")
    sheet.say(
        f"{plain_name(chosen)}: {status}{verb} {when_text(chosen)}{said} {sheet.cite(chosen)}."
    )
    along = [fact for fact in dated if _reports(fact, chosen)]
    for fact in along:
        sheet.say(f"{_line(fact)} {sheet.cite(fact)}.")
    if query.field and query.entity and not _found(query.entity, chosen, along, record, sheet):
        return False
    dated = [fact for fact in dated if fact not in along]
    if len(dated) > 1:
        other = dated[0] if first else dated[-1]
        word = "Most recent" if first else "First"
        sheet.count(f"In all: {len(dated)} entries.")
        sheet.say(f"{word}: {_line(other)} {sheet.cite(other)}.")
    return True


def _when_end(_query: Query, named: list[Fact], _record: RecordFacts, sheet: Sheet) -> bool:
    ended = [fact for fact in named if fact.end is not None]
    newest = named[0]
    if not ended:
        sheet.say(f"No end date is recorded: {_line(newest)} {sheet.cite(newest)}.")
        if not newest.noted:
            sheet.missing(f"an end date of {plain_name(newest)}")
        return True
    chosen = max(ended, key=lambda fact: fact.end.timestamp() if fact.end else 0.0)
    end = _end(chosen)
    sheet.say(
        f"{plain_name(chosen)} ended {'on' if end.count(' ') > 1 else 'in'} {end}; it began {on_text(chosen)} "
        f"{sheet.cite(chosen)}."
    )
    return True


def _length(query: Query, named: list[Fact], record: RecordFacts, sheet: Sheet) -> bool:
    """How long it lasted: from and to where it has ended, since when where it stands."""
    ended = [fact for fact in named if fact.end is not None]
    if not ended:
        return _when(replace(query, ask="when_first"), named, record, sheet)
    for fact in ended[:_MOST_NAMED]:
        sheet.say(f"{plain_name(fact)}: from {when_text(fact)} to {_end(fact)} {sheet.cite(fact)}.")
    standing = [fact for fact in named if is_active(fact) and fact not in ended]
    if standing:
        sheet.say(f"Still active: {_each(_distinct(standing), sheet)}.")
    return True


_DID = {"medications": "ordered", "procedures": "done"}


def _who(query: Query, named: list[Fact], _: RecordFacts, sheet: Sheet) -> bool:
    """Who ordered the medicine, or did the procedure, or where: the newest entry that says it."""
    newest = named[0]
    chosen = next((fact for fact in named if fact.people), newest)
    if query.ask == "where":
        chosen = newest
    did = f"{plain_name(chosen)}, {_DID[query.topic]} {when_text(chosen)}"
    people = [name for name in chosen.people if name in chosen.line]
    if people and query.ask == "who":
        sheet.say(f"{did}: by {', '.join(people)} {sheet.cite(chosen)}.")
        return True
    place = f", at {chosen.facility}" if chosen.facility else ""
    if query.ask == "where":
        sheet.say(f"{did}{place or ': where is not recorded'} {sheet.cite(chosen)}.")
        return True
    sheet.say(f"Not recorded: by whom {did}{place} {sheet.cite(chosen)}.")
    sheet.missing(f"who {'ordered' if query.topic == 'medications' else 'did'} it")
    return True


def _why(query: Query, named: list[Fact], _: RecordFacts, sheet: Sheet) -> bool:
    """What a medicine was ordered for, or why it ended, where its own entry says it."""
    ended = query.ask == "why_end"
    pool = [fact for fact in named if is_active(fact) != ended] or ([] if ended else named)
    told = [fact for fact in _distinct(pool) if (fact.noted if ended else fact.reasons)]
    for fact in told[:_MOST_NAMED]:
        reasons = "" if ended else f"for {', '.join(fact.reasons)}: "
        sheet.say(f"{_sentence(reasons)}{_line(fact)} {sheet.cite(fact)}.")
    return bool(told)


def given_for(entity: Entity, medicines: Sequence[Fact]) -> list[Fact]:
    """The medicines whose own entries name the problem as what they are for."""
    return [
        fact
        for fact in medicines
        if any(matching(entity, (replace(fact, name=one, synonyms=()),)) for one in fact.reasons)
    ]


def _for(entity: Entity, medicines: Sequence[Fact], sheet: Sheet) -> bool:
    """What is taken for a problem, by the reasons that orders name; which orders name none."""
    given = given_for(entity, medicines)
    standing = _distinct([fact for fact in given if is_active(fact)])
    name = thing_name(entity)
    if standing:
        sheet.count(f"Current medicines ordered for {name}:")
        _entries(standing, sheet)
    elif not given:
        sheet.say(f"No order of a medicine names {name} as its reason.")
        sheet.missing(f"a medicine ordered for {name}")
    else:
        past = _distinct(given)[:_MOST_NAMED]
        sheet.say(f"For {name} no current medicine; in the past: {_each(past, sheet)}.")
    silent = _distinct([fact for fact in medicines if is_active(fact) and not fact.reasons])
    if silent:
        names = "; ".join(f"{plain_name(f)} {sheet.cite(f)}" for f in silent[:_MOST_NAMED])
        sheet.say(f"Current with no reason recorded: {names}.")
    return True


_ASKS: dict[str, Callable[[Query, list[Fact], RecordFacts, Sheet], bool]] = {
    "any": _any,
    "dose": _any,
    "stopped": _stopped,
    "count": _count,
    "list": _list,
    "when_first": _when,
    "when_last": _when,
    "when_end": _when_end,
    "length": _length,
    "who": _who,
    "where": _who,
    "why": _why,
    "why_end": _why,
}
