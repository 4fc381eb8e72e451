"""From one clause to its queries: which combinations of words rules answer, and how. Pure.

Every function returns an empty tuple for a combination that it does not answer exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from bedside.flows.copilot.query import Anchor, Ask, Entity, Query, Status, Topic

if TYPE_CHECKING:
    from bedside.flows.copilot.reading import Clause

__all__ = ["query_of"]

_FIGURES = {"highest", "lowest", "average", "trend"}
_CHANGES = {"previous", "change", "change_first"}
_OF_THE_ENTRY = {"who", "why", "where", "length"}
"""Asked of what was done or ordered, never of a figure."""
_LISTED = {
    "medications",
    "conditions",
    "allergies",
    "immunizations",
    "procedures",
    "timeline",
    "documents",
    "orders",
    "alerts",
    "careplans",
    "goals",
    "reports",
    "family_history",
}
_KIND_TOPIC: dict[str, Topic] = {
    "vaccine": "immunizations",
    "procedure": "procedures",
    "condition": "conditions",
    "drug": "medications",
    "drug_class": "medications",
    "allergen": "allergies",
}
_FAMILY = {
    "analyte": "figure",
    "panel": "figure",
    "drug": "drug",
    "drug_class": "drug",
    "condition": "event",
    "procedure": "event",
    "vaccine": "event",
    "allergen": "allergen",
}
# Words that a topic may be called by beside its own: "lab results for potassium".
_COMPANIONS: dict[str, set[str]] = {
    "observations": {"labs", "vitals", "reports"},
    "immunizations": set(),
    "procedures": set(),
    "conditions": set(),
    "medications": set(),
    "allergies": {"medications"},
}


def query_of(clause: Clause) -> tuple[Query, ...]:
    """The queries of one settled clause; empty where rules do not answer it."""
    if clause.anchor is not None:
        return _anchored(clause, clause.anchor)
    if clause.unit and not _measured(clause):
        return ()
    if clause.fields:
        return _person(clause)
    return _of_subject(clause)


def _of_subject(clause: Clause) -> tuple[Query, ...]:
    topics = set(clause.topics)
    if "allergies" in topics or "allergic" in clause.verbs:
        return _allergies(clause)
    if "family_history" in topics and (clause.entities or clause.relative):
        return _family(clause)
    if clause.entities:
        return _things(clause)
    if clause.visits:
        return _visits(clause) if topics <= {"timeline"} else ()
    if len(topics) != 1 or clause.bound is not None:
        return ()
    topic = cast("Topic", clause.topics[0])
    if topic == "timeline":
        return _visits(clause)
    if topic in {"labs", "vitals"}:
        return _panel(clause, topic)
    return _list(clause, topic)


def _anchored(clause: Clause, anchor: Anchor) -> tuple[Query, ...]:
    """Before or after something: results alone, all of them after it where nothing else is asked."""
    made = query_of(replace(clause, anchor=None)) if clause.window is None else ()
    if any(query.topic != "observations" for query in made):
        return ()
    return tuple(
        replace(
            query,
            anchor=anchor,
            ask="list" if query.ask == "latest" and anchor.side == "after" else query.ask,
        )
        for query in made
    )


def _measured(clause: Clause) -> bool:
    """True where all that the clause names has readings, which alone are asked for in a unit."""
    kinds = [one.kind for group in clause.entities for one in group]
    return bool(kinds) and {"analyte"} >= set(kinds) and clause.bound is None


# ---- the person


def _person(clause: Clause) -> tuple[Query, ...]:
    if clause.fields == ("age",) and len(clause.entities) == 1:
        return _age_at(clause)
    allowed = {"when", "latest", "list"}
    if clause.entities or clause.topics or clause.bound or clause.window or clause.ops - allowed:
        return ()
    if clause.visits or clause.last or clause.statuses or clause.verbs - {"on"}:
        return ()
    return tuple(Query(topic="person", ask="field", field=field) for field in clause.fields)


def _age_at(clause: Clause) -> tuple[Query, ...]:
    """How old somebody was when a thing began, or was last done: "age at menarche"."""
    made = query_of(replace(clause, fields=(), ops=clause.ops | {"when"}))
    fits = len(made) == 1 and made[0].ask in {"when_first", "when_last"}
    return tuple(replace(one, field="age") for one in made if fits and one.topic != "observations")


# ---- allergies


def _allergies(clause: Clause) -> tuple[Query, ...]:
    if set(clause.topics) - {"allergies", "medications"} or clause.window or clause.bound:
        return ()
    if clause.visits or clause.last or clause.verbs - {"allergic", "take", "on"}:
        return ()
    if clause.ops - {"list", "all", "any", "count", "latest"} or "inactive" in clause.statuses:
        return ()
    if not clause.entities:
        if "medications" in clause.topics:
            return ()
        ask: Ask = "count" if "count" in clause.ops else "list"
        return (Query(topic="allergies", ask=ask),)
    if "count" in clause.ops or "list" in clause.ops:
        return ()
    chosen = [_pick(group, ("allergen", "drug", "drug_class")) for group in clause.entities]
    if any(one is None for one in chosen):
        return ()
    return tuple(Query(topic="allergies", ask="any", entity=one) for one in chosen)


# ---- the family


def _family(clause: Clause) -> tuple[Query, ...]:
    """What relatives have had, one of them or any; never what the patient has."""
    timed = clause.window or clause.bound or clause.last or clause.visits or clause.statuses
    if timed or set(clause.topics) != {"family_history"} or clause.verbs - {"diagnose", "on"}:
        return ()
    if clause.ops - {"list", "any", "all", "latest"}:
        return ()
    chosen = [_pick(group, ("condition",)) for group in clause.entities]
    if any(one is None for one in chosen):
        return ()
    asked = Query(topic="family_history", ask="any", field=clause.relative or "")
    return tuple(replace(asked, entity=one) for one in chosen) or (asked,)


# ---- named things


def _pick(group: tuple[Entity, ...], kinds: Iterable[str]) -> Entity | None:
    return next((one for kind in kinds for one in group if one.kind == kind), None)


def _things(clause: Clause) -> tuple[Query, ...]:
    if clause.visits or len({_FAMILY[group[0].kind] for group in clause.entities}) > 1:
        # "Metformin for diabetes" asks how the two hang together.
        return ()
    if (treated := _treated(clause)) is not None:
        return (treated,)
    made = [_thing(clause, group) for group in clause.entities]
    if any(not one for one in made):
        return ()
    return tuple(chain.from_iterable(made))


def _treated(clause: Clause) -> Query | None:
    """What is taken for a problem: "BP meds", "what is she on for gout"."""
    problem = _pick(clause.entities[0], ("condition",)) if len(clause.entities) == 1 else None
    if problem is None or _pick(clause.entities[0], ("drug", "drug_class")):
        return None
    if not ("medications" in clause.topics or "take" in clause.verbs):
        return None
    others = set(clause.topics) - {"medications"} or clause.verbs - {"take", "on"}
    asked = clause.ops <= {"list", "all", "any", "latest"} and clause.statuses <= {"active"}
    timed = clause.window or clause.bound or clause.last
    if others or timed or not asked:
        return None
    return Query(topic="medications", ask="for", entity=problem, status="active")


def _thing(clause: Clause, group: tuple[Entity, ...]) -> tuple[Query, ...]:
    topics, verbs = set(clause.topics), clause.verbs
    preferred: list[str]
    if "immunizations" in topics or "vaccinate" in verbs:
        preferred = ["vaccine"]
    elif "procedures" in topics or "undergo" in verbs:
        preferred = ["procedure"]
    elif "conditions" in topics or "diagnose" in verbs:
        preferred = ["condition"]
    elif "medications" in topics or (
        verbs & {"take", "on", "start", "stop", "dose"} and _pick(group, ("drug", "drug_class"))
    ):
        preferred = ["drug", "drug_class"]
    else:
        preferred = ["analyte", "panel", "drug", "drug_class", "condition", "procedure", "vaccine"]
    entity = _pick(group, preferred)
    if entity is None:
        return ()
    if entity.kind in {"analyte", "panel"}:
        if topics - {"labs", "vitals", "reports"} or verbs - {"measure", "take", "diagnose", "on"}:
            return ()
        return _figure(clause, entity)
    topic = _KIND_TOPIC[entity.kind]
    if topics - {topic} or clause.bound is not None:
        return ()
    return _events(clause, entity, topic)


def _figure(clause: Clause, entity: Entity) -> tuple[Query, ...]:
    ops = {"list" if op == "all" else op for op in clause.ops}
    if clause.statuses - {"inactive"} or ops & _OF_THE_ENTRY:
        return ()
    if clause.statuses:
        ops.add("previous")
        if clause.last is None:
            ops.discard("latest")
    if "diagnose" in clause.verbs:
        ops.add("list")
    ask = _figure_ask(clause, ops)
    if ask is None:
        return ()
    if entity.kind == "panel" and ask not in {"latest", "list", "trend"}:
        return ()
    if entity.kind == "panel" and (clause.bound is not None or clause.last is not None):
        return ()
    if entity.key == "cause of death" and ask != "latest":
        return ()
    if entity.key == "smoking status" and ask == "any" and clause.bound is None:
        ask = "list"  # that there is a reading is no "yes"
    if clause.bound is not None and ask not in {
        "any",
        "count",
        "list",
        "latest",
        "when_last",
        "when_first",
    }:
        return ()
    return (
        Query(
            topic="observations",
            ask=ask,
            entity=entity,
            window=clause.window,
            threshold=clause.bound,
            last=clause.last,
            unit=clause.unit,
        ),
    )


_WHEN: dict[frozenset[str], Ask] = {
    frozenset({"latest"}): "when_last",
    frozenset({"first"}): "when_first",
    frozenset({"highest"}): "when_highest",
    frozenset({"lowest"}): "when_lowest",
}


def _figure_ask(clause: Clause, ops: set[str]) -> Ask | None:
    """The one thing to do with an analyte's readings; `None` where the words do not say one."""
    if "since" in ops:
        return None
    if "count" in ops:
        return "count" if ops <= {"count", "any", "list"} and clause.last is None else None
    if ops - {"any"} and clause.bound is None:
        ops = ops - {"any"}
    if clause.last is not None:
        fits = ops <= {"latest", "list", "previous", "trend", "when"} and clause.bound is None
        return "list" if fits else None
    if clause.bound is not None:
        return _bounded_ask(ops)
    if "when" in ops:
        if "list" in ops:
            return "list" if ops <= {"when", "list", "latest"} else None
        return _WHEN.get(frozenset(ops - {"when"}) or frozenset({"latest"}))
    if not ops:
        return "list" if clause.window is not None else "latest"
    if ops & _CHANGES:
        ops = ops - {"latest", "first", "trend", "list"}
    elif "trend" in ops:
        return "trend" if ops <= {"trend", "list", "latest"} else None
    single = ops - {"list"} or ops
    return cast("Ask", next(iter(single))) if len(single) == 1 else None


