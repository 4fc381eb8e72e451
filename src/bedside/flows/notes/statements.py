"""A section as single statements: sentences, list items, entries of a list in one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bedside.clinical.drugs import find_drugs
from bedside.language.section_kinds import is_known_title
from bedside.language.sentences import sentences

__all__ = ["entries", "is_dosed", "statements"]

Span = tuple[int, int]

_MARK = re.compile(
    r"\s*(?:(?:[-*•+–]|\(?\d{1,2}[.)](?!\d))\s+|[-*•](?=[A-Z][a-z])|\d{1,2}\.(?=[A-Z][a-z]))"
)
_LOST_BREAK = re.compile(
    r"(?<=[.;:)\w%]),(?=\s*\d{1,2}\.(?:\s|\Z|[A-Z][a-z]))|(?<=\.),(?=\s?[A-Z])|(?<=\.)\s*,(?=[A-Z])|\s,(?=[A-Z][a-z])"
)
_NUMBER = re.compile(r"(?<=[.;,\s])(?=\d{1,2}\.\s+[A-Z])")
_ENTRY = re.compile(r"[,;](?!\d)\s*(?:and\s+)?|\s+and\s+")
_DOSED = re.compile(
    r"\b\d[\d.,/]*\s?(?:mg|mcg|µg|g|ml|units?|iu|meq|puffs?|tabs?|tablets?|drops?|%)\b"
    r"|\b(?:daily|(?:once|twice|two|three|four|\d)[\w ]{0,12} (?:a|per|times a) ?day|b\.?i\.?d|t\.?i\.?d|q\.?i\.?d|nightly|weekly|q\.?\d+\s?h|p\.?r\.?n|as needed|at bedtime)\b",
    re.IGNORECASE,
)
_OWN_ENTRY = re.compile(
    r"(?!(?:then|with|as|at|in|on|for|if|or|once|twice|daily|weekly|nightly|morning|evening|night|bedtime|half|one|two|three|"
    r"up|but|not|last|increased|decreased|per|by|every|to|of|the|which|who|she|he)\b)[A-Za-z][A-Za-z'-]{3,}(?:[ ]|\Z)",
    re.IGNORECASE,
)
"""The beginning of another medicine's entry, not a further word on the dose before it."""
_OPEN = re.compile(r"\([^)]*$")
_SAYS = re.compile(r"[^\W\d_]|\d\D+\d")
_EDGE = " \t\n,;"


_INDEX = re.compile(r"\.(?=[a-z]{3,})")
_FEWEST_WORDS_OF_INDEX = 3
_INITIALLED = re.compile(r"(?<=\bDr\. [A-Z]\. )(?=[A-Z][a-z]+ [a-z])")
_SUBHEAD = re.compile(r"[A-Z][^\d.;:\n]{1,60}")
_MOST_WORDS_OF_SUBHEAD = 7
_MARKED = re.compile(r"\s*(?:[-*•+–]\s|[A-Z][^.:\n]{1,50}:)")
_OF_HISTORY = frozenset(("medical", "surgical", "social", "family", "psychiatric", "obstetric"))


def statements(
    text: str, start: int, end: int, *, subheads: bool = False, index: bool = True
) -> list[Span]:
    """The statements of `text[start:end]`, in order, without bullets, numbers and edge blanks.

    A line break inside a sentence does not cut it; a blank line, a list mark or a lost line break
    (a comma before a capital or a number, as in exports on one line) does. The index terms that
    some exports glue to a text's end ("... intact.surgery, hernia, mesh, ...") are no statement.

    Args:
        text: The note.
        start: Where the section's own text begins.
        end: Where it ends.
        subheads: Whether a short line over a list ("Neck") goes with the list's first entry, as in
            an examination. In an assessment it is a problem of its own.
        index: Whether index terms may follow. False for lists of medicines and of allergies, whose
            own entries look like them ("Reviewed.penicillin, sulfa, latex, eggs").
    """
    found: list[Span] = []
    end = _before_index(text, start, end, terms=index)
    spans = [(start + a, start + b) for a, b in sentences(text[start:end])]
    for a, b in _titled(text, spans, subheads=subheads):
        for c, d in _pieces(text, a, b):
            left, right = _bare(text, c, d)
            if left < right and _SAYS.search(text, left, right):
                found.append((left, right))
    return found


def entries(text: str, start: int, end: int) -> list[Span]:
    """A statement that lists medicines, cut so that each has its own dose; else the statement."""
    piece = text[start:end]
    named = [one.start for one in find_drugs(piece)]
    found: list[Span] = []
    at = 0
    for match in _ENTRY.finditer(piece):
        if _OPEN.search(piece[at : match.start()]):
            continue
        left = piece[at : match.start()]
        right = _ENTRY.split(piece[match.end() :], maxsplit=1)[0]
        after = next((name for name in named if name >= match.end()), None)
        named_left = any(at <= name < match.start() for name in named)
        by_name = named_left and after is not None and after - match.end() <= 1
        by_dose = _DOSED.search(left) is not None and _OWN_ENTRY.match(right) is not None
        if by_name or (by_dose and _DOSED.search(right) is not None):
            found.append((start + at, start + match.start()))
            at = match.end()
    found.append((start + at, end))
    trimmed = [_bare(text, a, b) for a, b in found]
    return [(a, b) for a, b in trimmed if a < b]


def is_dosed(text: str) -> bool:
    """Does it give a dose, or how often something is taken?"""
    return _DOSED.search(text) is not None


def _before_index(text: str, start: int, end: int, *, terms: bool) -> int:
    """Where the statements end, if index terms follow them to the end of the text.

    What holds a figure or a medicine is no row of index terms: losing it would lose a fact.
    """
    if text[end:].strip():
        return end
    if text[start:end].strip() == "nan":
        return start
    for match in _INDEX.finditer(text, start, end):
        tail = text[match.end() : end].strip()
        if tail == "nan" or (terms and _is_index(tail)):
            return match.end()
    return end


def _is_index(tail: str) -> bool:
    listed = tail.count(",") >= _FEWEST_WORDS_OF_INDEX and ". " not in tail
    return listed and not any(char.isdigit() for char in tail) and not find_drugs(tail)


def _titled(text: str, spans: Sequence[Span], *, subheads: bool) -> Iterator[Span]:
    """A short title alone on its line goes with the line under it."""
    held: int | None = None
    for start, end in spans:
        words = text[start:end].strip()
        follows = text[end : end + 2] in {"\n\n", ""} or "\n\n" in text[end - 1 : end + 2]
        title = is_known_title(words.rstrip(":")) or (subheads and _is_subhead(words, text, end))
        if held is None and title and not words.endswith(".") and not follows:
            held = start
            continue
        yield (start if held is None else held), end
        held = None
    if held is not None:
        yield held, spans[-1][1]


def _is_subhead(words: str, text: str, end: int) -> bool:
    """A short line over a list, over labelled lines, or with a colon of its own."""
    bare = words.rstrip(":")
    if not _SUBHEAD.fullmatch(bare) or len(bare.split()) > _MOST_WORDS_OF_SUBHEAD:
        return False
    if text[end : end + 1] != "\n":
        return False
    listed = _MARKED.match(text, end + 1) is not None
    return listed or words.endswith(":") or bare.lower() in _OF_HISTORY


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    cuts = {match.end() for match in _LOST_BREAK.finditer(text, start, end)}
    cuts |= {match.start() for match in _NUMBER.finditer(text, start, end)}
    cuts |= {match.start() for match in _INITIALLED.finditer(text, start, end)}
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
