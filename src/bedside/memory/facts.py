"""The fact ledger of one person in one session: categorised facts, each with its own words. Pure.

A fact is learned from a person's own message alone. The words that carry it are kept as a span and
as text, and a fact whose words do not stand there is refused: so neither an answer, nor what was
recalled into a prompt, nor an invention can become a fact.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from bedside.core.value import value

__all__ = [
    "CATEGORIES",
    "MOST_FACTS",
    "Diff",
    "Fact",
    "Own",
    "Refused",
    "Upsert",
    "apply",
    "located",
    "merge",
    "read_diff",
]

CATEGORIES = ("Emotional", "People", "Logistics", "Conflict", "History")
MOST_FACTS = 20
_LONGEST = 300
_SHORTEST_QUOTE = 8


@value
class Own:
    """One message that the person wrote: its source, its revision and its stored text."""

    source: str
    text: str
    revision: int = 1


@value
class Fact:
    """One fact. `quote` equals the message's text from `start` to `end` (code points, half-open)."""

    id: str
    category: str
    text: str
    source: str
    start: int
    end: int
    quote: str
    revision: int = 1


@value
class Upsert:
    """A fact to add, or to put in place of the one with this `id`. `quote` are the person's words."""

    category: str
    text: str
    quote: str
    id: str = ""
    source: str = ""


@value
class Diff:
    """What changes: facts to add or replace, and ids to take out."""

    upsert: tuple[Upsert, ...] = ()
    delete: tuple[str, ...] = ()


@value
class Refused:
    """A part of a diff that was not applied. `place` is its number in its list, from 0."""

    place: int
    why: Literal[
        "no source words", "not the person's words", "unknown category", "empty", "too long",
        "full", "unknown id", "adds figures",
    ]  # fmt: skip


def read_diff(body: object) -> Diff:
    """A diff as a model writes it, `{"upsert": [...], "delete": [...]}`; what is malformed is left out."""
    if not isinstance(body, Mapping):
        return Diff()
    upserts: list[Upsert] = []
    given = body.get("upsert")
    for one in given if isinstance(given, Sequence) and not isinstance(given, str) else ():
        if isinstance(one, Mapping):
            field = {
                name: str(one.get(name) or "").strip() for name in ("id", "category", "source")
            }
            text = str(one.get("fact") or one.get("text") or "").strip()
            quote = str(one.get("quote") or "").strip()
            upserts.append(Upsert(text=text, quote=quote, **field))
    gone = body.get("delete")
    deletes = gone if isinstance(gone, Sequence) and not isinstance(gone, str) else ()
    return Diff(upsert=tuple(upserts), delete=tuple(one for one in deletes if isinstance(one, str)))


def apply(
    ledger: Sequence[Fact],
    diff: Diff,
    own: Iterable[Own],
    *,
    most: int = MOST_FACTS,
    categories: Sequence[str] = CATEGORIES,
) -> tuple[tuple[Fact, ...], tuple[Refused, ...]]:
    """The ledger after a diff, and what of the diff was refused.

    Args:
        ledger: As it stands, oldest first.
        diff: Deletions are applied first, so that they make room.
        own: The person's own messages; never answers, and nothing that was recalled.
        most: Facts that the ledger holds; beyond it new ones are refused, none is pushed out.
        categories: Names that count.

    Returns:
        The facts in their order, a replaced one in its place with its id; refusals in order.
    """
    gone = set(diff.delete)
    refused = [
        Refused(place=place, why="unknown id")
        for place, ident in enumerate(diff.delete)
        if ident not in {fact.id for fact in ledger}
    ]
    facts = {fact.id: fact for fact in ledger if fact.id not in gone}
    messages = tuple(own)
    for place, upsert in enumerate(diff.upsert):
        made = _made(upsert, messages, categories)
        if not isinstance(made, Fact):
            refused.append(Refused(place=place, why=made))
            continue
        if upsert.id and upsert.id in facts:
            facts[upsert.id] = replace(made, id=upsert.id)
        elif _twin(made, facts.values()) is not None:
            continue  # it is known already, in these words
        elif len(facts) >= most:
            refused.append(Refused(place=place, why="full"))
        else:
            facts[made.id] = made
    return tuple(facts.values()), tuple(refused)


def _made(
    upsert: Upsert, own: Sequence[Own], categories: Sequence[str]
) -> Fact | Literal[
    "no source words", "not the person's words", "unknown category", "empty", "too long",
    "adds figures",
]:  # fmt: skip
    text = " ".join(upsert.text.split())
    if not text:
        return "empty"
    if len(text) > _LONGEST:
        return "too long"
    if upsert.category not in categories:
        return "unknown category"
    if len(upsert.quote) < _SHORTEST_QUOTE:
        return "no source words"
    for message in reversed(own):
        if upsert.source and message.source != upsert.source:
            continue
        span = located(upsert.quote, message.text)
        if span is None:
            continue
        quote = message.text[span[0] : span[1]]
        if not set(_FIGURE.findall(text)) <= set(_FIGURE.findall(message.text)):
            return "adds figures"
        return Fact(
            id=_ident(message.source, span, upsert.category),
            category=upsert.category,
            text=text,
            source=message.source,
            revision=message.revision,
            start=span[0],
            end=span[1],
            quote=quote,
        )
    return "not the person's words"


_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def located(quote: str, text: str) -> tuple[int, int] | None:
    """Where the words stand; white space and typographic quotes may differ, nothing else."""
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote)
    words = [re.escape(word) for word in _plain(quote).split()]
    if not words or len(_plain(text)) != len(text):
        return None
    found = re.search(r"\s+".join(words), _plain(text))
    return found.span() if found else None


_QUOTES = str.maketrans("‘’“”\u00a0", "''\"\" ")


def _plain(text: str) -> str:
    return text.translate(_QUOTES)


def _ident(source: str, span: tuple[int, int], category: str) -> str:
    """Stable: the same words of the same message under the same heading are the same fact."""
    key = f"{source}\0{span[0]}\0{span[1]}\0{category}"
    return f"fact-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _twin(fact: Fact, facts: Iterable[Fact]) -> Fact | None:
    same = (one for one in facts if one.id == fact.id or _folded(one.text) == _folded(fact.text))
    return next(same, None)


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", letters))


def merge(profile: Sequence[Fact], facts: Sequence[Fact], *, most: int = 50) -> tuple[Fact, ...]:
    """A profile with new facts: each once, the newest kept where there are more than `most`."""
    kept = {_folded(fact.text): fact for fact in (*profile, *facts)}
    return tuple(kept.values())[-most:]
