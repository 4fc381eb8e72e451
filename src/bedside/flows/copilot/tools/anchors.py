"""A time said by what happened, found in the record: "before the admission". Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from bedside.flows.copilot.names import matching
from bedside.flows.copilot.query import Anchor, Query, Window
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name
from bedside.flows.copilot.tools.visits import of_class
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Category, Fact, RecordFacts

__all__ = ["anchored"]

_POOLS: dict[str, Category] = {
    "drug": "medications",
    "condition": "conditions",
    "procedure": "procedures",
}


def anchored(query: Query, record: RecordFacts, sheet: Sheet) -> Query | None:
    """The query with the window that its anchor means, and a line that says which event it is.

    Returns:
        `None` where the record does not date the event.
    """
    anchor = query.anchor
    found = _event(anchor, record) if anchor is not None else None
    start = day_of(found) if found is not None else None
    if anchor is None or found is None or start is None:
        return None
    name, day = plain_name(found), timedelta(days=1)
    end = found.end.date() if anchor.visit and found.end is not None else start
    sheet.say(f"{name}: {_dates(start, end)} {sheet.cite(found)}.")
    if anchor.side == "before":
        window = Window(start=None, end=start - day, said=f"before {day_text(start)}")
    else:
        window = Window(start=end, end=None, said=f"since {day_text(end)}")
    return replace(query, anchor=None, window=window)


def _dates(start: date, end: date) -> str:
    return f"{day_text(start)} to {day_text(end)}" if end > start else day_text(start)


def _event(anchor: Anchor, record: RecordFacts) -> Fact | None:
    """The newest such visit, procedure or problem; of a medicine the first order."""
    if anchor.visit:
        visits = of_class(anchor.visit, record.of("timeline"))
        return visits[0] if visits else None
    for thing in anchor.things:
        dated = [
            fact
            for fact in matching(thing, record.of(_POOLS[thing.kind]))
            if day_of(fact) is not None
        ]
        if dated:
            return dated[-1] if thing.kind == "drug" else dated[0]
    return None