def _bounded_ask(ops: set[str]) -> Ask | None:
    """With a bound: was it ever, list those, is it now, when last or first."""
    rest = frozenset(ops - {"any"})
    table: dict[frozenset[str], Ask] = {
        frozenset(): "any",
        frozenset({"list"}): "list",
        frozenset({"list", "when"}): "list",
        frozenset({"latest"}): "latest",
        frozenset({"when"}): "list",
        frozenset({"when", "latest"}): "when_last",
        frozenset({"when", "first"}): "when_first",
    }
    return table.get(rest)


def _events(clause: Clause, entity: Entity, topic: Topic) -> tuple[Query, ...]:
    """A medicine, problem, procedure or vaccine by name."""
    ops = {"any" if op == "all" else op for op in clause.ops}
    if ops & (_FIGURES | _CHANGES):
        return ()
    verbs = {
        "medications": {"take", "start", "stop", "measure", "on", "dose"},
        "conditions": {"diagnose", "resolve", "on", "start"},
        "procedures": {"undergo", "measure", "take", "diagnose", "on", "start"},
        "immunizations": {"vaccinate", "take", "measure", "diagnose", "on", "start", "dose"},
    }[topic]
    if clause.verbs - verbs:
        return ()
    status = _status(clause)
    if status is None:
        return ()
    asked = _entry_ask if ops & _OF_THE_ENTRY else _event_ask
    ask = asked(clause, ops, topic)
    if ask is None:
        return ()
    if ask == "any" and status == "inactive":
        status, ops = "any", ops | {"any"}
    ever = (
        "any" in ops
        or ("diagnose" in clause.verbs and topic == "conditions")
        or topic in {"procedures", "immunizations"}
    )
    if topic == "medications" and ask in {"any", "dose"} and status == "any" and not ever:
        status = "active" if "latest" in ops or clause.window is None else "any"
    if topic == "conditions" and ask == "any" and status == "any" and not ever:
        status = "active" if clause.window is None else "any"
    return (
        Query(
            topic=topic,
            ask=ask,
            entity=entity,
            window=clause.window,
            status=status,
            last=clause.last,
        ),
    )


