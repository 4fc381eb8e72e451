"""From pieces to queries: the whole question, or nothing. Pure.

A question is split into clauses at "and", commas and full stops. A clause without an operation
takes it from its neighbour ("latest HbA1c and creatinine"), one without a subject takes that
("first and last weight"). Each clause must then be a combination that a tool answers exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, cast

from bedside.core.value import value
from bedside.flows.copilot.following import followed, goes_on, has_pronoun, of_that_time
from bedside.flows.copilot.lexicon import Lexicon
from bedside.flows.copilot.names import panel_members
from bedside.flows.copilot.query import Anchor, Entity, EntityKind, Parsed, Query, Threshold, Window
from bedside.flows.copilot.question import Piece, read
from bedside.flows.copilot.subjects import query_of
from bedside.flows.copilot.used import left_over

__all__ = ["Clause", "asks_what_for", "parse"]

_ENTITY_KINDS = (
    "analyte",
    "panel",
    "vaccine",
    "procedure",
    "condition",
    "drug",
    "drug_class",
    "allergen",
)
_MOST_QUERIES = 6
_WHAT_FOR = re.compile(r"\bwhat\b.+\bfor\W*\Z|\bindication\b", re.IGNORECASE | re.DOTALL)
_MEANING = re.compile(r"\bwhat\s+(?:do|does|did)\b.+\bmean\b", re.IGNORECASE | re.DOTALL)
"""A meaning, not an average."""
_SHOWED = re.compile(
    r"\bwhat\b.*\b(?:shows?|showed|found|find)\b|\b(?:findings?|results?|outcome|conclusion)\b",
    re.IGNORECASE | re.DOTALL,
)
_GIVEN_FOR = re.compile(
    r"\bwhat\b.+\b(?:get|got|gave|give|given|have|had|treated|used)\b.*\b(?:for|with)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What was taken for a problem, and not whether there was one: "what did she get for the gout?"."""
_SWALLOWED = re.compile(
    r"\b(?:is|are|was|were|been)\s+(?:(?!there\b)\w+\s+){1,3}on\b|\btak(?:e|es|ing)\b|\bprescri"
    r"|\breceiv|\b(?:was|were|been|being)\s+(?:\w+\s+){0,2}given\b|\bput on\b",
    re.IGNORECASE,
)
_OF_ONE_SORT = re.compile(r"\b(?:food|drug|medication)\s+(?:allerg|intoleran)", re.IGNORECASE)
_MOST_COUNTED = 50


@value
class Clause:
    """What one part of a question holds, each kind of word apart; `other` breaks it."""

    ops: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    topics: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    visits: tuple[str, ...] = ()
    entities: tuple[tuple[Entity, ...], ...] = ()
    window: Window | None = None
    bound: Threshold | None = None
    last: int | None = None
    unit: str = ""
    anchor: Anchor | None = None
    relative: str | None = None
    either: bool = False
    surgical: bool = False
    broken: bool = False

    @property
    def subject(self) -> bool:
        """True when the clause says what it is about."""
        return bool(self.topics or self.fields or self.visits or self.entities)

    @property
    def asked(self) -> bool:
        """True when the clause says what to do with its subject."""
        return bool(
            self.ops or self.bound or self.statuses or self.last or self.verbs - {"take", "on"}
        )


