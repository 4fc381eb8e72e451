"""What words mean: phrases of a pack found in a message, whatever their endings. Pure.

A phrase is places in order. "a/b" is either, "?a/b" may be missing, "*" is any one word, "..." up
to three, and "@name" the one-word phrases of another sense. Words are compared by stem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bedside.clinical.danger.words import Word, words_of

__all__ = ["Found", "Lexicon"]

Found: TypeAlias = "dict[str, list[tuple[int, int]]]"
"""For every sense that was found, its spans of word numbers in reading order."""

_GAP = 3
_MARKS = frozenset(".!?;\n")
_Place: TypeAlias = "tuple[bool, frozenset[str], tuple[tuple[str, ...], ...], int]"
# may be missing; words that fill it; rows of several that do; how many of any words may stand there


class Lexicon:
    """The phrases of all senses, to be looked up by the stem of their first word."""

    def __init__(self, senses: Mapping[str, Sequence[str]]) -> None:
        self._senses = senses
        self._by_first: dict[str, list[tuple[str, tuple[_Place, ...]]]] = {}
        for name, phrases in senses.items():
            for phrase in phrases:
                places = tuple(map(self._place, phrase.split()))
                for first in _firsts(places):
                    self._by_first.setdefault(first, []).append((name, places))

    def _place(self, written: str) -> _Place:
        if written == "...":
            return True, frozenset(), (), _GAP
        if written.removeprefix("?") == "*":
            return written.startswith("?"), frozenset(), (), 1
        one, rows = set[str](), list[tuple[str, ...]]()
        for part in (part.removeprefix("?") for part in written.split("/")):
            named = self._senses[part[1:]] if part.startswith("@") else (part,)
            for words in (tuple(word.stem for word in words_of(name)) for name in named):
                if len(words) == 1:
                    one.add(words[0])
                elif words:
                    rows.append(words)
        return written.startswith("?"), frozenset(one), tuple(rows), 0

    def found(self, words: Sequence[Word]) -> Found:
        """Where each sense stands: from every word its longest phrase."""
        stems = [word.stem for word in words]
        hits: Found = {}
        for start, first in enumerate(stems):
            longest: dict[str, int] = {}
            for name, places in self._by_first.get(first, ()):
                end = _end(stems, start, places)
                if end > longest.get(name, start):
                    longest[name] = end
            for name, end in longest.items():
                hits.setdefault(name, []).append((start, end))
        return hits


def _firsts(places: Sequence[_Place]) -> set[str]:
    firsts: set[str] = set()
    for missing, one, rows, _ in places:
        firsts |= one | {row[0] for row in rows}
        if not missing:
            break
    return firsts


def _end(stems: Sequence[str], start: int, places: Sequence[_Place]) -> int:
    """Where the longest reading of the phrase from `start` ends; 0 where there is none."""
    ends = {start}
    for missing, one, rows, gap in places:
        after = set(ends) if missing else set[int]()
        for at in ends:
            if gap:
                for n in range(at, min(at + gap, len(stems))):
                    if stems[n] in _MARKS:
                        break
                    after.add(n + 1)
            elif at < len(stems):
                if stems[at] in one:
                    after.add(at + 1)
                after.update(
                    at + len(row) for row in rows if tuple(stems[at : at + len(row)]) == row
                )
        if not after:
            return 0
        ends = after
    return max(ends)
