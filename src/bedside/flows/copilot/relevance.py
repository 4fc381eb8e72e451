"""Which record entries bear on a question, and how much. Pure.

Rank bands, higher survives: 100 what a rule's answer rests on, 80 entries of a named thing, 60
what the intent is about, 40 the rest of the fetched categories. Inside a band newer is higher.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bedside.core.value import value
from bedside.flows.copilot.excerpts import ASKING
from bedside.flows.copilot.lexicon import results_by
from bedside.flows.copilot.names import bearing_on, concerned, matching, nearby, panel_members
from bedside.flows.copilot.query import Entity, Parsed, Query
from bedside.flows.copilot.tools.events import given_for, is_active
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import day_of
from bedside.language.stems import stems
from bedside.record.needs import Category, Fact, RecordFacts

__all__ = ["Ranked", "abbreviations", "rank_facts"]

_RULE, _NAMED, _NEAR, _SAID, _INTENT, _REST = 100.0, 80.0, 70.0, 65.0, 60.0, 40.0
_MOST_READINGS = 40
_MOST_NAMED = 40
_MOST_KINDS = 18
_OF_INTENT: dict[str, tuple[tuple[Category, int], ...]] = {
    "synopsis": (("conditions", 12), ("medications", 12), ("timeline", 3), ("procedures", 4)),
    "plan": (("conditions", 10), ("medications", 12)),
    "diagnosis": (("conditions", 10), ("medications", 8)),
    "drug": (("medications", 12), ("conditions", 8)),
    "risk": (("conditions", 10), ("medications", 8)),
    "protocol": (("conditions", 8), ("medications", 8)),
    "medications": (("medications", 30), ("conditions", 8)),
    "timeline": (("timeline", 10), ("procedures", 6), ("conditions", 6)),
    "procedures": (("procedures", 12), ("reports", 4)),
    "conditions": (("conditions", 20),),
    "orders": (("orders", 15),),
    "documents": (("documents", 15), ("reports", 5)),
    "letters": (("documents", 5),),
    "immunizations": (("immunizations", 15),),
    "careplans": (("careplans", 10), ("goals", 10)),
    "question": (("conditions", 12), ("medications", 8)),
    "unknown": (("conditions", 10), ("medications", 10), ("timeline", 3), ("procedures", 8)),
}
_MOST_BEARING = 6
_TELLING, _MOST_ALIKE, _MOST_SAID = 4, 3, 12
_TELLING_INSIDE = 6
"""Letters from which a word also tells inside a longer one ("thyroid" in "hypothyroidism")."""
_MOST_OF_TOPIC, _MOST_GIVEN = 30, 48
_ABBREVIATION = re.compile(r"\b\w*(?:[A-Z]\w*[A-Z]|[A-Za-z]\d)\w*")
_WHOLE_TOPICS = {"conditions", "medications", "procedures", "immunizations", "reports", "orders"}
_STANDING_ONLY = {"conditions", "medications"}
_WITH_PAST = {"conditions", "medications", "synopsis", "timeline", "unknown"}
_REASONED = {"plan", "diagnosis", "drug", "risk", "protocol", "question", "unknown", "synopsis"}
_WITH_RESULTS = {"synopsis", "labs", "trend", "unknown", "risk"}
_ALWAYS_APART: frozenset[str] = frozenset({"demographics", "allergies", "alerts"})


@value
class Ranked:
    """A record entry and how much it bears on the question, 0 to 100."""

    fact: Fact
    rank: float


def rank_facts(
    record: RecordFacts, parsed: Parsed, *, intent: str, text: str = "", cited: Iterable[Fact] = ()
) -> tuple[Ranked, ...]:
    """The entries worth showing, highest rank first, each once.

    Demographics, allergies and alerts are left out: they have blocks of their own.

    Args:
        record: What was fetched.
        parsed: The question as read with the record's names.
        intent: Its intent.
        text: The question, for what it speaks of without naming.
        cited: Entries that a rule's answer rests on.
    """
    found: dict[str, Ranked] = {}

    def put(facts: Sequence[Fact], band: float) -> None:
        for place, fact in enumerate(facts):
            if fact.category in _ALWAYS_APART:
                continue
            rank = band - min(place, 90) / 10
            key = str(fact.source.id)
            if key not in found or found[key].rank < rank:
                found[key] = Ranked(fact=fact, rank=rank)

    put(list(cited), _RULE)
    for query in parsed.queries:
        put(_of_query(query, record), _RULE)
    if not parsed.queries:
        for band, facts in _open_question(record, parsed, intent=intent, text=text):
            put(facts, band)
    return tuple(sorted(found.values(), key=lambda one: -one.rank))


def _open_question(
    record: RecordFacts, parsed: Parsed, *, intent: str, text: str
) -> Iterator[tuple[float, list[Fact]]]:
    """What a question that rules do not answer is about, band by band."""
    for entity in parsed.entities:
        yield _NAMED, _of_entity(entity, record)
        yield _NEAR, _around(entity, record)
    given, problems = concerned(text)
    if given:
        entity = Entity(kind="drug_class", key=",".join(given), said=text)
        yield _NEAR + 5, _newest_of_each(matching(entity, record.of("medications")))
    for key in problems:
        entity = Entity(kind="condition", key=key, said=key)
        yield _NEAR + 5, _newest_of_each(matching(entity, record.of("conditions")))[:3]
    for key in bearing_on(text, parsed.entities):
        entity = Entity(kind="analyte", key=key, said=key)
        yield _NEAR, _thinned(_readings(entity, record), most=_MOST_BEARING)
    yield _SAID, _said(record, text)
    for window in parsed.windows:
        inside = [fact for fact in record.facts if window.holds(day_of(fact))]
        if not inside:  # a record that ended before it: what stands nearest
            yield _SAID, list(record.of("timeline")[:_MOST_BEARING])
        beside = (
            _REST if parsed.entities or parsed.visits else _NAMED
        )  # a time that tells of something named
        yield beside, [fact for fact in inside if fact.category != "observations"]
        yield min(beside, _SAID), _latest_of_each(inside)[:_MOST_KINDS]
    for topic in parsed.topics:
        yield _INTENT, _of_topic(topic, record)
    named = parsed.entities and intent not in _OF_INTENT
    for category, most in (
        _OF_INTENT["question" if named else intent] if (named or intent in _OF_INTENT) else ()
    ):
        facts = _standing_first(record.of(category))
        if category in _STANDING_ONLY and intent not in _WITH_PAST:
            facts = [fact for fact in facts if is_active(fact)]
        yield _INTENT, facts[:most]
    if intent in _WITH_RESULTS:
        yield _REST + 10, _latest_results(record)[:_MOST_KINDS]
    if intent in _REASONED:
        yield _INTENT, _evidence(record)


def _of_topic(topic: str, record: RecordFacts) -> list[Fact]:
    """Entries of a category that the question names, the newest; of those that stand, one each."""
    facts = record.of(topic) if topic in _WHOLE_TOPICS else ()  # type: ignore[arg-type]
    if topic in _STANDING_ONLY:
        return _standing_first(facts)[:_MOST_OF_TOPIC]
    return list(facts[:_MOST_OF_TOPIC])


def abbreviations(text: str) -> tuple[str, ...]:
    """The words of a question that are written as abbreviations: a name, whatever their length."""
    return tuple(_ABBREVIATION.findall(text))


def _said(record: RecordFacts, text: str) -> list[Fact]:
    """Entries whose names share a telling word with the question, most shared words first.

    A short word tells where it is written as an abbreviation ("IgE", "B12").
    """
    short = {stem for word in abbreviations(text) for stem in stems(word)}
    asked = {stem for stem in stems(text) if len(stem) >= _TELLING and stem not in ASKING} | short
    inside = tuple(stem for stem in asked if len(stem) >= _TELLING_INSIDE)
    found: list[tuple[int, Fact]] = []
    seen: Counter[str] = Counter()
    for fact in record.facts:
        names = _name_stems(fact.name)
        shared = len(asked & names) or int(any(one in name for one in inside for name in names))
        if shared and seen[fact.name] < _MOST_ALIKE:
            seen[fact.name] += 1
            found.append((shared, fact))
    ranked = sorted(found, key=lambda row: -row[0])
    return [fact for _, fact in ranked[:_MOST_SAID]]


@functools.lru_cache(maxsize=4096)
def _name_stems(name: str) -> frozenset[str]:
    return frozenset(stems(name))


def _of_query(query: Query, record: RecordFacts) -> list[Fact]:
    if query.entity is not None:
        facts = _of_entity(query.entity, record)
        if query.window is not None:
            facts = [fact for fact in facts if query.window.holds(day_of(fact))] or facts[:2]
        return facts
    if query.topic in {"person", "labs", "vitals", "observations"}:
        return _latest_results(record) if query.topic != "person" else []
    category: Category = query.topic  # type: ignore[assignment]
    facts = [
        fact
        for fact in record.of(category)
        if query.window is None or query.window.holds(day_of(fact))
    ]
    if query.status == "active" and query.topic in {"medications", "conditions", "careplans"}:
        facts = [fact for fact in facts if is_active(fact)]
    elif query.status == "inactive":
        facts = [fact for fact in facts if not is_active(fact)]
    if query.topic == "timeline" and query.ask in {"when_last", "when_first"} and not query.visit:
        facts = facts[:2] if query.ask == "when_last" else facts[-2:]
    return facts[:_MOST_READINGS]


def _of_entity(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Entries of the named thing, newest first; of many readings the newest, ends and extremes."""
    if entity.kind == "panel":
        members = [Entity(kind="analyte", key=key, said=key) for key in panel_members(entity.key)]
        return [fact for member in members for fact in _thinned(_readings(member, record), most=4)]
    if entity.kind == "analyte":
        return _thinned(_readings(entity, record), most=_MOST_READINGS)
    pool: list[Fact] = []
    for category in _POOLS.get(entity.kind, ()):
        pool += record.of(category)
    return _thinned(matching(entity, pool), most=_MOST_NAMED)