def parse(
    text: str, *, today: date, record: Lexicon | None = None, before: Sequence[str] = ()
) -> Parsed:
    """Read a question, as one that goes on from those `before` it (newest first) where it does.

    Returns:
        With queries only when every word is accounted for and every clause is a combination that
        rules answer; else with what was recognised, for planning.
    """
    pieces = read(text, today=today, record=record)
    unknown = tuple(piece.said for piece in pieces if _unknown(piece))
    clauses = _clauses(pieces)
    if not clauses and _SHOWED.search(text):
        clauses = [Clause()]  # "what did it show?"
    sure, about = True, ()
    if before and clauses:
        earlier = [read(one, today=today, record=record) for one in before]
        about = next((one for one in earlier if any(part.subject for part in _clauses(one))), ())
        named = not any(part.topics for part in _clauses(about))
        sure = named or not any(map(_unknown, about))
        if goes_on(text, clauses) or not unknown:
            was = clauses
            clauses = followed(text, _meant(text, pieces, was, about), _clauses(about))
            sure = sure or clauses == was
        sure = sure and not of_that_time(text, clauses)
    parsed = Parsed(
        unknown=unknown,
        entities=_entities(clauses),
        topics=tuple(dict.fromkeys(topic for clause in clauses for topic in clause.topics)),
        windows=tuple(clause.window for clause in clauses if clause.window is not None),
        asks=tuple(sorted({op for clause in clauses for op in clause.ops})),
        unit=next((clause.unit for clause in clauses if clause.unit), ""),
        bounds=tuple(clause.bound for clause in clauses if clause.bound is not None),
        fields=tuple(dict.fromkeys(field for clause in clauses for field in clause.fields)),
        visits=tuple(dict.fromkeys(visit for clause in clauses for visit in clause.visits)),
    )
    if unknown and goes_on(text, clauses):
        return replace(parsed, entities=parsed.entities or _entities(_clauses(about)))
    if unknown or not sure or not clauses or any(clause.broken for clause in clauses):
        return parsed
    queries = _asked(text, clauses)
    left = left_over(text, pieces, queries) if queries else ()
    return parsed if left else replace(parsed, queries=queries)


def _asked(text: str, clauses: Sequence[Clause]) -> tuple[Query, ...]:
    """The queries of all clauses; empty where one of them has none."""
    if _MEANING.search(text) or _as_medicine(text, clauses):
        return ()
    if _GIVEN_FOR.search(text):
        clauses = [
            replace(one, verbs=one.verbs | {"take"}) if _is_problem(one) else one for one in clauses
        ]
    settled = None if _relates(clauses) else _settled(clauses)
    if settled is None:
        return ()
    made = [query_of(clause) for clause in settled]
    if not all(made):
        return ()
    distinct = _turned(text, _without_members(_once([one for some in made for one in some])))
    return distinct if len(distinct) <= _MOST_QUERIES else ()


def _as_medicine(text: str, clauses: Sequence[Clause]) -> bool:
    """True of "is he on vitamin D or calcium?": taken, though results have the same names."""
    return _SWALLOWED.search(text) is not None and any(
        bool(part.verbs & {"on", "take"})
        and any(group[0].kind in {"analyte", "panel"} for group in part.entities)
        and not any(one.kind in {"drug", "drug_class"} for group in part.entities for one in group)
        for part in clauses
    )


def _is_problem(clause: Clause) -> bool:
    return bool(clause.entities) and all(group[0].kind == "condition" for group in clause.entities)


def _meant(
    text: str, pieces: Sequence[Piece], clauses: Sequence[Clause], about: Sequence[Piece]
) -> Sequence[Clause]:
    """In "is she still taking it?" after a medicine the verb names no subject: "it" does."""
    named = [one for part in _clauses(about) for group in part.entities for one in group]
    taken = bool(named) and {one.kind for one in named} <= {"drug", "drug_class", "condition"}
    return _clauses(pieces, implied=False) if taken and has_pronoun(text) else clauses


def _entities(clauses: Sequence[Clause]) -> tuple[Entity, ...]:
    return tuple(
        dict.fromkeys(one for clause in clauses for group in clause.entities for one in group)
    )


