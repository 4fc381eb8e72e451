"""What kind of question is it, and what does it need? Pattern rules, no model. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, cast

import yaml

from bedside.core.value import value
from bedside.flows.copilot.lexicon import phrase_key, tokenise
from bedside.flows.copilot.query import Parsed, Query
from bedside.record.needs import Category

__all__ = ["FULL", "Intent", "classify", "intent_named"]

FULL: tuple[Category, ...] = (
    "demographics",
    "allergies",
    "alerts",
    "conditions",
    "observations",
    "medications",
    "timeline",
    "procedures",
    "immunizations",
    "reports",
    "orders",
    "documents",
    "careplans",
    "insights",
)
"""The full fetch of a question that no pattern knows."""

_TOPIC_INTENT = {
    "observations": "labs",
    "labs": "labs",
    "vitals": "labs",
    "person": "demographics",
    "goals": "careplans",
    "family_history": "family",
    "reports": "documents",
    "alerts": "allergies",
}
_TOPIC_FETCH: dict[str, tuple[Category, ...]] = {
    "observations": ("observations",),
    "labs": ("observations",),
    "vitals": ("observations",),
    "person": ("demographics",),
    "medications": ("medications",),
    "conditions": ("conditions", "procedures", "reports"),
    "procedures": ("procedures", "reports", "conditions"),
    "allergies": ("allergies",),
    "immunizations": ("immunizations",),
    "timeline": ("timeline",),
    "documents": ("documents",),
    "orders": ("orders",),
    "alerts": ("alerts",),
    "careplans": ("careplans",),
    "goals": ("goals",),
    "reports": ("reports",),
    "family_history": ("family_history",),
}


@value
class Intent:
    """A kind of question: what to fetch, how long to answer, whether guidelines help.

    `clinical` is True where reasoning is needed, which lets hard data in. `known` is False for the
    fallback, which fetches everything.
    """

    name: str
    fetch: tuple[Category, ...]
    mode: str
    search: bool
    clinical: bool
    known: bool = True


def _fetched(query: Query) -> tuple[Category, ...]:
    """The categories of a query; a class of medicine may stand among the problems ("opioid abuse")."""
    more: tuple[Category, ...] = ()
    if query.topic == "medications" and query.entity is not None:
        more = ("conditions", "procedures") if query.entity.kind == "drug_class" else ()
    if query.topic == "immunizations" and query.entity is not None:
        more = ("procedures",)  # "Vaccination for diphtheria, pertussis, and tetanus"
    if query.anchor is not None:
        more = ("timeline", "medications", "conditions", "procedures")
    elif query.ask in {"for", "why", "why_end"}:
        more = ("conditions", "documents")
    elif query.field == "found":
        more = ("observations", "documents")
    return (*_TOPIC_FETCH[query.topic], *more)


_UNKNOWN = Intent(
    name="unknown", fetch=FULL, mode="default", search=True, clinical=True, known=False
)


@functools.cache
def _rows() -> Mapping[str, Any]:
    path = resources.files("bedside.flows.copilot") / "words" / "intents.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@functools.cache
def _table() -> tuple[tuple[str, frozenset[tuple[str, ...]], bool], ...]:
    return tuple(
        (
            name,
            frozenset(phrase_key(one) for one in row["words"].split(",") if one.strip()),
            bool(row.get("whole", False)),
        )
        for name, row in _rows().items()
    )


def intent_named(name: str) -> Intent:
    """The intent of that name, the fallback where there is none."""
    row = _rows().get(name)
    if row is None:
        return _UNKNOWN
    return Intent(
        name=name,
        fetch=cast("tuple[Category, ...]", tuple(row["fetch"].split())),
        mode=row["mode"],
        search=row["search"],
        clinical=row["clinical"],
    )


def classify(text: str, parsed: Parsed) -> Intent:
    """The intent of a question.

    A question that rules read whole has the intent of its first query and the categories of all;
    any other the first whose words occur, with the categories of what was recognised besides.
    """
    if parsed.queries:
        topic = parsed.queries[0].topic
        name = _TOPIC_INTENT.get(topic, topic)
        if parsed.queries[0].ask == "trend":
            name = "trend"
        fetch: tuple[Category, ...] = tuple(
            dict.fromkeys(cat for query in parsed.queries for cat in _fetched(query))
        )
        return Intent(name=name, fetch=fetch, mode="default", search=False, clinical=False)
    words = [token.text for token in tokenise(text)]
    said = _phrases(words)
    for name, phrases, whole in _table():
        if whole:
            if words and _covered(words, phrases):
                return intent_named(name)
        elif phrases & said:
            if name == "synopsis" and parsed.entities and parsed.asks:
                continue  # "the lowest systolic, for the clinic letter"
            if name == "synopsis" and _OF_A_PAPER.search(text):
                return _with_entities(intent_named("letters"), parsed)
            return _with_entities(intent_named(name), parsed)
    if parsed.entities or parsed.topics:
        return _with_entities(
            Intent(name="question", fetch=(), mode="default", search=True, clinical=True), parsed
        )
    return _UNKNOWN


def _with_entities(intent: Intent, parsed: Parsed) -> Intent:
    kinds: dict[str, tuple[Category, ...]] = {
        "analyte": ("observations", "conditions", "medications"),
        "panel": ("observations", "conditions", "medications"),
        "drug": ("medications", "allergies", "conditions", "observations", "insights"),
        "drug_class": ("medications", "allergies", "conditions", "observations", "insights"),
        "condition": ("conditions", "procedures", "medications", "observations", "careplans"),
        "procedure": ("procedures", "reports", "observations"),
        "vaccine": ("immunizations", "procedures"),
        "allergen": ("allergies",),
    }
    more: list[Category] = [cat for entity in parsed.entities for cat in kinds[entity.kind]]
    topics: list[Category] = [cat for topic in parsed.topics for cat in _TOPIC_FETCH.get(topic, ())]
    visits: tuple[Category, ...] = ("timeline",) if parsed.visits else ()
    fetch: tuple[Category, ...] = tuple(dict.fromkeys((*intent.fetch, *more, *topics, *visits)))
    return Intent(
        name=intent.name,
        fetch=fetch or FULL,
        mode=intent.mode,
        search=intent.search,
        clinical=intent.clinical,
    )


def _phrases(words: list[str]) -> set[tuple[str, ...]]:
    """Every run of up to four words, also with a plural -s of its last word left out."""
    plain = [word for word in words if word[0].isalnum()]
    runs = {
        tuple(plain[at : at + size]) for size in range(1, 5) for at in range(len(plain) - size + 1)
    }
    return runs | {(*run[:-1], run[-1][:-1]) for run in runs if run[-1].endswith("s")}


_OF_A_PAPER = re.compile(
    r"\b(?:summari[sz]e|summary of|recap|sum up)\b.*\b(?:the|this|that|her|his|last|latest)\b.*"
    r"\b(?:letter|note|report|document|scan)s?\b",
    re.IGNORECASE | re.DOTALL,
)
_POLITE = frozenset({"doctor", "dr", "there", "all", "everyone", "very", "much", "so", "again"})


def _covered(words: list[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    """True when nothing but these phrases (and politeness) is said."""
    plain = [word for word in words if word[0].isalnum() and word not in _POLITE]
    at = 0
    while at < len(plain):
        size = next((n for n in (3, 2, 1) if tuple(plain[at : at + n]) in phrases), 0)
        if size == 0:
            return False
        at += size
    return True
