"""From a message to what the turn needs: intent, categories, queries, mode (CO-01, CO-02). Pure."""

from __future__ import annotations

from typing import Any

from bedside.core.turn import Got, Need, Plan, TurnRequest
from bedside.core.value import value
from bedside.flows.copilot.intents import Intent, classify
from bedside.flows.copilot.modes import mode_of
from bedside.flows.copilot.names import classes_of, record_lexicon
from bedside.flows.copilot.query import Parsed
from bedside.flows.copilot.reading import parse
from bedside.flows.flow import Opened, View
from bedside.knowledge.needs import Hits, SearchNeed
from bedside.record.needs import Category, RecordFacts, RecordNeed

__all__ = ["Nothing", "again", "facts_of", "hits_of", "parsed_of", "plan_turn", "second_round"]

_DOCUMENTS = 5
_FRESH = 10
_KNOWLEDGE = 5
_SUGGESTED = 3
_LONGEST_QUERY = 400
_OPEN_STATES = {"active", "recurrence", "relapse"}


@value
class Nothing:
    """The copilot keeps no state of its own between turns: the session's history is enough."""


def grounded(opened: Opened[Nothing]) -> bool:
    """True when the turn is about a patient."""
    return opened.grant.patient is not None


def plan_turn(request: TurnRequest, opened: Opened[Nothing]) -> Plan:
    """The smallest set of needs that answers the message; a full fetch where no pattern knows it."""
    parsed = parse(request.text, today=opened.as_of)
    intent = classify(request.text, parsed)
    mode = mode_of(request.option("mode"), text=request.text, otherwise=intent.mode)
    needs: list[Need[Any]] = []
    queries: list[str] = []
    query = request.text[:_LONGEST_QUERY]
    if grounded(opened):
        if intent.fetch or not intent.known:
            needs.append(_record_need(intent, parsed))
        if _wants_documents(request, intent, parsed):
            needs.append(
                SearchNeed(
                    name="documents",
                    query=query,
                    corpus="documents",
                    limit=_FRESH if request.documents else _DOCUMENTS,
                    selected=tuple(request.selected),
                    fresh=tuple(request.documents),
                )
            )
            queries.append(query)
    if _wants_knowledge(opened, intent, parsed):
        classes = [name for one in parsed.entities for name in classes_of(one)]
        query = " ".join([query, *dict.fromkeys(classes)])
        needs.append(
            SearchNeed(name="knowledge", query=query, corpus="knowledge", limit=_KNOWLEDGE)
        )
        queries.append(query)
    return Plan(
        intent=intent.name,
        needs=tuple(needs),
        categories=_shown_categories(needs),
        queries=tuple(dict.fromkeys(queries)),
        source="rules" if intent.known else "fallback",
        mode=mode.name,
        clinical=intent.clinical or _general(opened, intent),
    )


def _general(opened: Opened[Nothing], intent: Intent) -> bool:
    """Without a patient every real question is a clinical one."""
    return not grounded(opened) and intent.name not in {"greeting", "clarification"}


def _record_need(intent: Intent, parsed: Parsed) -> RecordNeed:
    fetch: list[Category] = ["demographics", *intent.fetch]
    return RecordNeed(
        name="record",
        categories=tuple(dict.fromkeys(fetch)),
        limits=not (parsed.queries or parsed.entities),
    )


def _shown_categories(needs: list[Need[Any]]) -> tuple[str, ...]:
    found = [need for need in needs if isinstance(need, RecordNeed)]
    return tuple(
        dict.fromkeys((*(cat for need in found for cat in need.categories), "allergies", "alerts"))
        if found
        else ()
    )


def _wants_documents(request: TurnRequest, intent: Intent, parsed: Parsed) -> bool:
    if request.documents or request.selected:
        return True
    return not parsed.queries and intent.name not in {"greeting", "demographics"}


def _wants_knowledge(opened: Opened[Nothing], intent: Intent, parsed: Parsed) -> bool:
    if intent.name == "greeting":
        return False
    if not grounded(opened):
        return True
    return intent.search and not parsed.queries


def facts_of(view: View[Nothing]) -> RecordFacts | None:
    """The record as fetched, the second and wider fetch where there was one; `None` if not."""
    best: RecordFacts | None = None
    for need, found in view.gathered.items():
        if not isinstance(need, RecordNeed) or not isinstance(found, Got):
            continue
        if best is None or not need.limits:
            best = found.value
    return best


def hits_of(view: View[Nothing], corpus: str) -> Hits | None:
    """The passages of a corpus from every round, best first, each once; `None` if not searched."""
    found = [
        got.value
        for need, got in view.gathered.items()
        if isinstance(need, SearchNeed) and need.corpus == corpus and isinstance(got, Got)
    ]
    if not found:
        return None
    seen: dict[str, Any] = {}
    for hits in found:
        for hit in hits.hits:
            seen.setdefault(hit.chunk_id, hit)
    return Hits(
        hits=tuple(seen.values()),
        why_empty="" if seen else next((one.why_empty for one in found if one.why_empty), ""),
        degraded=tuple(dict.fromkeys(why for one in found for why in one.degraded)),
    )


def parsed_of(view: View[Nothing]) -> Parsed:
    """The question as read with the names that stand in this patient's record."""
    record = facts_of(view)
    words = record_lexicon(record.facts, people=(record.person.name,)) if record else None
    return parse(view.request.text, today=view.opened.as_of, record=words)


def second_round(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """What the record suggests: a whole fetch for a rule, guidelines for the problems it holds."""
    record = facts_of(view)
    if record is None:
        return ()
    return (*again(view), *_suggested(view, record))


def again(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """The unlimited fetch that an exact answer needs, when names of the record made it readable."""
    first = next((need for need in view.plan.needs if isinstance(need, RecordNeed)), None)
    parsed = parsed_of(view)
    if first is None or not parsed.queries:
        return ()
    intent = classify(view.request.text, parsed)
    wanted = tuple(dict.fromkeys(("demographics", *intent.fetch)))
    if not first.limits and set(wanted) <= set(first.categories):
        return ()
    merged = tuple(dict.fromkeys((*first.categories, *wanted)))
    return (RecordNeed(name="record whole", categories=merged, limits=False),)


def _suggested(view: View[Nothing], record: RecordFacts) -> tuple[Need[Any], ...]:
    """Guidelines for the open problems and medicines, where the question needs reasoning."""
    asked = any(
        isinstance(need, SearchNeed) and need.corpus == "knowledge" for need in view.plan.needs
    )
    if not asked or parsed_of(view).queries:
        return ()
    problems = [fact.name for fact in record.of("conditions") if fact.status in _OPEN_STATES]
    drugs = [fact.name for fact in record.of("medications") if fact.status == "active"]
    names = list(dict.fromkeys((*problems[:6], *drugs[:4])))
    if not names:
        return ()
    query = f"{view.request.text[:200]} {' '.join(names)}"[:_LONGEST_QUERY]
    return (
        SearchNeed(
            name="knowledge for the record", query=query, corpus="knowledge", limit=_SUGGESTED
        ),
    )
