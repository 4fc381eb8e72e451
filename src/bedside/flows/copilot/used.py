"""What a reading made use of: a question is a rule's only where nothing telling is left over. Pure.

Words of the closed class (kind "fill": articles, pronouns, auxiliaries, courtesy) tell nothing.
Every other piece has to show in one of the queries: an operation in what is asked, a verb in the
category it belongs to, a name, a time, a bound, a unit in the query's own part for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.flows.copilot.lexicon import Meaning
from bedside.flows.copilot.query import Query
from bedside.flows.copilot.question import Piece

__all__ = ["left_over"]

_FIGURES = {"observations", "labs", "vitals"}
_STRUCTURE = {"fill", "conj", "or"}
_ASKS: dict[str, set[str]] = {
    "first": {"first", "when_first", "change_first"},
    "highest": {"highest", "when_highest"},
    "lowest": {"lowest", "when_lowest"},
    "average": {"average"},
    "count": {"count"},
    "previous": {"previous"},
    "change": {"change"},
    "change_first": {"change_first"},
    "trend": {"trend", "change", "change_first"},
    "list": {"list", "latest", "trend"},
    "since": {"when_first"},
    "when": {"when_first", "when_last", "when_end", "when_highest", "when_lowest", "list", "field"},
    "dates": {"when_first", "when_last", "list"},
    "who": {"who"},
    "where": {"where"},
    "why": {"why", "why_end"},
    "length": {"length"},
}
_NOW = frozenset(
    [
        *("current", "currently", "now", "right now", "present", "at present", "at the moment"),
        *("as of now", "today", "up to date", "these days", "nowadays", "to date latest", "recent"),
    ]
)
_OVER_ALL = {"list", "count", "trend", "average", "highest", "lowest"}
_ENDED = {"stopped", "when_end", "why_end", "length"}
_SINGLE = {"when_last", "when_first"}
_VERBS: dict[str, set[str]] = {
    "take": {"medications", "immunizations", "procedures", "orders", *_FIGURES},
    "dose": {"medications", "immunizations"},
    "start": {"medications", "careplans", "conditions", "procedures", "immunizations"},
    "diagnose": {"conditions", "family_history"},
    "measure": {"procedures", "immunizations", "reports", "orders", *_FIGURES},
    "vaccinate": {"immunizations"},
    "undergo": {"procedures"},
    "allergic": {"allergies"},
    "visit": {"timeline"},
}
_BESIDE: dict[str, set[str]] = {
    "surgery": {"procedures"},
    "labs": _FIGURES,
    "vitals": _FIGURES,
    "reports": {"observations"},
    "medications": {"allergies"},
    "observations": _FIGURES,
}
"""A category that may be said beside the one that is asked: "lab results for potassium"."""


def left_over(text: str, pieces: Sequence[Piece], queries: Sequence[Query]) -> tuple[str, ...]:
    """What was said and shows in no query; empty where all of it was used."""
    found = [piece.said for piece in pieces if not any(_is_used(piece, query) for query in queries)]
    found += [text for query in queries if _passes_over(text, query)]
    if any(query.window and _may_stand(query) for query in queries) and not _begun(pieces):
        found += [piece.said for piece in pieces if piece.window is not None]
    if any(query.topic == "immunizations" and query.ask == "any" for query in queries):
        found += _illnesses(text, pieces)
    if len(queries) > 1 and all(query.ask == "any" for query in queries):
        found += [piece.said for piece in pieces if piece.said in _AT_ONCE]
    return tuple(found + _related(pieces) + _stranded(pieces, queries))


def _passes_over(text: str, query: Query) -> bool:
    """True where the order of the words asks for more: how many stitches, what it is made of."""
    if query.ask == "count" and query.topic in _NO_COUNT:
        return _NO_COUNT[query.topic].search(text) is not None
    problem = query.topic == "conditions" and query.entity is not None and query.ask == "any"
    return problem and _STRANDED.search(text) is not None


_NO_COUNT = {
    "medications": re.compile(r"\bhow (?:often|frequently)\b", re.IGNORECASE),
    "procedures": re.compile(r"\bhow many (?:stitch|suture|stent|graft|staple)", re.IGNORECASE),
}
_STRANDED = re.compile(
    r"\b(?:what|which|who|whom)\b.+\b(?:on|of|from|with|to|by|in|at)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)


def _may_stand(query: Query) -> bool:
    """True of what may have stood in a time that it did not begin in: "on warfarin in 2012"."""
    return query.topic in {"medications", "conditions", "careplans"} and query.ask not in _DATED


_DATED = {"count", "when_first", "when_last", "when_end"}
_AT_ONCE = {"together with", "along with"}
"""Whether two things stood at the same time is more than whether each ever did."""
_ORDERING = ("prescri", "order", "issued", "dispens", "gave", "given", "script", "new")


def _begun(pieces: Sequence[Piece]) -> bool:
    return any(
        piece.means("verb") in {"start", "diagnose", "stop", "resolve"}
        or piece.said.startswith(_ORDERING)
        for piece in pieces
    )


_ILL = frozenset(
    [
        *("flu", "influenza", "tetanus", "hepatitis a", "hepatitis b", "hep a", "hep b", "measles"),
        *("measles mumps rubella", "measles mumps and rubella", "varicella", "zoster", "polio"),
        *("rotavirus", "rsv", "typhoid", "yellow fever", "rabies", "japanese encephalitis"),
        *("pneumococcal", "meningococcal", "covid", "haemophilus", "hpv", "chickenpox", "shingles"),
    ]
)
_HAD = re.compile(r"\b(?:had|has|have|get|got|caught|catch)\b", re.IGNORECASE)
_JABBED = ("jab", "shot", "vacc", "vax", "immuni", "dose", "booster", "given", "up to date")


_PREPOSITIONS = frozenset(["for", "with", "by", "to", "in", "about", "of", "from"])


def _stranded(pieces: Sequence[Piece], queries: Sequence[Query]) -> list[str]:
    """Prepositions with nothing after them ask for it: "what is it for and since when?"."""
    after = [*pieces[1:], Piece(said="", boundary=True)]
    asked = {query.ask for query in queries} | {query.field for query in queries}
    if asked & {"why", "for", "who", "where", "why_end"}:
        return []
    return [
        one.said
        for one, follows in zip(pieces, after, strict=True)
        if one.said in _PREPOSITIONS and (follows.boundary or follows.means("conj") is not None)
    ]


def _illnesses(text: str, pieces: Sequence[Piece]) -> list[str]:
    """Names of illnesses with no word of a vaccine beside them: "has she had the flu?"."""
    if not _HAD.search(text) or any(piece.said.startswith(_JABBED) for piece in pieces):
        return []
    return [piece.said for piece in pieces if piece.said in _ILL]


_NAMES = ("analyte", "panel", "vaccine", "drug", "drug_class", "condition", "procedure", "allergen")
_ROWS = set(_NAMES[:3])
"""What is typed in rows with nothing between: "WBC Hb platelets"."""
_PARTS = {("drug_class", "drug"), ("panel", "analyte")}


def _related(pieces: Sequence[Piece]) -> list[str]:
    """Names that stand in a relation to a name before them: "is anaemia iron deficiency?"."""
    found: list[str] = []
    before: Meaning | None = None
    apart, owner = False, False
    for piece in pieces:
        if piece.said == "s" and owner:
            found.append(piece.said)  # "family doctor's phone"
        owner = piece.means("person") is not None
        name = next((one for one in piece.meanings if one.kind in _NAMES), None)
        if piece.boundary or piece.means("conj") is not None or piece.means("or") is not None:
            before = None
        elif name is None or piece.anchor is not None:
            apart = True
        else:
            if before is not None and (apart or name.kind not in _ROWS):
                same = before.key == name.key or (before.kind, name.kind) in _PARTS
                found += [] if same else [piece.said]
            before, apart = name, False
    return found


def _is_used(piece: Piece, query: Query) -> bool:
    if piece.anchor is not None:
        return query.anchor is not None and query.anchor.side == piece.anchor
    if piece.window is not None:
        return query.window == piece.window
    if piece.bound is not None:
        return query.threshold == piece.bound
    if piece.number is not None and not piece.meanings:
        return query.last == piece.number
    telling = [one for one in piece.meanings if one.kind not in _STRUCTURE]
    return not telling or any(_tells(one, piece.said, query) for one in telling)


def _tells(meaning: Meaning, said: str, query: Query) -> bool:
    key = meaning.key
    match meaning.kind:
        case "op":
            return _op_tells(key, said, query)
        case "verb":
            return _verb_tells(key, said, query)
        case "status":
            return _status_tells(key, said, query)
        case "topic" | "encounter":
            if said.endswith("s") and query.ask in _SINGLE and query.field:
                return False  # "visits in 2019 and why" asks of all of them
            named = query.topic == key or query.topic in _BESIDE.get(key, ())
            return named or query.visit == key
        case "relative":
            return query.topic == "family_history" and query.field == key
        case "about":
            return _noun_tells(key, query)
        case "person" | "unit":
            return key in {query.field, query.unit}
        case _:
            return query.entity is not None and (
                (query.entity.kind, query.entity.key) == (meaning.kind, key)
                or (query.entity.kind == "panel" and meaning.kind == "analyte")
            )


def _op_tells(key: str, said: str, query: Query) -> bool:
    if key == "any":
        return True
    if key == "all":
        past = said.endswith(("history", "hx", "history of", "hx of"))  # "opioid history"
        return past or query.ask in _OVER_ALL or query.entity is None
    if key == "count" and query.entity is not None and query.entity.key in _IN_WORDS:
        return False
    if key == "latest":
        if query.topic in {"medications", "conditions"} and query.entity is None:
            return said in _NOW and query.status == "active"
        return not (
            query.ask == "dose" and said not in _NOW
        )  # "last dose" may be when it was taken
    return query.ask in _ASKS[key] or query.field == key


def _verb_tells(key: str, said: str, query: Query) -> bool:
    if key == "on":
        return True
    if said.startswith("order") and query.topic == "procedures":
        return query.ask in {"who", "why"}  # what was ordered need not be done
    if key in {"stop", "resolve"}:
        return query.ask in _ENDED or query.status == "inactive"
    return query.topic in _VERBS[key]


def _status_tells(key: str, said: str, query: Query) -> bool:
    if said == "completed" and query.entity is not None:
        return False  # a course's end is not in its last dose
    if key == "active":
        return query.status == "active" or query.ask in _ENDED | {"any", "dose", "for"}
    past = query.topic in {"procedures", "immunizations", "reports", "timeline"}
    return past or query.status == "inactive" or query.ask in {"previous", "any"} | _ENDED


_IN_WORDS = {"smoking status"}
"""Results that are words: they say whether, not how much or how many."""


def _noun_tells(key: str, query: Query) -> bool:  # noqa: PLR0911
    """Nouns and adjectives of a question that go with some things alone."""
    match key:
        case "result":
            return query.topic in _FIGURES | {"reports"} or query.field == "found"
        case "test":
            return query.topic in _FIGURES | {"reports", "procedures"}
        case "amount":
            smokes = query.entity is not None and query.entity.key in _IN_WORDS
            return (query.topic in _FIGURES and not smokes) or query.ask == "dose"
        case "whole":
            return query.ask in _OVER_ALL
        case "sort":
            return query.entity is None or query.ask == "for"
        case "place":
            return query.topic == "timeline" or "where" in {query.ask, query.field}
        case "name":
            return query.topic not in {"family_history", "person"}
        case "use":
            return query.topic == "medications"
        case "span":
            return query.window is not None or query.anchor is not None or query.ask == "trend"
        case "alone":
            return query.status != "any" or query.ask == "latest" or query.window is not None
        case _:
            return True