_POOLS: dict[str, tuple[Category, ...]] = {
    "drug": ("medications",),
    "drug_class": ("medications",),
    "condition": ("conditions", "careplans"),
    "procedure": ("procedures", "reports", "conditions"),
    "vaccine": ("immunizations",),
    "allergen": ("allergies",),
}


def _readings(entity: Entity, record: RecordFacts) -> list[Fact]:
    found = [one.fact for one in readings_of(entity, record.of("observations"))]
    return list(reversed(list({fact.source.id: fact for fact in found}.values())))


def _thinned(facts: list[Fact], *, most: int) -> list[Fact]:
    """At most so many: the newest, the first, the highest and the lowest stay."""
    if len(facts) <= most:
        return facts
    valued = [fact for fact in facts if fact.value is not None]
    edges = [facts[-1]]
    if valued:
        edges += [
            max(valued, key=lambda fact: fact.value or 0),
            min(valued, key=lambda fact: fact.value or 0),
        ]
    kept = facts[: most - len(edges)]
    return kept + [fact for fact in dict.fromkeys(edges) if fact not in kept]


def _around(entity: Entity, record: RecordFacts) -> list[Fact]:
    """What is close to the named thing: related problems, its results, why a medicine was given."""
    if entity.kind == "condition":
        near = nearby(entity, record.of("conditions"))
        results = [
            fact
            for key in _RESULTS_OF.get(entity.key, ())
            for fact in _thinned(
                _readings(Entity(kind="analyte", key=key, said=key), record), most=12
            )
        ]
        given = given_for(entity, record.of("medications"))
        return [*near[:4], *_newest_of_each(given)[:6], *results, *given[:_MOST_GIVEN]]
    if entity.kind == "procedure":
        found = [
            _thinned(_readings(Entity(kind="analyte", key=key, said=key), record), most=12)
            for key in results_by(entity.key)
        ]
        return [fact for facts in found for fact in facts]
    if entity.kind in {"analyte", "panel"}:
        return _conditions_of(entity, record)
    if entity.kind in {"drug", "drug_class"}:
        return matching(entity, record.of("allergies"))
    return []


