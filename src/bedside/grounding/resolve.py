"""Find a quote in stored text: exactly one place, or a refusal. Pure.

Matching runs on comparable text (`bedside.language.normalise`); what comes back are offsets into
the stored text, so `source[start:end]` is exact by construction. There is one level of likeness:
every place that reads the same counts, whatever its spelling, so a quote that might have been
copied from two places is refused and never guessed. A match that begins or ends inside a word, a
number, a range, a date, a unit or a hyphenated word, or that leaves off the "<" of a figure, is no
match: "5 mg" is not found in "25 mg", nor "adherent" in "non-adherent".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from bedside.core.value import value
from bedside.grounding.source import SourceText
from bedside.language.normalise import Normalised, normalise

__all__ = ["Ambiguous", "NotFound", "Resolution", "Resolved", "places", "resolve"]

Window = tuple[int, int]

_JOINERS = frozenset("-/'")
_DIGIT_JOINERS = frozenset(".,:")
_COMPARATORS = frozenset("<>≤≥~≈±")
_RANGE = re.compile(r"\d ?\0 ?- ?\d|\d ?-\0 ?\d|\d ?- \0\d|\d \0- ?\d")
# Half a hyphenated word: whether its hyphen stays depends on what follows, so it has no one form.
_DANGLING = re.compile(r"[^\W\d_]-$|^-[^\W\d_]")
_NEAREST_MAX = 6_000
_AROUND = 8  # a window that cuts a token must not make a whole one of its rest
_ENOUGH_ALIKE = 0.5


@value
class Resolved:
    """Found once. `quote` equals the stored text from `start` to `end` (code points, half-open)."""

    start: int
    end: int
    quote: str


@value
class Ambiguous:
    """Found more than once; `places` are its spans in order. A longer quote tells them apart."""

    places: tuple[Window, ...]


@value
class NotFound:
    """Not there. `nearest` is the span most like the quote, `None` where nothing is like it."""

    nearest: Window | None = None


Resolution = Resolved | Ambiguous | NotFound


def resolve(
    quote: str, source: SourceText, *, within: Window | Sequence[Window] | None = None
) -> Resolution:
    """Find `quote` in `source`.

    Args:
        quote: Words said to be verbatim. Blanks at its ends and one pair of surrounding quotation
            marks do not count.
        source: The stored text.
        within: The section, chunk or item that holds the quote, as one span of the source or
            several; the match must lie wholly inside one of them. `None` is the whole text.

    Returns:
        `Resolved` where it stands exactly once, `Ambiguous` where it stands in several places,
        else `NotFound` (also for a quote without any letter or digit).
    """
    windows: Sequence[Window]
    if within is None:
        windows = ((0, len(source.text)),)
    elif within and isinstance(within[0], int):
        windows = (within,)  # type: ignore[assignment]
    else:
        windows = within  # type: ignore[assignment]
    spans: set[Window] = set()
    for start, end in windows:
        base = max(0, start - _AROUND)
        piece = normalise(source.text[base : end + _AROUND])
        found = ((base + a, base + b) for a, b in places(quote, piece))
        spans.update((a, b) for a, b in found if start <= a and b <= end)
    return _settle(sorted(spans), quote=quote, text=source.text, windows=windows)


def _settle(spans: list[Window], *, quote: str, text: str, windows: Sequence[Window]) -> Resolution:
    if len(spans) == 1:
        start, end = spans[0]
        return Resolved(start=start, end=end, quote=text[start:end])
    if spans:
        return Ambiguous(places=tuple(spans))
    for start, end in windows:
        near = _nearest(quote, text[start:end])
        if near is not None:
            return NotFound(nearest=(start + near[0], start + near[1]))
    return NotFound()


def places(quote: str, text: Normalised) -> list[Window]:
    """Every place where the comparable form of `quote` stands in `text`.

    Returns:
        Spans of the original, in order: empty unless it stands somewhere in whole tokens. Then
        places where it is torn from a range, a comparison or a hyphenated word count too: they may
        be what was meant, so the quote is ambiguous.
    """
    wanted = normalise(quote).text
    found = _matches(wanted, text)
    if not found:
        bare = _unquoted(wanted)
        if bare != wanted:
            found = _matches(bare, text)
    return found


def _span(text: Normalised, k: int, size: int) -> Window:
    return text.starts[k], text.ends[k + size - 1]


def _unquoted(text: str) -> str:
    pair = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"  # noqa: PLR2004
    return text[1:-1].strip() if pair else text


def _matches(wanted: str, text: Normalised) -> list[Window]:
    if not any(char.isalnum() for char in wanted) or _DANGLING.search(wanted):
        return []
    whole: list[Window] = []
    torn: list[Window] = []
    size = len(wanted)
    at = text.text.find(wanted)
    while at >= 0:
        borders = {_border(text, at), _border(text, at + size)}
        if "word" not in borders:
            (torn if "phrase" in borders else whole).append(_span(text, at, size))
        at = text.text.find(wanted, at + 1)
    # Words torn from a range or a hyphenated word are no match, but they may be what was meant.
    return sorted({*whole, *torn}) if whole else []


def _border(text: Normalised, at: int) -> Literal["", "phrase", "word"]:
    """What the border before `text.text[at]` tears apart: nothing, a phrase, or a word."""
    chars = text.text
    if at <= 0 or at >= len(chars):
        return ""
    left, right = chars[at - 1], chars[at]
    if _joins(left, right):
        return "word" if text.ends[at - 1] >= text.starts[at] else "phrase"
    before = chars[at - 2] if at > 1 else ""
    after = chars[at + 1] if at + 1 < len(chars) else ""
    torn = (
        _links(left, before, right)
        or _links(right, left, after)
        or (right.isdigit() and _signed(left, before))
        or (left in "<>" and right == "=")
        or _in_range(chars, at)
    )
    return "phrase" if torn else ""


def _signed(left: str, before: str) -> bool:
    """Does a sign or a comparator stand before the figure?"""
    if left in _COMPARATORS or (left == " " and before in _COMPARATORS):
        return True
    return left in "-+" and not before.isalnum()


def _in_range(text: str, at: int) -> bool:
    """Is the border inside a range written with blanks ("4 - 6 hours", "4 -6 hours")?"""
    around = text[max(0, at - 4) : at] + "\0" + text[at : at + 4]
    return _RANGE.search(around) is not None


def _joins(left: str, right: str) -> bool:
    """Do two neighbours belong to one word or number?"""
    if left.isalnum() and right.isalnum():
        return not (_spaceless(left) or _spaceless(right))
    return "\u0300" <= right <= "\u036f"


def _links(mark: str, left: str, right: str) -> bool:
    """Is `mark`, between `left` and `right`, part of one token?"""
    if mark in _JOINERS:
        return left.isalnum() and right.isalnum()
    if mark in _DIGIT_JOINERS:
        return left.isdigit() and right.isdigit()
    return False


def _spaceless(char: str) -> bool:
    """Is it of a script that writes words without blanks between them?"""
    code = ord(char)
    return (
        0x0E00 <= code <= 0x0EFF  # noqa: PLR2004 - Thai, Lao
        or 0x1000 <= code <= 0x109F  # noqa: PLR2004 - Myanmar
        or 0x1780 <= code <= 0x17FF  # noqa: PLR2004 - Khmer
        or 0x3040 <= code <= 0x30FF  # noqa: PLR2004 - kana
        or 0x3400 <= code <= 0x9FFF  # noqa: PLR2004 - CJK
        or 0x20000 <= code <= 0x3FFFF  # noqa: PLR2004 - CJK extensions
    )


def _nearest(quote: str, text: str) -> Window | None:
    """The longest common stretch, if it is at least half of the quote. For the repair order."""
    wanted, within = normalise(quote).text, normalise(text[:_NEAREST_MAX])
    if not wanted or not within.text:
        return None
    block = SequenceMatcher(None, within.text, wanted, autojunk=False).find_longest_match()
    if block.size < _ENOUGH_ALIKE * len(wanted):
        return None
    return within.starts[block.a], within.ends[block.a + block.size - 1]
