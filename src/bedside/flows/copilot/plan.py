"""From a message to what the turn needs: intent, categories, queries, mode (CO-01, CO-02). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from bedside.core.turn import Got, Need, Plan, TurnRequest
from bedside.core.value import value
from bedside.flows.copilot.following import questions_before
from bedside.flows.copilot.intents import FULL, Intent, classify
from bedside.flows.copilot.lexicon import Lexicon, is_plain
from bedside.flows.copilot.modes import mode_of
from bedside.flows.copilot.names import bearing_on, classes_of, matching, record_lexicon
from bedside.flows.copilot.passages import asked_for
from bedside.flows.copilot.query import Entity, Parsed
from bedside.flows.copilot.reading import parse
from bedside.flows.copilot.relevance import abbreviations
from bedside.flows.flow import Opened, View
from bedside.knowledge.needs import Filters, Hits, SearchNeed
from bedside.language.stems import stems
from bedside.record.needs import Category, RecordFacts, RecordNeed

__all__ = [
    "ABNORMAL",
    "INTERACTION",
    "Nothing",
    "again",
    "facts_of",
    "hits_of",
    "parsed_of",
    "plan_turn",
    "second_round",
]

ABNORMAL = re.compile(
    r"\b(?:abnormal\w*|not normal|out of range|deranged|flagged)\b", re.IGNORECASE
)
INTERACTION = re.compile(
    r"\binteract(?:s|ing|ions?)?\b|\bclash(?:es|ing)?\b"
    r"|\b(?:danger\w*|bad|unsafe|risky|harmful)\s+(?:\w+\s+)?combinations?\b",
    re.IGNORECASE,
)

_DOCUMENTS = 5
_FRESH = 10
_KNOWLEDGE = 10
_SUGGESTED = 8
_LONGEST_QUERY = 400
_TELLING = 4
"""Letters from which an unknown word may name an entry."""
_IN_WHOLE = {"list", "count", "trend"}
"""What is asked for in whole has room for it."""
_OPEN_STATES = {"active", "recurrence", "relapse"}


@value
class Nothing:
    """The copilot keeps no state of its own between turns: the session's history is enough."""


def grounded(opened: Opened[Nothing]) -> bool:
    """True when the turn is about a patient."""
    return opened.grant.patient is not None


_SAYS = re.compile(r"\b(?:say|says|said|mention\w*|contains?|conclude[sd]?)\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\b(?:did|has|have|had|does|do)\b.*\b(?:recommend|advi[sc]e|suggest|want|plan)", re.IGNORECASE
)
_OF_PAPER = {"documents", "reports"}


def _read(text: str, opened: Opened[Nothing], record: Lexicon | None = None) -> Parsed:
    """The question as rules read it; what a document says is in its words, so no rule has it."""
    before = questions_before([(item.role, item.body) for item in opened.history])
    parsed = parse(text, today=opened.as_of, record=record, before=before)
    of_paper = any(query.topic in _OF_PAPER for query in parsed.queries)
    return replace(parsed, queries=()) if of_paper and _SAYS.search(text) else parsed


def plan_turn(request: TurnRequest, opened: Opened[Nothing]) -> Plan:
    """The smallest set of needs that answers the message; a full fetch where no pattern knows it."""
    parsed = _read(request.text, opened)
    intent = classify(request.text, parsed)
    whole = any(query.ask in _IN_WHOLE and query.last is None for query in parsed.queries)
    usual = "broad" if whole else intent.mode
    mode = mode_of(request.option("mode"), text=request.text, otherwise=usual)
    needs: list[Need[Any]] = []
    queries: list[str] = []
    query = request.text[:_LONGEST_QUERY]
    if grounded(opened):
        if intent.fetch or not intent.known:
            needs.append(_record_need(intent, parsed, request.text))
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
            if _ADVICE.search(request.text):
                needs.append(
                    SearchNeed(
                        name="documents advice",
                        query="plan recommendations advice actions follow-up",
                        corpus="documents",
                        limit=_DOCUMENTS,
                    )
                )
    if _wants_knowledge(opened, intent, parsed):
        classes = [name for one in parsed.entities for name in classes_of(one)]
        query = " ".join([query, *dict.fromkeys(classes)])
        needs.append(
            SearchNeed(name="knowledge", query=query, corpus="knowledge", limit=_KNOWLEDGE)
        )
        queries.append(query)
        named = " ".join(dict.fromkeys(_said_plainly(one) for one in parsed.entities))
        if named and named.lower() != query.lower():
            needs.append(
                SearchNeed(
                    name="knowledge named", query=named, corpus="knowledge", limit=_KNOWLEDGE
                )
            )
            queries.append(named)
    return Plan(
        intent=intent.name,
        needs=tuple(needs),
        categories=_shown_categories(needs),
        queries=tuple(dict.fromkeys(queries)),
        source="rules" if intent.known else "fallback",
        mode=mode.name,
        clinical=intent.clinical or _general(opened, intent),
    )


def _said_plainly(entity: Entity) -> str:
    """What a guideline calls the thing: its usual name, or as it was said."""
    plain = entity.kind in {"drug", "condition"} and not entity.key.startswith("record:")
    return entity.key if plain else entity.said