def _turned(text: str, queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """What the whole sentence asks of each: the reason ("what is it for"), or what was found.

    Empty where the sentence asks for a reason of something that has none in the record.
    """
    if asks_what_for(text) and not any(query.ask == "why" for query in queries):
        named = all(query.topic == "medications" and query.entity for query in queries)
        if not named or any(query.ask != "any" for query in queries):
            return ()
        return tuple(replace(query, ask="why") for query in queries)
    if _OF_ONE_SORT.search(text):
        queries = tuple(
            replace(one, field="sort") if one.topic == "allergies" else one for one in queries
        )
    if not _SHOWED.search(text):
        return queries
    return tuple(
        replace(query, field="found") if query.topic == "procedures" and query.entity else query
        for query in queries
    )


def _once(queries: Sequence[Query]) -> tuple[Query, ...]:
    """Each thing once, however often it was said ("blood group and Rh")."""
    found: dict[Query, Query] = {}
    for query in queries:
        plain = query.entity and replace(query.entity, said="")
        found.setdefault(replace(query, entity=plain), query)
    return tuple(found.values())


def asks_what_for(text: str) -> bool:
    """True of "what is warfarin for", which asks for the reason and not whether she takes it."""
    return _WHAT_FOR.search(text) is not None


def _without_members(queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """A panel's own members asked beside it ("lipids: LDL, HDL") are answered once."""
    panels = {
        member
        for query in queries
        if query.entity is not None and query.entity.kind == "panel"
        for member in panel_members(query.entity.key)
    }
    asks = {query.ask for query in queries}
    if not panels or len(asks) > 1:
        return queries
    return tuple(
        query
        for query in queries
        if query.entity is None or query.entity.kind == "panel" or query.entity.key not in panels
    )


def _unknown(piece: Piece) -> bool:
    if piece.means("halt") is not None:
        return True
    return not (piece.meanings or piece.window or piece.bound or piece.boundary) and (
        piece.number is None
    )


def _clauses(pieces: Sequence[Piece], *, implied: bool = True) -> list[Clause]:
    found: list[Clause] = []
    part: list[Piece] = []
    either = False
    for piece in pieces:
        joins = piece.means("or") is not None
        if piece.boundary or piece.means("conj") is not None or joins:
            either = either or joins
            found.append(_clause(part))
            part = []
        else:
            part.append(piece)
    found.append(_clause(part))
    kept = [one for one in found if one != Clause()]
    return [replace(one, either=either) for one in (_implied(kept) if implied else kept)]


def _clause(pieces: Sequence[Piece]) -> Clause:
    made: dict[str, Any] = {
        "ops": set[str](),
        "verbs": set[str](),
        "statuses": set[str](),
        "topics": list[str](),
        "fields": list[str](),
        "visits": list[str](),
        "entities": list[tuple[Entity, ...]](),
        "window": None,
        "bound": None,
        "last": None,
        "unit": "",
        "anchor": None,
        "relative": None,
        "surgical": False,
        "broken": False,
    }
    for piece in pieces:
        _take(made, piece)
    if "dates" in made["ops"]:  # "HPV, dates?" wants each; "date of the first" only that
        made["ops"] = (
            made["ops"] - {"dates"} | {"when"} | ({"list"} if made["ops"] == {"dates"} else set())
        )
    if made["last"] is not None and not made["ops"] & {"latest", "first"}:
        made["broken"] = True
    for name in ("ops", "verbs", "statuses"):
        made[name] = frozenset(made[name])
    for name in ("topics", "fields", "visits", "entities"):
        made[name] = tuple(dict.fromkeys(made[name]))
    return Clause(**made)


_IMPLIED = {
    "vaccinate": "immunizations",
    "undergo": "procedures",
    "diagnose": "conditions",
    "take": "medications",
    "on": "medications",
}
_ALWAYS_IMPLIED = {"visit": "timeline", "allergic": "allergies"}


def _implied(clauses: Sequence[Clause]) -> list[Clause]:
    """A verb names its subject where nothing else does: "what is she on?", "when last seen?"."""
    named = any(clause.entities for clause in clauses)
    found: list[Clause] = []
    for clause in clauses:
        topic = None
        if not clause.subject:
            verbs = sorted(clause.verbs)
            topic = next((_ALWAYS_IMPLIED[one] for one in verbs if one in _ALWAYS_IMPLIED), None)
            if topic is None and not named and len(verbs) == 1:
                topic = _IMPLIED.get(verbs[0])
        found.append(clause if topic is None else replace(clause, topics=(topic,)))
    return found


def _take(made: dict[str, Any], piece: Piece) -> None:
    if piece.anchor is not None:
        made["broken"] = made["broken"] or made["anchor"] is not None
        made["anchor"] = Anchor(
            side=piece.anchor, things=_things_of(piece), visit=piece.means("encounter") or ""
        )
    elif piece.window is not None:
        made["broken"] = made["broken"] or made["window"] is not None
        made["window"] = piece.window
    elif piece.bound is not None:
        made["broken"] = made["broken"] or made["bound"] is not None
        made["bound"] = piece.bound
    elif piece.number is not None and not piece.meanings:
        # A bare number counts readings ("last 3"); anything else was not understood.
        made["broken"] = (
            made["broken"] or made["last"] is not None or not 1 <= piece.number <= _MOST_COUNTED
        )
        made["last"] = piece.number
    else:
        _take_phrase(made, piece)


def _things_of(piece: Piece) -> tuple[Entity, ...]:
    return tuple(
        Entity(kind=cast("EntityKind", one.kind), key=one.key, said=piece.said)
        for kind in _ENTITY_KINDS
        for one in piece.meanings
        if one.kind == kind
    )


def _take_phrase(made: dict[str, Any], piece: Piece) -> None:
    entities = _things_of(piece)
    if entities:
        made["entities"].append(entities)
        return
    if (unit := piece.means("unit")) is not None:
        made["broken"] = made["broken"] or made["unit"] not in {"", unit}
        made["unit"] = unit
        return
    if (relative := piece.means("relative")) is not None:
        made["broken"] = made["broken"] or made["relative"] not in {None, "", relative}
        made["relative"] = relative or made["relative"] or ""
        made["topics"].append("family_history")
        return
    for kind, slot in (
        ("op", "ops"),
        ("status", "statuses"),
        ("verb", "verbs"),
        ("topic", "topics"),
        ("person", "fields"),
        ("encounter", "visits"),
    ):
        key = piece.means(kind)
        if key == "previous" and piece.means("status") is not None:
            continue
        if key == "surgery":
            key, made["surgical"] = "procedures", True
        if key is not None:
            if isinstance(made[slot], set):
                made[slot].add(key)
            else:
                made[slot].append(key)
    if piece.meanings and all(one.kind == "cmp" for one in piece.meanings):
        made["broken"] = True


def _settled(clauses: Sequence[Clause]) -> list[Clause] | None:
    """Clauses with their subjects and operations filled in from their neighbours."""
    if not any(clause.subject for clause in clauses):
        return None
    filled = list(clauses)
    for index, clause in enumerate(filled):
        if not clause.subject:
            source = _neighbour(filled, index)
            if source is None:
                return None
            filled[index] = replace(
                clause,
                topics=source.topics,
                fields=source.fields,
                visits=source.visits,
                entities=source.entities,
                ops=clause.ops if clause.asked else source.ops,
                bound=clause.bound if clause.asked else source.bound,
                verbs=clause.verbs | source.verbs if not clause.asked else clause.verbs,
                statuses=clause.statuses if clause.asked else source.statuses,
                last=clause.last if clause.asked else source.last,
            )
    filled = _dated(_like_neighbours(filled))
    related = _with_relatives(filled)
    carried = _with_allergies(related) if related is not None else None
    if carried is None:
        return None
    filled = carried
    for index, clause in enumerate(filled):
        if not clause.asked:
            source = next(
                (one for one in (*reversed(filled[:index]), *filled[index + 1 :]) if one.asked),
                None,
            )
            if source is not None and _alike(source, clause):
                filled[index] = replace(
                    clause,
                    ops=source.ops,
                    bound=source.bound,
                    statuses=source.statuses,
                    verbs=clause.verbs | source.verbs if clause.entities else clause.verbs,
                    last=source.last,
                )
    return _windows(list(clauses), filled)


def _dated(clauses: Sequence[Clause]) -> list[Clause]:
    """In "how many courses, and the last?" or "dates of first and last" the last is asked by its date."""
    dated = any({"count", "when"} & clause.ops for clause in clauses)
    return [
        replace(clause, ops=clause.ops | {"when"})
        if dated and clause.ops in ({"latest"}, {"first"}) and not clause.verbs
        else clause
        for clause in clauses
    ]


def _like_neighbours(clauses: list[Clause]) -> list[Clause]:
    """A name of two kinds is of its neighbour's: in "rotavirus and hep B" both are vaccines."""
    sure = {
        group[0].kind
        for clause in clauses
        for group in clause.entities
        if len({one.kind for one in group}) == 1
    }
    if sure != {"vaccine"}:
        return clauses
    return [
        replace(
            clause,
            entities=tuple(
                tuple(one for one in group if one.kind in sure) or group
                for group in clause.entities
            ),
        )
        for clause in clauses
    ]


def _with_relatives(clauses: list[Clause]) -> list[Clause] | None:
    """In "family history of diabetes or MI" the second problem is the family's, too.

    `None` where that is not sure.
    """
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1] if found else None
        if before is None or "family_history" not in before.topics or not clause.entities:
            found.append(clause)
        elif clause.asked or clause.verbs or clause.topics:
            return None
        else:
            found.append(replace(clause, topics=before.topics, relative=before.relative))
    return found


def _with_allergies(clauses: list[Clause]) -> list[Clause] | None:
    """In "allergic to penicillin or latex" the second substance is asked the same way.

    `None` where that is not sure: in "bee sting allergy, epipen?" the medicine is another question.
    """
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1] if found else None
        bare = bool(clause.entities) and not (clause.asked or clause.verbs or clause.topics)
        if (
            before is not None
            and bare
            and ("allergies" in before.topics or "allergic" in before.verbs)
        ):
            verbs = before.verbs & {"allergic"}
            if not (verbs or clause.either or _of_one_kind(before, clause)):
                return None
            found.append(replace(clause, topics=("allergies",), ops=before.ops, verbs=verbs))
        else:
            found.append(clause)
    return found


