"""The wall between two people: which words of a text are somebody's private ones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["RUN", "overlaps", "runs"]

RUN = 5
"""So many words in a row make a text somebody's own."""
_WORD = re.compile(r"[\w'’-]+")


def runs(text: str, *, size: int = RUN) -> frozenset[tuple[str, ...]]:
    """Every run of `size` words, in lower case; a shorter text has one run, all of it."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    if not words:
        return frozenset()
    if len(words) < size:
        return frozenset({tuple(words)})
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def overlaps(text: str, private: Iterable[str], *, given: Iterable[str] = ()) -> bool:
    """Does a text hold five words in a row of the private ones?

    Args:
        text: What is to be shown to both.
        private: One person's own messages.
        given: Texts that this person gave out, whose words are private no more.
    """
    mine = runs(text)
    if len(next(iter(mine), ())) < RUN:
        return False
    free: set[tuple[str, ...]] = set()
    for one in given:
        free |= runs(one)
    return any((mine & runs(one)) - free for one in private)
