"""The words that rules understand: a closed list, so that an unknown word stops them.

The grammar's words and the clinical names come from `words/*.yaml` and `bedside.clinical`; the
names that stand in one patient's record are laid over them for that turn.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from bedside.core.value import value

__all__ = [
    "Lexicon",
    "Meaning",
    "Naming",
    "Token",
    "is_plain",
    "lexicon",
    "naming",
    "phrase_key",
    "results_by",
    "tokenise",
]

_TOKEN = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?(?![\d-])|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}/\d{4}"
    r"|\d+\.\d+(?![\d.])|\d+(?:st|nd|rd|th)\b|[a-z0-9]+|[<>]=?|[≤≥&%,;?!.:/+-]"
)
_APOSTROPHE = re.compile(r"[’‘`´]")
_CHARGE = re.compile(r"(?<=[A-Za-z0-9])[+-](?=[\s,;?!.)/]|\Z)")
"""The sign of an ion ("Na+"), or a dangling dash: not a separator."""
_SILENT = frozenset(",;?!.:/+-")
_PLURAL_MIN = 4
_REPAIR_MIN = 5
_REPAIR_TWO = 9
_SLIPS = 2
"""Most slips that a word is repaired over."""


@value
class Token:
    """One lower-case token; `start` and `end` are offsets in the question."""

    text: str
    start: int
    end: int


@value
class Meaning:
    """What a phrase is: a kind ("op", "topic", "analyte", "fill"...) and which one of it."""

    kind: str
    key: str


@value
class Naming:
    """How record entries of one thing are known: each phrase is a set of words that must all occur.

    An entry with all words of a `without` phrase is another thing. `near` entries are worth naming
    when the thing itself is not recorded.
    """

    key: str
    record: tuple[frozenset[str], ...]
    near: tuple[frozenset[str], ...]
    without: tuple[frozenset[str], ...] = ()


def tokenise(text: str) -> tuple[Token, ...]:
    """Split a question; hyphens and slashes inside words separate, decimals and dates stay whole."""
    folded = _CHARGE.sub(" ", _APOSTROPHE.sub("'", text)).lower()
    if len(folded) != len(text):
        folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return tuple(
        Token(text=found[0], start=found.start(), end=found.end())
        for found in _TOKEN.finditer(folded)
    )


def phrase_key(phrase: str) -> tuple[str, ...]:
    """A phrase as its tokens, without punctuation."""
    return tuple(token.text for token in tokenise(phrase) if token.text not in _SILENT)


class Lexicon:
    """Phrases to meanings, longest first. Immutable once built."""

    def __init__(self, entries: Iterable[tuple[str, Meaning]]) -> None:
        table: dict[tuple[str, ...], list[Meaning]] = {}
        for phrase, meaning in entries:
            key = phrase_key(phrase) or ((phrase.strip(),) if phrase.strip() else ())
            if key and meaning not in table.setdefault(key, []):
                table[key].append(meaning)
        self._table = {key: tuple(found) for key, found in table.items()}
        self._longest: dict[str, int] = {}
        for key in self._table:
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        self._words = {word for key in self._table for word in key}
        self._reach = max(map(len, self._words), default=0) + _SLIPS
        self._shortened: dict[str, set[str]] | None = None

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def at(self, tokens: Sequence[str], index: int) -> tuple[int, tuple[Meaning, ...]] | None:
        """The longest phrase that begins at `index`: (end, meanings), or `None`.

        Hyphens and slashes inside a phrase are passed over; a plural -s on its last word too.
        """
        reach = self._longest.get(tokens[index], 0)
        plural = self._singular(tokens[index])
        if plural is not None:
            reach = max(reach, self._longest.get(plural, 0))
        taken: list[str] = []
        best: tuple[int, tuple[Meaning, ...]] | None = None
        position = index
        while position < len(tokens) and len(taken) < reach:
            token = tokens[position]
            position += 1
            if token in {"-", "/", "."} and taken:
                continue
            taken.append(token)
            found = self._table.get(tuple(taken))
            if found is None and (single := self._singular(token)) is not None:
                found = self._table.get((*taken[:-1], single))
            if found is not None:
                best = (position, found)
        return best

    def _singular(self, word: str) -> str | None:
        if len(word) < _PLURAL_MIN or not word.endswith("s") or word.endswith("ss"):
            return None
        if word.endswith("ies") and (folded := f"{word[:-3]}y") in self._words:
            return folded
        return word[:-1]

    def repaired(self, word: str) -> str | None:
        """The one known word that is a slip away (two from nine letters on), or `None`."""
        if not _REPAIR_MIN <= len(word) <= self._reach or not word.isalpha():
            return None  # what is longer than every word is no slip of one
        if self._shortened is None:
            index: dict[str, set[str]] = {}
            for known in self._words:
                if len(known) >= _REPAIR_MIN and known.isalpha():
                    for short in _shorter(known):
                        index.setdefault(short, set()).add(known)
            self._shortened = index
        near = {known for short in _shorter(word) for known in self._shortened.get(short, ())}
        limit = _SLIPS if len(word) >= _REPAIR_TWO else 1
        for slips in range(1, limit + 1):
            found = {known for known in near if _slips(word, known) == slips}
            if found:
                senses = {self._table.get((name,), name) for name in found}
                stems = {name.removesuffix("s") for name in found}
                return min(found) if len(stems) == 1 or len(senses) == 1 else None
        return None


def _shorter(word: str) -> set[str]:
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))} | (
        {
            word[:i] + word[i + 1 : j] + word[j + 1 :]
            for i in range(len(word))
            for j in range(i + 1, len(word))
        }
        if len(word) >= _REPAIR_TWO
        else set()
    )


def _slips(left: str, right: str) -> int:
    """Optimal string alignment distance: an insertion, deletion, change or swap of neighbours is 1."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        older, before = before, row
        row = [i]
        for j, b in enumerate(right, start=1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _listed(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",") if phrase.strip()]