def _general(opened: Opened[Nothing], intent: Intent) -> bool:
    """Without a patient every real question is a clinical one."""
    return not grounded(opened) and intent.name not in {"greeting", "clarification"}


def _record_need(intent: Intent, parsed: Parsed, text: str) -> RecordNeed:
    fetch: list[Category] = ["demographics", *intent.fetch]
    if ABNORMAL.search(text) or INTERACTION.search(text):  # where none were looked for, none speak
        fetch.append("insights")
    return RecordNeed(
        name="record",
        categories=tuple(dict.fromkeys(fetch)),
        limits=not (
            parsed.queries
            or parsed.entities
            or abbreviations(text)
            or bearing_on(text, parsed.entities)
        ),
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
    if any(query.in_letters for query in parsed.queries):
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
    """The question as read with the names that stand in this patient's record.

    A turn asks for it some twenty times, so it is kept until a wider record is fetched.
    """
    record = facts_of(view)
    for_record, kept = view.once.get("parsed", (None, None))
    if kept is not None and for_record is record:
        return cast("Parsed", kept)
    words = record_lexicon(record.facts, people=(record.person.name,)) if record else None
    read = _read(view.request.text, view.opened, words)
    view.once["parsed"] = (record, read)
    return read


def second_round(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """What the record suggests: a whole fetch for a rule, guidelines for the problems it holds."""
    record = facts_of(view)
    if record is None:
        return _within(view)
    return (
        *again(view),
        *_suggested(view, record),
        *_within(view),
        *_named_documents(view, record),
    )


def _named_documents(view: View[Nothing], record: RecordFacts) -> tuple[Need[Any], ...]:
    """The documents whose titles the question names, so that one that words miss is read too."""
    if view.plan.intent != "letters":
        return ()
    said = set(stems(view.request.text)) - {"letter", "note", "document", "report"}
    named = [
        fact.document
        for fact in record.of("documents")
        if fact.document and said & set(stems(fact.line.partition(":")[0] + fact.source.title))
    ]
    if not named:
        return ()
    need = SearchNeed(
        name="documents named",
        query=view.request.text[:_LONGEST_QUERY],
        corpus="documents",
        limit=_DOCUMENTS,
        selected=tuple(named[:2]),
    )
    return (need,)


def _within(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """The guideline whose title names what was asked about, read for the kind of answer wanted.

    A search over all guidelines brings few passages of one document, and the one that answers may
    name its subject in the title alone.
    """
    hits = hits_of(view, "knowledge")
    names = [
        {frozenset(stems(_said_plainly(one))), frozenset(stems(one.said))} - {frozenset()}
        for one in parsed_of(view).entities
    ]
    if hits is None or not names:
        return ()
    best, most = "", 0
    for hit in hits.hits:
        title = set(stems(hit.span.source.title))
        share = sum(any(name <= title for name in group) for group in names)
        if share > most and not hit.span.source.superseded:
            best, most = str(hit.span.source.id), share
    if not best:
        return ()
    need = SearchNeed(
        name="knowledge within",
        query=asked_for(view.request.text) or view.request.text[:_LONGEST_QUERY],
        corpus="knowledge",
        limit=_KNOWLEDGE,
        filters=Filters(document=best),
    )
    return (need,)


def again(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """The unlimited fetch that an exact answer needs, when names of the record made it readable."""
    first = next((need for need in view.plan.needs if isinstance(need, RecordNeed)), None)
    parsed = parsed_of(view)
    record = facts_of(view)
    if first is not None and record is not None and first.limits and _unmet(parsed, record):
        every = tuple(dict.fromkeys((*first.categories, *FULL)))  # "what level is the lesion"
        return (RecordNeed(name="record whole", categories=every, limits=False),)
    if first is None or not parsed.queries:
        return ()
    intent = classify(view.request.text, parsed)
    wanted = tuple(dict.fromkeys(("demographics", *intent.fetch)))
    wanted = tuple(dict.fromkeys((*wanted, *_elsewhere(parsed, record))))
    if not first.limits and set(wanted) <= set(first.categories):
        return ()
    merged = tuple(dict.fromkeys((*first.categories, *wanted)))
    return (RecordNeed(name="record whole", categories=merged, limits=False),)


def _elsewhere(parsed: Parsed, record: RecordFacts | None) -> tuple[Category, ...]:
    """Where else a problem may stand that is none of the problems: a result that says it in words."""
    unlisted = record is not None and any(
        query.topic == "conditions"
        and query.entity is not None
        and not matching(query.entity, record.of("conditions"))
        for query in parsed.queries
    )
    return ("observations", "insights") if unlisted else ()


def _unmet(parsed: Parsed, record: RecordFacts) -> bool:
    """True where the question names nothing that is known, and no entry fetched has its words."""
    if parsed.queries or parsed.entities or parsed.topics:
        return False
    words = [word for word in parsed.unknown if len(word) >= _TELLING and not is_plain(word)]
    return bool(words) and not any(
        re.search(rf"(?<!\w){re.escape(word)}", fact.line.lower())  # "cord" is not in "recorded"
        for word in words
        for fact in record.facts
    )


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
