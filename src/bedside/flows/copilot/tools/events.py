"""Answers about one named medicine, problem, procedure or vaccine. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from difflib import SequenceMatcher

from bedside.clinical.vocabulary import expand
from bedside.flows.copilot.names import group_name, matching, nearby
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, when_text
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Category, Fact, RecordFacts

__all__ = ["answer_event", "is_active", "mentions", "thing_name"]

_ACTIVE = {
    "medications": {"active"},
    "conditions": {"active", "recurrence", "relapse"},
    "careplans": {"active"},
    "goals": {"active", "accepted", "in-progress"},
    "orders": {"active"},
}
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


def is_active(fact: Fact) -> bool:
    """True when the entry's own status says that it stands now."""
    return fact.status in _ACTIVE.get(fact.category, set())


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
    all_named = matching(query.entity, everything)
    if query.topic == "procedures":
        all_named += matching(query.entity, record.of("reports"))
        all_named += _history(query.entity, record)
    named = [fact for fact in all_named if query.window is None or query.window.holds(day_of(fact))]
    if query.status == "inactive" and query.ask != "any":
        named = [fact for fact in named if not is_active(fact)]
    if query.ask == "dose" and not any(is_active(fact) for fact in named):
        # "The dose of X" may ask for the dose to give: only what she takes is answered by rule.
        return False
    if not named:
        return _none(query, record, everything, all_named, sheet)
    match query.ask:
        case "any" | "dose":
            return _any(query, named, sheet)
        case "stopped":
            return _stopped(named, sheet)
        case "count":
            return _count(query, named, sheet)
        case "list":
            return _list(query, named, sheet)
        case "when_first" | "when_last":
            return _when(query, named, sheet)
        case "when_end":
            return _when_end(named, sheet)
        case _:
            return False


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
    sheet.missing(f"{name}{span}")
    total = dict(record.total).get(query.topic, len(everything))
    looked = (
        f"none of {place} in this record matches" if total else f"no {query.topic} are recorded"
    )
    sheet.say(f"Not recorded: {name}{span} ({looked}).")
    if outside:
        newest = outside[0]
        sheet.say(f"Outside that time: {_line(newest)} {sheet.cite(newest)}.")
        return True
    related = _related(query, entity, record)
    if related:
        names = "; ".join(f"{_line(fact)} {sheet.cite(fact)}" for fact in related)
        sheet.say(f"Related entries, which do not say the same: {names}.")
    return True


def _related(query: Query, entity: Entity, record: RecordFacts) -> list[Fact]:
    if query.topic == "conditions":
        pool = [*record.of("conditions"), *record.of("procedures")]
        return _distinct([*mentions(entity, record), *nearby(entity, pool)])[:3]
    if query.topic == "medications" and entity.kind == "drug_class":
        problems = record.of("conditions")
        return _distinct([fact for fact in problems if entity.key in fact.name.lower()])[:3]
    if query.topic == "procedures":
        return _distinct(nearby(entity, record.of("procedures")))[:3]
    return []