def _event_ask(clause: Clause, ops: set[str], topic: Topic) -> Ask | None:
    verbs = clause.verbs
    ends = bool(verbs & _ENDS)
    if clause.last is not None:
        return "list" if ops <= {"latest", "when", "any", "list"} and not ends else None
    if "count" in ops:
        return "count" if ops <= {"count", "any"} and not ends else None
    if ends:
        dated = "when" in ops
        fits = ops <= ({"when", "latest"} if dated else {"any"})
        return ("when_end" if dated else "stopped") if fits else None
    if "dose" in verbs and topic == "medications":
        return "dose" if ops <= {"latest", "any"} else None
    if "since" in ops:
        return "when_first" if ops <= {"since", "when", "first"} else None
    if "when" in ops:
        rest = ops - {"when", "any", "list"}
        return "list" if "list" in ops and not rest else _event_when(rest, verbs, topic)
    if "list" in ops:
        return "list" if ops <= {"list", "any", "latest"} else None
    if ops == {"first"}:
        return "when_first"
    if "latest" in ops and topic in {"procedures", "immunizations"}:
        return "when_last" if ops <= {"latest", "any"} else None
    return "any" if ops <= {"any", "latest"} else None


_ENDS = {"stop", "resolve"}


def _entry_ask(clause: Clause, ops: set[str], topic: Topic) -> Ask | None:
    """Who ordered or did it, and why; of a medicine also why it was stopped."""
    asked, verbs = ops & _OF_THE_ENTRY, clause.verbs
    if ops - asked - {"latest", "any"} or topic == "immunizations":
        return None
    if asked == {"length"} and topic != "procedures":
        return "length" if not verbs & _ENDS else None
    if topic == "conditions":
        return None
    if asked == {"why"} and topic == "medications":
        return "why_end" if "stop" in verbs else "why"
    if len(asked) > 1 or asked == {"length"} or verbs & _ENDS:
        return None
    return "where" if asked == {"where"} else "who" if asked == {"who"} else None


