"""The people whom a person mentions: extracted after the answer, each with words that name them. Pure.

Read by rule or by the small model; either way a person without verbatim words of the person's own, or
whose name does not stand in these words, is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bedside.core.value import value
from bedside.flows.companion.kept import Acquaintance
from bedside.language.sentences import sentences
from bedside.memory.facts import Own, Upsert, located

__all__ = ["Mention", "as_facts", "may_name", "met", "names", "people_by_rule", "people_of"]

MOST_PEOPLE = 20
_LONGEST, _SHORTEST_QUOTE = 60, 8
_RELATION = (
    r"(?:(?:older|younger|elder|little|big|late|ex|best|step|half|eldest|youngest|oldest|new|old)[- ])?"
    r"(?:grand|step|half[- ])?(?:mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband|"
    r"partner|girlfriend|boyfriend|fianc[eé]e?|friend|boss|colleague|neighbou?r|aunt|uncle|cousin|niece|"
    r"nephew|therapist|doctor|teacher|nurse|manager|roommate|flatmate)(?:-in-law)?"
)
_NAME = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?"
_MINE = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<relation>{_RELATION})(?!['’\w])(?:,? (?P<name>{_NAME}))?", re.UNICODE
)
_AFTER = re.compile(
    rf"\b(?P<name>{_NAME})(?:,? (?:who is |who was |is |was )| )(?:my|our) (?P<relation>{_RELATION})\b|"
    rf"\b(?P<called>{_NAME}), (?:my|our) (?P<kin>{_RELATION})\b(?=\s*(?:[,.;!?)]|\Z))"
)
"""A name and who it is; behind a comma alone only as an aside ("Priya, my sister, ..."), as "Look, my mum died" is none."""
_TITLED = re.compile(rf"\b(?P<name>(?:Dr|Mr|Mrs|Ms|Prof|Sister|Father|Pastor|Imam)\.? {_NAME})")
_NO_NAMES = frozenset(
    [
        "i",
        "we",
        "he",
        "she",
        "they",
        "it",
        "the",
        "a",
        "an",
        "and",
        "but",
        "so",
        "or",
        "if",
        "when",
        "then",
        "yes",
        "no",
        "my",
        "our",
        "his",
        "her",
        "their",
        "this",
        "that",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "christmas",
        "easter",
        "god",
        "ok",
        "okay",
    ]
)
_CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


@value
class Mention:
    """A person as the extractor gives them."""

    name: str
    relation: str
    quote: str


def may_name(text: str) -> bool:
    """Is it worth asking whom a message mentions?"""
    return bool(_MINE.search(text) or _TITLED.search(text) or _CAPITAL.search(text))


def people_by_rule(own: Sequence[Own]) -> tuple[Mention, ...]:
    """Relations ("my sister Priya"), and names with a title, of the last message."""
    found: list[Mention] = []
    for message in own[-1:]:
        for start, end in sentences(message.text):
            said = message.text[start:end].strip()
            after = list(_AFTER.finditer(said))
            covered = [match.end() for match in after]
            for match in (*after, *_MINE.finditer(said), *_TITLED.finditer(said)):
                parts = match.groupdict()
                if match not in after and match.end() in covered:
                    continue  # "Priya, my sister" is one person
                name = parts.get("name") or parts.get("called") or ""
                relation = parts.get("relation") or parts.get("kin") or ""
                if name.split(" ")[0].lower() in _NO_NAMES:
                    name = ""
                if name or relation:
                    whose = "our" if match[0].lower().startswith("our ") else "my"
                    named = name or f"{whose} {relation}"
                    found.append(Mention(name=named, relation=relation, quote=said))
    return tuple(found)


def people_of(tree: Mapping[str, Any]) -> tuple[Mention, ...]:
    """As the model lists them; what is malformed is left out."""
    given = tree.get("people")
    rows = given if isinstance(given, list) else []
    return tuple(
        Mention(
            name=str(one.get("name") or "").strip(),
            relation=str(one.get("relation") or "").strip(),
            quote=str(one.get("quote") or "").strip(),
        )
        for one in rows
        if isinstance(one, Mapping)
    )


def met(
    known: Sequence[Acquaintance],
    mentions: Iterable[Mention],
    own: Sequence[Own],
    *,
    most: int = MOST_PEOPLE,
    but: Iterable[str] = (),
) -> tuple[tuple[Acquaintance, ...], int]:
    """The people after these mentions, and how many mentions were refused.

    A mention counts where its quote stands in a message of the person's own and holds the name. The
    relation counts where its words stand there too. A name found later for "my sister" takes the
    place of these words. `but` are ids that the person took out, and names of those who take part.
    """
    people = list(known)
    barred = {_folded(one) for one in but}
    refused = 0
    for mention in mentions:
        made = _made(mention, own)
        if made is None:
            refused += 1
            continue
        if made.id in barred or _folded(made.name) in barred:
            continue
        place = next((at for at, one in enumerate(people) if _same(one, made)), None)
        if place is None and len(people) < most:
            people.append(made)
        elif place is not None:
            people[place] = _joined(people[place], made)
    return tuple(people), refused


def _made(mention: Mention, own: Sequence[Own]) -> Acquaintance | None:
    name = " ".join(mention.name.split())
    if not 0 < len(name) <= _LONGEST or len(mention.quote) < _SHORTEST_QUOTE:
        return None
    for message in reversed(own):
        span = located(mention.quote, message.text)
        if span is None:
            continue
        quote = message.text[span[0] : span[1]]
        if not _holds(quote, name):
            return None
        relation = " ".join(mention.relation.split())[:_LONGEST]
        return Acquaintance(
            id=f"person-{hashlib.sha256(_folded(name).encode()).hexdigest()[:12]}",
            name=name,
            relation=relation if relation and _holds(message.text, relation) else "",
            quote=quote,
            source=message.source,
            start=span[0],
            end=span[1],
        )
    return None


def _holds(text: str, words: str) -> bool:
    there = f" {_folded(text)} "
    return all(f" {one} " in there for one in _folded(words).split())


def _same(one: Acquaintance, other: Acquaintance) -> bool:
    if _folded(one.name) == _folded(other.name):
        return True
    named = _proper(one.name), _proper(other.name)
    relations = _folded(one.relation), _folded(other.relation)
    if relations[0] and relations[0] == relations[1]:
        return not all(named)
    words = set(_folded(one.name).split()), set(_folded(other.name).split())
    return all(named) and bool(words[0] & words[1] - _TITLES) and "" in relations


_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "sister", "father", "pastor", "imam"})


def _proper(name: str) -> bool:
    """Is it a name rather than "my sister"?"""
    return not name.lower().startswith(("my ", "our ")) and name[:1].isupper()


def _joined(one: Acquaintance, other: Acquaintance) -> Acquaintance:
    """The one with what the other adds; a name is worth more than "my sister"."""
    if _proper(other.name) and not _proper(one.name):
        return replace(other, relation=other.relation or one.relation)
    return one if one.relation or not other.relation else replace(one, relation=other.relation)


def names(one: Acquaintance, *texts: str) -> bool:
    """Does one of the texts name the person, or hold the words in which they were mentioned?"""
    forms = {f" {_folded(one.name)} "}
    if len(_folded(one.quote).split()) > 1:
        forms.add(f" {_folded(one.quote)} ")
    return any(form in f" {_folded(text)} " for text in texts for form in forms)


def as_facts(before: Sequence[Acquaintance], people: Sequence[Acquaintance]) -> tuple[Upsert, ...]:
    """A fact of the People category for each person who is new, by name, and whose relation is said."""
    known = {one.id for one in before}
    return tuple(
        Upsert(category="People", text=one.quote, quote=one.quote, source=one.source)
        for one in people
        if one.id not in known and one.relation and _proper(one.name)
    )


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
