"""Answers about relatives: what they have had, never what the patient has. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bedside.flows.copilot.names import matching
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.events import thing_name
from bedside.flows.copilot.tools.sheet import Sheet, on_text
from bedside.record.needs import Fact, RecordFacts

__all__ = ["answer_family", "tell_family"]

_LEAD = "Family history, "


def answer_family(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Whether a relative, or any, is recorded with a problem; what is recorded of the family."""
    everything = record.of("family_history")
    asked = [one for one in everything if query.field in one.name.lower()]
    whom = f" of the {query.field}" if query.field not in {"", "grand"} else ""
    if not everything:
        sheet.say("No family history is recorded, which does not say that there is none.")
        sheet.missing("family history")
        return True
    if query.entity is None:
        tell_family(asked or everything, sheet)
        return True
    found = [fact for fact in asked if _names(query.entity, fact)]
    if found:
        sheet.say(f"Yes, in the family history: {_each(found, sheet)}.")
        return True
    name = thing_name(query.entity)
    sheet.say(f"Not recorded in the family history{whom}: {name}.")
    sheet.missing(f"{name} in the family history{whom}")
    tell_family(everything, sheet)
    return True


def tell_family(facts: Sequence[Fact], sheet: Sheet) -> None:
    """All that is recorded of relatives, in one line."""
    left = [fact for fact in facts if not sheet.cites(fact)]
    if left:
        sheet.say(f"Family history as recorded: {_each(left, sheet)}.")


def _names(entity: Entity, fact: Fact) -> bool:
    """True where one of the relative's problems is the thing, or close to it."""
    problems = [replace(fact, name=one, synonyms=()) for one in fact.text_value.split(", ")]
    return bool(matching(entity, problems))


def _each(facts: Sequence[Fact], sheet: Sheet) -> str:
    return "; ".join(
        f"{fact.name.removeprefix(_LEAD)}: {fact.text_value or 'no condition named'}, "
        f"recorded {on_text(fact).removeprefix('on ')} {sheet.cite(fact)}"
        for fact in facts
    )