@functools.cache
def _file(name: str) -> Mapping[str, Any]:
    path = resources.files("bedside.flows.copilot") / "words" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


_THINGS = {
    "conditions": "condition",
    "procedures": "procedure",
    "vaccines": "vaccine",
    "allergens": "allergen",
}


@functools.cache
def lexicon() -> Lexicon:
    """The static words, built once."""
    entries: list[tuple[str, Meaning]] = []
    for kind, group in _file("grammar").items():
        if isinstance(group, str):
            entries += [(phrase, Meaning(kind=kind, key="")) for phrase in _listed(group)]
        else:
            for key, phrases in group.items():
                entries += [(one, Meaning(kind=kind, key=key)) for one in _listed(phrases)]
    for file, kind in _THINGS.items():
        for key, row in _file(file).items():
            entries += [(one, Meaning(kind=kind, key=key)) for one in (key, *_listed(row["say"]))]
    return Lexicon(entries)


def is_plain(word: str) -> bool:
    """True of an ordinary word, which names nothing."""
    found = lexicon().at((word,), 0)
    return found is not None and any(one.kind in {"plain", "fill"} for one in found[1])


@functools.cache
def naming(kind: str, key: str) -> Naming:
    """How entries of a named thing are known in a record.

    Raises:
        KeyError: the lexicon has no such thing.
    """
    file = next(name for name, one in _THINGS.items() if one == kind)
    row = _file(file)[key]
    own = _listed(row.get("record", "")) or [key, *_listed(row["say"])]
    return Naming(
        key=key,
        record=tuple(frozenset(phrase_key(phrase)) for phrase in own),
        near=tuple(frozenset(phrase_key(phrase)) for phrase in _listed(row.get("near", ""))),
        without=tuple(frozenset(phrase_key(one)) for one in _listed(row.get("without", ""))),
    )


@functools.cache
def results_by(key: str) -> tuple[str, ...]:
    """The analytes that a procedure measures; empty for one that measures none, or is not known."""
    row = _file("procedures").get(key.removeprefix("record:"), {})
    return tuple(_listed(row.get("shows", "")))