def _event_when(rest: set[str], verbs: frozenset[str], topic: Topic) -> Ask | None:
    if rest == {"latest"}:
        return "when_last"
    if rest == {"first"}:
        return "when_first"
    if rest:
        return None
    return "when_first" if topic == "conditions" or "start" in verbs else "when_last"


def _status(clause: Clause) -> Status | None:
    if len(clause.statuses) > 1:
        return None
    return cast("Status", next(iter(clause.statuses), "any"))


# ---- lists


_LIST_VERBS: dict[str, set[str]] = {
    "medications": {"take", "start", "stop", "dose"},
    "conditions": {"diagnose", "resolve"},
    "procedures": {"undergo", "take", "measure"},
    "immunizations": {"vaccinate", "take"},
    "careplans": {"take", "start"},
    "orders": {"take"},
}
_DATED_TOPICS = {"immunizations", "procedures", "reports", "documents", "orders"}


def _list(clause: Clause, topic: Topic) -> tuple[Query, ...]:
    if topic not in _LISTED or clause.ops & (_FIGURES | _CHANGES):
        return ()
    verbs = clause.verbs - {"on"}
    if verbs - _LIST_VERBS.get(topic, set()) or ("start" in verbs and topic != "careplans"):
        return ()
    status = _status(clause)
    if status is None or (verbs & {"stop", "resolve"} and status == "active"):
        return ()
    if verbs & {"stop", "resolve"}:
        status = "inactive"
    ops = set(clause.ops - {"list", "any", "all"} - ({"why"} if topic == "orders" else set()))
    if topic in {"medications", "conditions"}:
        return _standing(clause, topic, status, ops)
    if status == "inactive" and topic not in {"procedures", "immunizations", "reports"}:
        return ()
    status = "any" if status == "inactive" else status
    ever = "all" in clause.ops or {"any", "count"} <= clause.ops  # "how many has she had"
    if topic in {"careplans", "orders", "goals"} and not ever:
        status = "active" if clause.window is None else status
    return _catalogue(clause, topic, status, ops)


