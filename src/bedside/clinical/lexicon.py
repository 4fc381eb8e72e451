"""Phrases found in text: longest first, left to right, with an optional repair of misspellings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from bedside.core.value import value

__all__ = ["Lexicon", "Match", "words"]

T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+")
_GAP = re.compile(r"[\s\-‐-–/'’()\[\]+&.]{0,4}\Z")
_PLURAL_MIN = 3
_REPAIR_MIN = 6
_REPAIR_TWO = 10
_REMEMBERED = 4096


def words(text: str) -> list[tuple[int, int, str]]:
    """The words of `text` as (start, end, folded word), in order; offsets are code points.

    A possessive ending ("patient's") is left out; case is folded; hyphens and slashes separate.
    """
    if "'" not in text and "’" not in text:
        return [(m.start(), m.end(), m.group().casefold()) for m in _WORD.finditer(text)]
    found: list[tuple[int, int, str]] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word in {"s", "S"} and found and text[found[-1][1] : match.start()] in {"'", "’"}:
            continue
        found.append((match.start(), match.end(), word.casefold()))
    return found


@value
class Match(Generic[T]):
    """A phrase at `text[start:end]` with every value filed under it, in filing order.

    `exact` is False when a misspelling was repaired on the way.
    """

    start: int
    end: int
    phrase: str
    values: tuple[T, ...]
    exact: bool


class Lexicon(Generic[T]):
    """An index from phrases to values; it does not change after it is built.

    A phrase is compared by its folded words, so case, hyphens and slashes do not matter, and a
    plural "s" on its last word is understood. A phrase filed as `cased` matches only in exactly its
    own case, its plural too: abbreviations that are also words ("ALL", "DOE": "does") need it.
    """

    def __init__(
        self,
        entries: Iterable[tuple[str, T]],
        *,
        cased: Iterable[str] = (),
        repairable: Iterable[str] | None = None,
        words_of_speech: Iterable[str] = (),
    ) -> None:
        """Build the index.

        Args:
            entries: Phrases and what they stand for; a phrase may stand several times.
            cased: Phrases that match only in exactly this case.
            repairable: The phrases whose words misspellings are repaired to; `None` is all.
            words_of_speech: Ordinary words that are never taken for a misspelling.
        """
        entries = list(entries)
        self._cased: dict[tuple[str, ...], str] = {
            tuple(word for _, _, word in words(phrase)): phrase for phrase in cased
        }
        table: dict[tuple[str, ...], list[T]] = {}
        for phrase, item in entries:
            key = tuple(word for _, _, word in words(phrase))
            if not key:
                continue
            filed = table.setdefault(key, [])
            if item not in filed:
                filed.append(item)
        for key in list(table):
            last = key[-1]
            if len(last) >= _PLURAL_MIN and not last.isdigit() and not last.endswith("s"):
                plural = (*key[:-1], last + "s")
                table.setdefault(plural, table[key])
                if key in self._cased and plural not in self._cased:
                    self._cased[plural] = f"{self._cased[key]}s"
        self._table = {key: tuple(items) for key, items in table.items()}
        self._longest: dict[str, int] = {}
        for key in self._table:
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        self._known = {word for key in self._table for word in key}
        self._targets = (
            self._known
            if repairable is None
            else {word for phrase in repairable for _, _, word in words(phrase)}
        )
        self._speech = frozenset(words_of_speech)
        self._near: tuple[tuple[str, int], ...] | None = None
        self._repairs: dict[str, str] = {}

    def get(self, phrase: str) -> tuple[T, ...]:
        """The values of a whole phrase; empty when it is not filed."""
        key = tuple(word for _, _, word in words(phrase))
        if key in self._cased and phrase.strip() != self._cased[key]:
            return ()
        return self._table.get(key, ())

    def find(self, text: str, *, repair: bool = False) -> tuple[Match[T], ...]:
        """Every phrase in `text`, longest first at each place, without overlaps, in order.

        Args:
            text: Any text.
            repair: Also read words of six letters or more that are one slip away from a filed word
                (two from ten letters on), where exactly one filed word is that near.
        """
        tokens = words(text)
        read = [word for _, _, word in tokens]
        if repair:
            read = [word if word in self._known else self.repaired(word) for word in read]
        found: list[Match[T]] = []
        at = 0
        while at < len(tokens):
            match = self._at(text, tokens, read, at) if read[at] in self._longest else None
            if match is None:
                at += 1
            else:
                found.append(match)
                at += sum(1 for start, end, _ in tokens[at:] if end <= match.end)
        return tuple(found)

    def _at(
        self, text: str, tokens: Sequence[tuple[int, int, str]], read: Sequence[str], at: int
    ) -> Match[T] | None:
        reach = min(self._longest.get(read[at], 0), len(tokens) - at)
        for size in range(reach, 0, -1):
            key = tuple(read[at : at + size])
            items = self._table.get(key)
            if items is None or not _joined(text, tokens[at : at + size]):
                continue
            start, end = tokens[at][0], tokens[at + size - 1][1]
            if key in self._cased and text[start:end] != self._cased[key]:
                continue
            exact = all(read[at + i] == tokens[at + i][2] for i in range(size))
            return Match(start=start, end=end, phrase=text[start:end], values=items, exact=exact)
        return None

    def repaired(self, word: str) -> str:
        """The filed word that a folded word is a slip of, as `find` repairs it; else the word itself."""
        if len(word) < _REPAIR_MIN or not word.isalpha():
            return word
        if word in self._speech or word in self._known:
            return word
        if word not in self._repairs:
            if len(self._repairs) >= _REMEMBERED:
                self._repairs.clear()
            self._repairs[word] = self._nearest(word)
        return self._repairs[word]

    def _nearest(self, word: str) -> str:
        if self._near is None:
            self._near = tuple(
                (known, _letters(known))
                for known in sorted(self._targets)
                if len(known) >= _REPAIR_MIN and known.isalpha()
            )
        letters = _letters(word)
        best: dict[int, list[str]] = {1: [], 2: []}
        for known, own in self._near:
            # One slip changes at most two letters of the set: a cheap bound before the exact count.
            reach = 2 if _both_long(word, known) else 1
            if abs(len(known) - len(word)) <= reach and (own ^ letters).bit_count() <= 2 * reach:
                slips = _slips(word, known)
                if slips <= reach:
                    best[slips].append(known)
        for names in (best[1], best[2]):
            if names:
                meanings = {self._table.get((name,), (name.rstrip("s"),)) for name in names}
                return names[0] if len(meanings) == 1 else word
        return word


def _joined(text: str, tokens: Sequence[tuple[int, int, str]]) -> bool:
    return all(_GAP.match(text[left[1] : right[0]]) for left, right in itertools.pairwise(tokens))


def _both_long(left: str, right: str) -> bool:
    return min(len(left), len(right)) >= _REPAIR_TWO and left[0] == right[0]


def _letters(word: str) -> int:
    """The set of a word's letters, as bits."""
    bits = 0
    for char in word:
        bits |= 1 << (ord(char) % 64)
    return bits


def _slips(left: str, right: str) -> int:
    """Insertions, deletions, substitutions and neighbour swaps between two words."""
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if before and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
