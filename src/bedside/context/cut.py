"""Cutting text short: at a section, at a sentence, or at a word; never within one; always marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bedside.core.context import Shrink
from bedside.language.sections import sections
from bedside.language.sentences import sentences

__all__ = ["MARK", "headline", "longest_cut", "word_ends"]

MARK = " [truncated]"
_LONG_WORD = 8
"""Characters: where words have no spaces between them, so many count as one."""

# Chinese and Japanese show the end of a word by their marks alone; only a stretch of 40 characters
# without any is cut between characters (combining marks stay with theirs). Korean has spaces.
_MARKS = "\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\u300d\u300f\uff09\u3011"
_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\ufe00-\ufe0f\u3099\u309a\u0300-\u036f]*"
_WORD = re.compile(
    rf"(?:{_UNSPACED}){{40}}[{_MARKS}]*|(?:(?!(?:{_UNSPACED}){{40}})[^\s{_MARKS}])*[{_MARKS}]+"
    rf"|(?:(?!(?:{_UNSPACED}){{40}})[^\s{_MARKS}])+"
)
_HEADING = re.compile(r"(?m)^#{1,6} ")


def word_ends(text: str) -> list[int]:
    """Offsets (code points) at which a word ends, ascending."""
    return [found.end() for found in _WORD.finditer(text)]


def _places(text: str, rule: Shrink) -> list[int]:
    """Offsets at which `rule` may cut, ascending, none at the very end."""
    match rule:
        case "cut_section":
            found = sections(text, markdown=_HEADING.search(text) is not None)
            ends = [section.start for section in found if section.start > 0]
        case "cut_sentence":
            ends = [end for _, end in sentences(text)]
        case "cut_mark":
            ends = word_ends(text)
        case _:
            return []
    whole = len(text.rstrip())
    return [end for end in ends if text[:end].strip() and len(text[:end].rstrip()) < whole]


def longest_cut(
    text: str, rules: Sequence[Shrink], fits: Callable[[str], bool], *, least: int = 1
) -> int | None:
    """Find where to cut `text` so that what is left fits.

    Args:
        text: The whole text; it is not tried whole.
        rules: Tried in order; rules that do not cut are passed over.
        fits: Says whether a cut text, mark included, fits; true for short and false for long.
        least: Fewest words that a cut at a word may leave, at least 1; eight characters for each
            are as good.

    Returns:
        The end of the longest cut under the first rule that has one that fits, `None` where
        nothing fits. `text[:end]` has no blank at its end.
    """
    for rule in rules:
        places = _places(text, rule)
        if rule == "cut_mark":
            enough = least * _LONG_WORD
            places = [end for n, end in enumerate(places, 1) if n >= least or end >= enough]
        end = _longest(text, places, fits)
        if end is not None:
            return end
    return None


def _longest(text: str, places: list[int], fits: Callable[[str], bool]) -> int | None:
    """Gallop, then halve: the work is in proportion to what fits, not to the text."""

    def fine(index: int) -> bool:
        return fits(text[: places[index]].rstrip() + MARK)

    low, step = -1, 1
    while low + step < len(places) and fine(low + step):
        low += step
        step *= 2
    high = min(low + step, len(places))
    while high - low > 1:
        middle = (low + high) // 2
        if fine(middle):
            low = middle
        else:
            high = middle
    return len(text[: places[low]].rstrip()) if low >= 0 else None


def headline(text: str, *, longest: int = 300) -> str:
    """The first sentence, cut at a word with a visible mark where it has over `longest` characters.

    Empty for a blank text. A leading heading or list mark is no sentence of its own only where
    the sentence splitter says so.
    """
    spans = sentences(text)
    if not spans:
        return ""
    first = text[spans[0][0] : spans[0][1]]
    if len(first) <= longest:
        return first
    ends = [end for end in word_ends(first) if end <= longest - len(MARK)]
    return (first[: ends[-1]] if ends else first[:0]) + MARK
