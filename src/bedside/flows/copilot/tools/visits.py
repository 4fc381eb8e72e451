"""Answers about encounters. Pure."""

from __future__ import annotations

from bedside.flows.copilot.query import Query
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, when_text
from bedside.record.needs import Fact, RecordFacts

__all__ = ["answer_visits"]

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


def answer_visits(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Answer a query about encounters; `False` where the classes are not recorded."""
    everything = record.of("timeline")
    if query.visit and not any(fact.group for fact in everything) and everything:
        return False
    found = [
        fact
        for fact in everything
        if (not query.visit or fact.group.lower() in _CLASSES[query.visit])
        and (query.window is None or query.window.holds(day_of(fact)))
    ]
    noun = _NAMES[query.visit]
    span = f" {query.window.said}" if query.window is not None else ""
    if not found:
        sheet.missing(f"{noun}{span}")
        sheet.say(f"No {noun} is recorded{span}.")
        _nearest(query, everything, sheet)
        return True
    many = f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"
    if query.ask in {"when_last", "when_first"}:
        last = query.ask == "when_last"
        chosen = found[0] if last else found[-1]
        sheet.say(
            f"{'Last' if last else 'First'} {noun}{span}: {when_text(chosen)}, {_what(chosen)} {sheet.cite(chosen)}."
        )
        return True
    lead = "Yes: " if query.ask == "any" else ""
    shown = found[: query.last or _MOST_LISTED]
    if query.last is not None:
        many = f"Last {len(shown)} {noun}{'' if len(shown) == 1 else 's'}"
    sheet.count(f"{lead}{many}{span}, newest first:")
    if query.ask == "count" and len(found) > _MOST_COUNTED:
        shown = found[:5]
    for fact in shown:
        sheet.say(f"- {when_text(fact)}: {_what(fact)} {sheet.cite(fact)}")
    if len(found) > len(shown) and query.last is None:
        oldest = found[-1]
        sheet.say(f"- the first: {when_text(oldest)}, {_what(oldest)} {sheet.cite(oldest)}")
        sheet.count(f"- and {len(found) - len(shown) - 1} between")
    return True


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
    return f"{plain_name(fact)}{reason}{place}"
