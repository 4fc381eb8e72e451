"""Answers about encounters. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.flows.copilot.query import Query
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, when_text
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Fact, RecordFacts

__all__ = ["answer_visits", "of_class"]

_CLASSES = {
    "inpatient": {"imp", "inpatient", "acute", "nonac", "ss", "obsenc"},
    "emergency": {"emer", "emergency"},
    "ambulatory": {"amb", "ambulatory"},
    "outpatient": {"outpatient", "amb", "ambulatory"},
    "wellness": {"wellness"},
    "urgentcare": {"urgentcare", "urgent care"},
}
_NAMES = {
    "inpatient": "inpatient stay",
    "emergency": "emergency visit",
    "ambulatory": "ambulatory visit",
    "outpatient": "outpatient visit",
    "wellness": "wellness visit",
    "urgentcare": "urgent care visit",
    "": "encounter",
}
_MOST_LISTED = 20
_MOST_COUNTED = 8
_MOST_TIMED = 3


def answer_visits(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Answer a query about encounters; `False` where the classes are not recorded."""
    everything = record.of("timeline")
    if query.visit and not any(fact.group for fact in everything) and everything:
        return False
    found = [
        fact
        for fact in of_class(query.visit, everything)
        if query.window is None or query.window.holds(day_of(fact))
    ]
    noun = _NAMES[query.visit]
    span = f" {query.window.said}" if query.window is not None else ""
    if not found:
        sheet.missing(f"{noun}{span}")
        sheet.say(f"No {noun} is recorded{span}.")
        _nearest(query, everything, sheet)
        return True
    if query.ask == "length":
        return _length(noun, found, sheet)
    many = f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"
    if query.ask in {"when_last", "when_first"}:
        last = query.ask == "when_last"
        chosen = found[0] if last else found[-1]
        line = f"{'Last' if last else 'First'} {noun}{span}: {_days(chosen)}, {_what(chosen)}"
        if not sheet.cites(chosen):
            sheet.say(f"{line} {sheet.cite(chosen)}.")
        unsaid = {
            "who": not chosen.people,
            "why": not chosen.reasons,
            "where": not chosen.facility,
        }.get(query.field, False)
        if unsaid:
            what = {"who": "who saw the patient", "why": "a reason", "where": "where"}[query.field]
            sheet.say(f"Not recorded in it: {what}.")
            sheet.missing(f"{what} on {when_text(chosen)}")
        return True
    lead = "Yes: " if query.ask == "any" else ""
    shown = found[: query.last or _MOST_LISTED]
    if query.last is not None:
        many = f"Last {len(shown)} {noun}{'' if len(shown) == 1 else 's'}"
    sheet.count(f"{lead}{many}{span}, newest first:")
    if query.ask == "count" and len(found) > _MOST_COUNTED:
        shown = found[:5]
    for fact in shown:
        sheet.say(f"- {_days(fact)}: {_what(fact)} {sheet.cite(fact)}")
    if len(found) > len(shown) and query.last is None:
        oldest = found[-1]
        sheet.say(f"- the first: {when_text(oldest)}, {_what(oldest)} {sheet.cite(oldest)}")
        sheet.count(f"- and {len(found) - len(shown) - 1} between")
    return True


def of_class(visit: str, facts: Sequence[Fact]) -> list[Fact]:
    """The encounters of a class of visit, all of them for "", in the given order."""
    return [fact for fact in facts if not visit or fact.group.lower() in _CLASSES[visit]]


def _nearest(query: Query, everything: tuple[Fact, ...], sheet: Sheet) -> None:
    if everything and (query.window is not None or query.visit):
        newest = everything[0]
        sheet.say(
            f"The newest encounter of any kind is {when_text(newest)}, {_what(newest)} {sheet.cite(newest)}."
        )


def _what(fact: Fact) -> str:
    """Kind of encounter and, where recorded, its reason and place."""
    reason = f", for {'; '.join(fact.reasons)}" if fact.reasons else ""
    place = f", at {fact.facility}" if fact.facility else ""
    people = [name for name in fact.people if name in fact.line]
    whom = f", with {', '.join(people)}" if people else ""
    return f"{plain_name(fact)}{reason}{whom}{place}"


def _days(fact: Fact) -> str:
    """The day of a visit, or both ends of one over several days."""
    start, end = day_of(fact), fact.end.date() if fact.end is not None else None
    over = start is not None and end is not None and end > start
    return f"{when_text(fact)} to {day_text(end)}" if over and end else when_text(fact)


def _length(noun: str, found: list[Fact], sheet: Sheet) -> bool:
    """How long the newest stays were, from their own dates."""
    for fact in found[:_MOST_TIMED]:
        start, end = day_of(fact), fact.end.date() if fact.end is not None else None
        if start is None or end is None:
            sheet.say(f"No end is recorded: {when_text(fact)}, {_what(fact)} {sheet.cite(fact)}.")
            sheet.missing(f"the end of the {noun}")
            continue
        nights = (end - start).days
        many = f"{nights} night{'' if nights == 1 else 's'}" if nights else "the same day"
        sheet.say(f"Calculated: {many}, {_days(fact)}: {_what(fact)} {sheet.cite(fact)}.")
        sheet.calculated(f"{many} from {_days(fact)}")
    if len(found) > _MOST_TIMED:
        sheet.count(f"The newest {_MOST_TIMED} of {len(found)}.")
    return True