def _conditions_of(entity: Entity, record: RecordFacts) -> list[Fact]:
    """Standing problems that the analyte follows, and what is given for them."""
    keys = {entity.key, *panel_members(entity.key)}
    problems = [
        Entity(kind="condition", key=name, said=name)
        for name, results in _RESULTS_OF.items()
        if results[0] in keys
    ]
    conditions, medicines = record.of("conditions"), record.of("medications")
    named = [fact for one in problems for fact in matching(one, conditions) if is_active(fact)]
    given = [fact for one in problems for fact in given_for(one, medicines) if is_active(fact)]
    return [*_newest_of_each(named)[:3], *_newest_of_each(given)[:4]]


_KIDNEY = ("egfr", "creatinine", "potassium", "acr")
_RESULTS_OF: dict[str, tuple[str, ...]] = {
    "diabetes": ("hba1c", "glucose", "egfr", "acr"),
    "type 2 diabetes": ("hba1c", "glucose", "egfr", "acr"),
    "type 1 diabetes": ("hba1c", "glucose", "egfr", "acr"),
    "prediabetes": ("hba1c", "glucose", "bmi"),
    "hypertension": ("blood pressure", "potassium", "creatinine", "egfr"),
    "hyperlipidemia": ("ldl", "cholesterol", "triglycerides", "hdl"),
    "hypertriglyceridemia": ("triglycerides", "ldl"),
    "metabolic syndrome": ("hba1c", "triglycerides", "hdl", "blood pressure", "bmi"),
    "obesity": ("bmi", "weight"),
    "coronary heart disease": ("ldl", "blood pressure", "hba1c"),
    "heart disease": ("ejection fraction", "ntprobnp", "blood pressure", "ldl"),
    "heart failure": ("ejection fraction", "ntprobnp", "potassium", "egfr", "blood pressure"),
    "atrial fibrillation": ("inr", "egfr", "blood pressure"),
    "stroke": ("blood pressure", "ldl", "inr"),
    "myocardial infarction": ("ldl", "blood pressure", "ejection fraction"),
    "chronic kidney disease": _KIDNEY,
    "kidney disease": _KIDNEY,
    "anemia": ("hemoglobin", "mcv", "ferritin", "vitamin b12"),
    "iron deficiency": ("hemoglobin", "mcv", "ferritin"),
    "copd": ("fev1 fvc", "oxygen saturation", "smoking status"),
    "lung disease": ("fev1 fvc", "oxygen saturation", "smoking status"),
    "lung cancer": ("smoking status", "weight"),
    "asthma": ("fev1 fvc",),
    "prostate cancer": ("psa",),
    "hypothyroidism": ("tsh", "free t4"),
    "gout": ("uric acid", "creatinine"),
    "osteoporosis": ("t score", "vitamin d", "calcium"),
    "liver disease": ("alt", "ast", "bilirubin", "albumin", "platelets"),
    "alzheimer disease": ("mmse",),
    "dementia": ("mmse",),
    "chronic pain": ("pain score",),
    "pregnancy": ("blood pressure", "hemoglobin"),
    "fracture": ("t score",),
}


def _standing_first(facts: Sequence[Fact]) -> list[Fact]:
    """One entry a name, the newest; those that stand now before those that ended."""
    kept = _newest_of_each(facts)
    return sorted(kept, key=lambda fact: not is_active(fact))


def _newest_of_each(facts: Sequence[Fact]) -> list[Fact]:
    seen: dict[str, Fact] = {}
    for fact in facts:
        before = seen.get(fact.name)
        if before is None or (is_active(fact) and not is_active(before)):
            seen[fact.name] = fact
    return list(seen.values())


def _latest_results(record: RecordFacts) -> list[Fact]:
    """The newest entry of each kind of observation, newest first."""
    return _latest_of_each(record.of("observations"))


def _latest_of_each(facts: Sequence[Fact]) -> list[Fact]:
    seen: dict[str, Fact] = {}
    for fact in facts:
        if fact.category == "observations":
            seen.setdefault(fact.code or fact.name, fact)
    return list(seen.values())


def _evidence(record: RecordFacts) -> list[Fact]:
    """What the insights and contradictions rest on."""
    facts = [fact for insight in record.insights[:4] for fact in insight.facts[:3]]
    return [*facts, *(fact for one in record.contradictions for fact in one.facts)]
