"""All queries of a question, or none of them. Pure."""

from __future__ import annotations

from datetime import date

from bedside.core.turn import Draft
from bedside.flows.copilot.names import matching
from bedside.flows.copilot.query import Query
from bedside.flows.copilot.tools.allergies import answer_allergies, warn_of_alert, warn_of_allergy
from bedside.flows.copilot.tools.anchors import anchored
from bedside.flows.copilot.tools.events import answer_event
from bedside.flows.copilot.tools.family import answer_family
from bedside.flows.copilot.tools.figures import answer_figures
from bedside.flows.copilot.tools.lists import answer_list
from bedside.flows.copilot.tools.panels import answer_group, answer_panel
from bedside.flows.copilot.tools.person import answer_age_at, answer_person
from bedside.flows.copilot.tools.sheet import Sheet
from bedside.flows.copilot.tools.visits import answer_visits
from bedside.record.needs import RecordFacts

__all__ = ["answer_into", "answer_queries"]


def answer_queries(
    queries: tuple[Query, ...], record: RecordFacts, *, today: date, words: int | None = None
) -> Draft | None:
    """One draft for all queries, in order, or `None` when one of them has no exact answer.

    It keeps to so many `words`; `None` is no limit.
    """
    if not queries:
        return None
    sheet = Sheet()
    if not answer_into(sheet, queries, record, today=today):
        return None
    if words is not None:
        sheet.fit(words)
    return sheet.draft()


def answer_into(
    sheet: Sheet, queries: tuple[Query, ...], record: RecordFacts, *, today: date
) -> bool:
    """Write the answers of all queries; `False` when one of them has no exact answer."""
    for query in queries:
        before = len(sheet.lines)
        if not query.field or query.topic == "allergies":
            sheet.gap()
        if query.anchor is not None:
            settled = anchored(query, record, sheet)
            if settled is None:
                return False
            query = settled  # noqa: PLW2901
        if query.window is not None:
            sheet.calculated(f"asked {query.window.said}")
        if not _answer(query, record, sheet, today):
            return False
        sheet.once(before)  # "ever in hospital, and why?" where she never was
    return True


def _answer(query: Query, record: RecordFacts, sheet: Sheet, today: date) -> bool:
    match query.topic:
        case "person":
            return answer_person(query, record, sheet, today=today)
        case "allergies":
            return answer_allergies(query, record, sheet)
        case "timeline":
            return answer_visits(query, record, sheet)
        case "labs" | "vitals":
            return answer_group(query, record, sheet)
        case "observations":
            if query.entity is not None and query.entity.kind == "panel":
                return answer_panel(query, record, sheet)
            return answer_figures(query, record, sheet)
        case "family_history" if query.ask == "any":
            return answer_family(query, record, sheet)
        case _ if query.field == "age" and query.entity is not None:
            return answer_age_at(query, record, sheet)
        case _ if query.entity is not None:
            answered = answer_event(query, record, sheet)
            if answered and query.topic == "medications" and query.ask in {"any", "dose"}:
                warn_of_allergy(query.entity, record, sheet)
            if answered and query.ask in {"any", "dose"}:
                warn_of_alert(query.entity, record, sheet)
                _contradicted(query, record, sheet)
            return answered
        case _:
            return answer_list(query, record, sheet)


_OF_STANDING = {"active-and-resolved", "active-past-end", "medicine-twice", "class-twice"}


def _contradicted(query: Query, record: RecordFacts, sheet: Sheet) -> None:
    """Say beside "yes" that entries disagree about the thing: the answer rests on one of them."""
    if query.entity is None:
        return
    named = {fact.source.id for fact in matching(query.entity, record.facts)}
    for found in record.contradictions:
        if found.rule in _OF_STANDING and any(one.source.id in named for one in found.facts):
            line = f"Contradiction: {found.text.rstrip('.')} {sheet.cite(*found.facts)}."
            if line not in sheet.lines:
                sheet.say(line)