def mentions(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Alerts and medicines whose own words name a problem that is no entry among the problems."""
    said = {entity.said.lower(), entity.key.lower()}
    said |= {one.replacement.lower() for word in tuple(said) for one in expand(word)}
    forms = [word for word in said if len(word) > _SHORT]
    pool = [*record.of("alerts"), *record.of("medications")]
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
                f"{dose}{old}"
            )
        case "conditions":
            return f"{name}, {_standing(fact)}"
        case _:
            return f"{name} on {when_text(fact)}"


def _standing(fact: Fact) -> str:
    end = f", ended {_end(fact)}" if fact.end is not None else ""
    status = fact.status or "status not recorded"
    return f"{status}, since {when_text(fact)}{end}"


def _end(fact: Fact) -> str:
    return day_text(_end_day(fact)) if fact.end is not None else "not recorded"  # type: ignore[arg-type]


def _end_day(fact: Fact) -> date | None:
    return fact.end.date() if fact.end is not None else None


def _entries(facts: Sequence[Fact], sheet: Sheet) -> None:
    shown = facts[:_MOST_NAMED]
    for fact in shown:
        sheet.say(f"- {_line(fact)} {sheet.cite(fact)}")
    if len(facts) > len(shown):
        oldest = facts[-1]
        sheet.say(f"- the first: {_line(oldest)} {sheet.cite(oldest)}")
        sheet.count(f"- and {len(facts) - len(shown) - 1} between")


def _any(query: Query, named: list[Fact], sheet: Sheet) -> bool:
    entity = query.entity
    if entity is None:
        return False
    name = thing_name(entity)
    newest = named[0]
    if query.topic == "medications" and not any(fact.dosage for fact in named):
        sheet.missing(f"dosage instructions for {name}")
    if query.topic in {"procedures", "immunizations"}:
        sheet.say(f"Yes: {_line(newest)} {sheet.cite(newest)}.")
        if len(named) > 1:
            sheet.count(f"In all: {len(named)} entries.")
        others = [fact for fact in _distinct(named) if plain_name(fact) != plain_name(newest)]
        if others:
            sheet.say("Also: " + "; ".join(f"{_line(f)} {sheet.cite(f)}" for f in others[:4]) + ".")
        return True
    standing = [fact for fact in named if is_active(fact)]
    over = [fact for fact in named if not is_active(fact)]
    if standing:
        kinds = _distinct(standing)
        word = "current" if query.topic == "medications" else "active"
        lead = f"Yes, {word}: "
        sheet.say(
            lead + "; ".join(f"{_line(f)} {sheet.cite(f)}" for f in kinds[:_MOST_NAMED]) + "."
        )
        past = [f for f in _distinct(over) if plain_name(f) not in {plain_name(k) for k in kinds}]
        if past:
            sheet.say(
                "Also in the past: "
                + "; ".join(f"{_line(f)} {sheet.cite(f)}" for f in past[:4])
                + "."
            )
        return True
    if all(not fact.status for fact in over):
        sheet.say(
            "Recorded, without saying whether it stands now: "
            + "; ".join(f"{_line(f)} {sheet.cite(f)}" for f in _distinct(over)[:_MOST_NAMED])
            + "."
        )
        return True
    kinds = _distinct(over)
    listed = "; ".join(f"{_line(f)} {sheet.cite(f)}" for f in kinds[:_MOST_NAMED])
    if query.status == "active":
        sheet.say(f"No, only in the past: {listed}.")
    else:
        sheet.say(f"Yes, in the past, not now: {listed}.")
    if len(over) > len(kinds):
        sheet.count(f"In all: {len(over)} entries.")
    return True


def _stopped(named: list[Fact], sheet: Sheet) -> bool:
    """Does it stand still? Said by its state, since yes and no would both mislead."""
    standing = _distinct([fact for fact in named if is_active(fact)])
    over = _distinct([fact for fact in named if not is_active(fact)])
    chosen, lead = (standing, "Still active") if standing else (over, "Ended")
    if not all(fact.status for fact in chosen):
        return False
    listed = "; ".join(f"{_line(fact)} {sheet.cite(fact)}" for fact in chosen[:_MOST_NAMED])
    sheet.say(f"{lead}: {listed}.")
    return True


def _count(query: Query, named: list[Fact], sheet: Sheet) -> bool:
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


def _list(query: Query, named: list[Fact], sheet: Sheet) -> bool:
    name = thing_name(query.entity) if query.entity is not None else "it"
    span = f" {query.window.said}" if query.window is not None else ""
    many = f"{len(named)} entr{'y' if len(named) == 1 else 'ies'}"
    sheet.count(f"Yes: {name}{span} is recorded, {many}, newest first:")
    _entries(named, sheet)
    return True


def _when(query: Query, named: list[Fact], sheet: Sheet) -> bool:
    dated = [fact for fact in named if day_of(fact) is not None]
    if not dated:
        sheet.say(f"Recorded without a date: {plain_name(named[0])} {sheet.cite(named[0])}.")
        sheet.missing(f"the date of {plain_name(named[0])}")
        return True
    first = query.ask == "when_first"
    chosen = dated[-1] if first else dated[0]
    verb = _VERBS[query.topic][0 if first else 1]
    status = f"{chosen.status}, " if query.topic in {"medications", "conditions"} else ""
    sheet.say(f"{plain_name(chosen)}: {status}{verb} {when_text(chosen)} {sheet.cite(chosen)}.")
    if len(dated) > 1:
        other = dated[0] if first else dated[-1]
        word = "Most recent" if first else "First"
        sheet.count(f"In all: {len(dated)} entries.")
        sheet.say(f"{word}: {_line(other)} {sheet.cite(other)}.")
    return True


def _when_end(named: list[Fact], sheet: Sheet) -> bool:
    ended = [fact for fact in named if fact.end is not None]
    newest = named[0]
    if not ended:
        sheet.say(f"No end date is recorded: {_line(newest)} {sheet.cite(newest)}.")
        sheet.missing(f"an end date of {plain_name(newest)}")
        return True
    chosen = max(ended, key=lambda fact: fact.end.timestamp() if fact.end else 0.0)
    sheet.say(
        f"{plain_name(chosen)} ended on {_end(chosen)}; it began on {when_text(chosen)} "
        f"{sheet.cite(chosen)}."
    )
    return True