def _catalogue(clause: Clause, topic: Topic, status: Status, ops: set[str]) -> tuple[Query, ...]:
    """List, count or date what a category holds."""
    made = _listing(clause, topic, status, ops)
    return tuple(replace(one, field="surgery") for one in made) if clause.surgical else made


def _listing(clause: Clause, topic: Topic, status: Status, ops: set[str]) -> tuple[Query, ...]:
    if clause.last is not None:
        asked = Query(topic=topic, ask="list", window=clause.window, last=clause.last)
        return (asked,) if ops == {"latest"} else ()
    if "count" in ops:
        asked = Query(topic=topic, ask="count", window=clause.window, status=status)
        return (asked,) if ops == {"count"} else ()
    if not ops:
        return (Query(topic=topic, ask="list", window=clause.window, status=status),)
    if topic not in _DATED_TOPICS:
        fits = ops == {"latest"}
        return (
            (Query(topic=topic, ask="list", window=clause.window, status="active"),) if fits else ()
        )
    ask = _CATALOGUE_ASKS.get(frozenset(ops))
    return (Query(topic=topic, ask=ask, window=clause.window),) if ask is not None else ()


_CATALOGUE_ASKS: dict[frozenset[str], Ask] = {
    frozenset({"latest"}): "when_last",
    frozenset({"when", "latest"}): "when_last",
    frozenset({"first"}): "when_first",
    frozenset({"when", "first"}): "when_first",
    frozenset({"when"}): "list",
}


def _standing(clause: Clause, topic: Topic, status: Status, ops: set[str]) -> tuple[Query, ...]:
    """Medicines and problems: which stand now, and which have ended."""
    if clause.last is not None or ops - {"latest", "count"}:
        return ()
    if "latest" in ops:
        if status == "inactive":
            return ()
        if clause.window is not None:
            return ()
        status = "active"
    ever = "any" in clause.ops and "diagnose" in clause.verbs
    if status == "any" and clause.window is None and "all" not in clause.ops and not ever:
        status = "active"
    ask: Ask = "count" if "count" in ops else "list"
    return (Query(topic=topic, ask=ask, window=clause.window, status=status),)


def _visits(clause: Clause) -> tuple[Query, ...]:
    visits = set(clause.visits)
    if len(visits) > 1 or clause.entities or clause.statuses or clause.bound:
        return ()
    if clause.verbs - {"visit", "on"} or clause.ops & (_FIGURES | _CHANGES):
        return ()
    visit = next(iter(visits), "")
    ops = clause.ops - {"list", "all"}
    if "length" in ops:
        ops -= {"any"}
        fits = ops <= {"length", "latest"} and clause.last is None
        return (Query(topic="timeline", ask="length", window=clause.window, visit=visit),) * fits
    also = next(iter(sorted(ops & _OF_THE_ENTRY)), "")
    if (
        also
    ):  # who was seen and why stands in a visit's own line, the newest's unless another is named
        ops = (ops - _OF_THE_ENTRY) | (set[str]() if "first" in ops else {"latest"})
    if "count" in ops:
        ask: Ask | None = "count" if ops <= {"count", "any"} and clause.last is None else None
    elif clause.last is not None:
        ask = "list" if ops <= {"latest"} else None
    elif "first" in ops:
        ask = "when_first" if ops <= {"first", "when"} else None
    elif "latest" in ops:
        ask = "when_last" if ops <= {"latest", "when"} else None
    elif "any" in ops:
        ask = "any" if ops <= {"any"} else None
    elif ops == {"when"}:
        ask = "list"
    else:
        ask = "list" if not ops else None
    if ask is None:
        return ()
    asked = Query(topic="timeline", ask=ask, window=clause.window, visit=visit, last=clause.last)
    return (replace(asked, field=also),)


def _panel(clause: Clause, topic: Topic) -> tuple[Query, ...]:
    """For "latest labs" or "vitals in 2019" the newest reading of each kind."""
    if clause.ops - {"latest", "list", "all", "any"} or clause.statuses or clause.last is not None:
        return ()
    if clause.verbs - {"measure", "on"} or clause.entities:
        return ()
    return (Query(topic=topic, ask="latest", window=clause.window),)