def _of_one_kind(before: Clause, clause: Clause) -> bool:
    """Both medicines, or both other substances."""
    kinds = [
        {one.kind for group in part.entities for one in group} & {"drug", "drug_class", "allergen"}
        for part in (before, clause)
    ]
    return not before.entities or ("allergen" in kinds[0]) == ("allergen" in kinds[1])


def _relates(clauses: Sequence[Clause]) -> bool:
    """Bare names of different kinds ("naproxen and CKD?") ask how they bear on each other."""
    kinds = [
        {"figure" if one.kind in {"analyte", "panel"} else one.kind for one in group}
        for clause in clauses
        for group in clause.entities
    ]
    mixed = any(not (left & right) for left in kinds for right in kinds)
    bare = not any(clause.asked or clause.verbs or clause.topics for clause in clauses)
    return mixed and bare


def _alike(source: Clause, clause: Clause) -> bool:
    """An operation passes over only between subjects of one kind."""
    kinds = {one.kind for group in source.entities for one in group}
    other = {one.kind for group in clause.entities for one in group}
    if bool(kinds) != bool(other):
        return False
    if kinds:
        return bool(kinds & other) or (
            source.bound is None and {"analyte", "panel"} >= kinds | other
        )
    return not source.fields and not clause.fields


def _neighbour(clauses: Sequence[Clause], index: int) -> Clause | None:
    after = [one for one in clauses[index + 1 :] if one.subject]
    before = [one for one in clauses[:index] if one.subject]
    return next(iter((*reversed(before), *after)), None)


def _windows(said: Sequence[Clause], filled: list[Clause]) -> list[Clause] | None:
    """A window said once holds for all where the clauses share subject or operation."""
    windows = [clause.window for clause in said if clause.window is not None]
    if not windows or len(windows) == len(filled):
        return filled
    if any("latest" in one.ops and not one.window for one in said) and any(
        one.window and not one.subject for one in said
    ):
        return filled  # "heart rate now vs in July"
    if len(windows) > 1:
        return None
    shared_subject = (
        len({clause.entities + clause.topics + clause.visits for clause in filled}) == 1
    )
    shared_ask = sum(clause.asked for clause in said) <= 1
    if not (shared_subject or shared_ask):
        return None
    return [replace(clause, window=windows[0]) for clause in filled]
