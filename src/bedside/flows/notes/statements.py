"""A section as single statements: sentences, list items, entries of a list in one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bedside.clinical.drugs import find_drugs
from bedside.language.section_kinds import is_known_title
from bedside.language.sentences import sentences

__all__ = ["entries", "statements"]

Span = tuple[int, int]

_MARK = re.compile(r"\s*(?:[-*•+–]|\(?\d{1,2}[.)](?!\d))\s+")
_LOST_BREAK = re.compile(
    r"(?<=[.;:)\w%]),(?=\s*\d{1,2}\.(?:\s|\Z))|(?<=\.),(?=\s?[A-Z])|(?<=\.)\s*,(?=[A-Z])|\s,(?=[A-Z][a-z])"
)
_NUMBER = re.compile(r"(?<=[.;,\s])(?=\d{1,2}\.\s+[A-Z])")
_ENTRY = re.compile(r"[,;](?!\d)\s*(?:and\s+)?|\s+and\s+")
_OPEN = re.compile(r"\([^)]*$")
_SAYS = re.compile(r"[^\W\d_]|\d\D+\d")
_EDGE = " \t\n,;"


def statements(text: str, start: int, end: int) -> list[Span]:
    """The statements of `text[start:end]`, in order, without bullets, numbers and edge blanks.

    A line break inside a sentence does not cut it; a blank line, a list mark or a lost line break
    (a comma before a capital or a number, as in exports on one line) does.
    """
    found: list[Span] = []
    for a, b in _titled(text, [(start + a, start + b) for a, b in sentences(text[start:end])]):
        for c, d in _pieces(text, a, b):
            left, right = _bare(text, c, d)
            if left < right and _SAYS.search(text, left, right):
                found.append((left, right))
    return found


def entries(text: str, start: int, end: int) -> list[Span]:
    """A statement that lists medicines, cut so that each has its own dose; else the statement."""
    named = [one.start for one in find_drugs(text[start:end])]
    if len(named) < 2:  # noqa: PLR2004 - nothing to part
        return [(start, end)]
    found: list[Span] = []
    at = 0
    piece = text[start:end]
    for match in _ENTRY.finditer(piece):
        if _OPEN.search(piece[at : match.start()]):
            continue
        left = any(at <= name < match.start() for name in named)
        after = next((name for name in named if name >= match.end()), None)
        if left and after is not None and after - match.end() <= 1:
            found.append((start + at, start + match.start()))
            at = match.end()
    found.append((start + at, end))
    trimmed = [_bare(text, a, b) for a, b in found]
    return [(a, b) for a, b in trimmed if a < b]


def _titled(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """A short title alone on its line goes with the line under it."""
    held: int | None = None
    for start, end in spans:
        words = text[start:end].strip()
        follows = text[end : end + 2] in {"\n\n", ""} or "\n\n" in text[end - 1 : end + 2]
        if (
            held is None
            and is_known_title(words.rstrip(":"))
            and not words.endswith(".")
            and not follows
        ):
            held = start
            continue
        yield (start if held is None else held), end
        held = None
    if held is not None:
        yield held, spans[-1][1]


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    cuts = {match.end() for match in _LOST_BREAK.finditer(text, start, end)}
    cuts |= {match.start() for match in _NUMBER.finditer(text, start, end)}
    at = start
    for cut in sorted(cuts):
        if cut > at:
            yield at, cut
            at = cut
    yield at, end


def _bare(text: str, start: int, end: int) -> Span:
    moved = True
    while moved:
        moved = False
        while start < end and text[start] in _EDGE:
            start += 1
        match = _MARK.match(text, start, end)
        if match is not None and match.end() < end:
            start, moved = match.end(), True
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    return start, end
