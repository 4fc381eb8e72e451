"""Cut a text into chunks along its structure, with exact offsets. Pure.

Two profiles. *Guideline*: a whole section up to 800 tokens, else its paragraphs, lists and tables
packed up to that; a table that does not fit is cut by rows, each piece prefixed with the header.
*Note*: about 1,500 characters with 200 of overlap, a paragraph up to 3,000 whole. No chunk crosses
a section; a heading without a body makes none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from bedside.language.sections import Section
from bedside.language.sentences import sentences

__all__ = ["GUIDELINE_TOKENS", "Chunk", "Profile", "chunk", "estimate_tokens"]

Profile = Literal["guideline", "note"]
Span = tuple[int, int]

GUIDELINE_TOKENS = 800
"""Most tokens of a guideline chunk, prefix aside."""
NOTE_TARGET = 1_500
NOTE_OVERLAP = 200
NOTE_PARAGRAPH = 3_000
_SURE_CHARS = 2_400
"""Blocks are packed to this length: 800 tokens but for unusually dense text, which is measured."""
_OVER, _UNDER = 1.25, 0.8
"""The estimate is within these factors of the true count for 99 % of real sections."""


class Chunk(NamedTuple):
    """One chunk: `text[start:end]`, code points, no blank at either end.

    `prefix` is shown and embedded before the text but is no part of it: the section path as
    `[A > B] `, and for a piece of a table its header rows. `section` is the path without brackets.
    """

    start: int
    end: int
    section: str
    prefix: str


def estimate_tokens(text: str) -> float:
    """A quick estimate of BPE tokens: letters, blanks and the rest, weighed on clinical English."""
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, _LETTERS)
    blanks = rest.count(b" ") + rest.count(b"\n")
    return (len(data) - len(rest)) * _LETTER + blanks * _BLANK + (len(rest) - blanks) * _SIGN


_LETTER, _BLANK, _SIGN = 0.08, 0.715, 0.772
_LETTERS = bytes([*range(65, 91), *range(97, 123)])


def chunk(
    text: str,
    sections: Iterable[Section],
    *,
    profile: Profile,
    count: Callable[[str], int] | None = None,
    cap: int = GUIDELINE_TOKENS,
    provisional: bool = False,
    every: bool = False,
) -> list[Chunk]:
    """Cut `text` along its sections.

    Args:
        text: LF line ends.
        sections: As `bedside.language.sections` finds them, in order.
        profile: How to cut.
        count: Counts tokens; asked only where the estimate is not clearly under or over the cap.
            `None` trusts the estimate, on the safe side.
        cap: Most tokens of a guideline chunk, prefix aside, at least 50.
        provisional: For a caller that counts every chunk afterwards and cuts the sections of those
            over the cap again: takes what is in doubt for small enough, and asks `count` only about
            rows of long tables. The sections that stand are cut as without it.
        every: Asks `count` about every piece but the shortest, trusting no estimate.

    Returns:
        In order; guideline chunks do not overlap; note chunks overlap inside a section by at most
        200 characters.
    """
    found: list[Chunk] = []
    fits = _Fits(text, count, cap, later=provisional, every=every)
    add, made, quick = found.append, Chunk._make, fits.quick
    for section in sections:
        start, end = section.body, section.end
        piece = text[start:end].rstrip()
        if not piece:
            continue
        end = start + len(piece)
        piece = piece.lstrip()
        start = end - len(piece)
        path = " > ".join(section.path)
        prefix = f"[{path}] " if path else ""
        if profile == "note":
            pieces = (_trim(text, a, b) for a, b in _note(text, start, end))
            found.extend(Chunk(a, b, path, prefix) for a, b in pieces if a < b)
        elif (len(piece) <= quick and "|" not in piece and piece.isascii()) or fits.holds(piece):
            add(made((start, end, path, prefix)))
        else:
            for a, b, header in _guideline(text, start, end, fits):
                left, right = _trim(text, a, b)
                if left < right:
                    add(made((left, right, path, prefix + header)))
    return found


class _Fits:
    """Is `text[start:end]` at most `cap` tokens? Estimates first, counts only in doubt."""

    def __init__(
        self,
        text: str,
        count: Callable[[str], int] | None,
        cap: int,
        *,
        later: bool = False,
        every: bool = False,
    ) -> None:
        self.text, self.count, self.cap, self.later, self.every = text, count, cap, later, every
        self.sure = _SURE_CHARS * cap // GUIDELINE_TOKENS
        self.quick = self.sure if later else 0 if every else self.sure * 3 // 4
        self.bytes = self.sure * 17 // 16
        self.tiny, self.most, self.over = cap // 4, cap * 9, cap / _UNDER

    def __call__(self, start: int, end: int) -> bool:
        length = end - start
        if length <= self.tiny:
            return True  # at most four bytes a character, at least one byte a token
        return length <= self.most and self.holds(self.text[start:end])

    def holds(self, piece: str) -> bool:
        """The same of a piece at hand."""
        length = len(piece)
        if length <= self.tiny:
            return True
        if length > self.most:
            return False
        if length <= self.quick and "|" not in piece and self._plain(piece):
            return True
        if self.every and self.count is not None:
            return self.count(piece) <= self.cap
        estimate = estimate_tokens(piece)
        if estimate * _OVER <= self.cap:
            return True
        if estimate > self.over and (length > self.sure or self.count is None):
            return False
        return self.later or (self.count is not None and self.count(piece) <= self.cap)

    def _plain(self, piece: str) -> bool:
        """Few letters beyond ASCII, or where nothing is counted later none."""
        return piece.isascii() or (
            self.later and len(piece.encode("utf-8", "replace")) <= self.bytes
        )


def _trim(text: str, start: int, end: int) -> Span:
    """Without the blanks at either end."""
    if start < end and not text[start].isspace() and not text[end - 1].isspace():
        return start, end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# ---- blocks of a section ------------------------------------------------------------------------

_GAP = re.compile(r"\n[ \t]*\n\s*")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_ITEM_STARTS = frozenset("-*+•( \t0123456789")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """Paragraphs, lists (with the line that announces them), fences and tables, in order."""
    held_start, held_end, free, at = start, start, start, start
    listed = False  # the block at hand begins with an item
    item = _ITEM.match
    gaps = [gap.span() for gap in _GAP.finditer(text, start, end)]
    gaps.append((end, end))
    for stop, following in gaps:
        a, at = at, following
        if stop <= a:
            continue
        first = text[a]
        begins = first in _ITEM_STARTS and item(text, a, stop) is not None
        if held_end > held_start:
            if a < free or (begins and (listed or _leads(text, held_start, held_end))):
                held_end = stop
                continue
            yield (held_start, held_end)
        listed = begins
        held_start, held_end = a, stop
        if first in "`~" and (fence := _FENCE.match(text, a, end)):
            mark = fence.group(1)
            shut = re.compile(rf"\n[ \t]*{mark[0]}{{{len(mark)},}}[ \t]*(?=\n|\Z)")
            close = shut.search(text, fence.end(), end)
            free = close.end() if close else end
    if held_end > held_start:
        yield (held_start, held_end)


def _leads(text: str, start: int, end: int) -> bool:
    """Does the block announce the list that follows, or does its last line begin one?"""
    if text[end - 1] == ":":
        return True
    last = text.rfind("\n", start, end) + 1
    return last > start and _ITEM.match(text, last, end) is not None


def _guideline(text: str, start: int, end: int, fits: _Fits) -> Iterator[tuple[int, int, str]]:
    """Blocks packed up to the cap; a block over it is cut further."""
    blocks: list[Span] = []
    for block in _blocks(text, start, end):
        if blocks and block[1] - blocks[0][0] > fits.sure:
            yield from _close(text, blocks, fits)
            blocks = []
        blocks.append(block)
    yield from _close(text, blocks, fits)


def _close(text: str, blocks: list[Span], fits: _Fits) -> Iterator[tuple[int, int, str]]:
    """One chunk of neighbouring blocks; more where the text is unusually dense."""
    whole = (blocks[0][0], blocks[-1][1])
    if fits(*whole):
        yield (*whole, "")
    elif len(blocks) == 1:
        yield from _cut(text, *whole, fits)
    else:
        middle = len(blocks) // 2
        yield from _close(text, blocks[:middle], fits)
        yield from _close(text, blocks[middle:], fits)


def _cut(text: str, start: int, end: int, fits: _Fits) -> Iterator[tuple[int, int, str]]:
    """One block over the cap: a table by rows, a list by items, prose by sentences, then words."""
    lines = _lines(text, start, end)
    table = next((i for i in range(1, len(lines)) if _is_table(text, lines[i - 1], lines[i])), None)
    if table is not None:
        yield from _cut_table(text, lines, table, fits)
        return
    if _FENCE.match(text, start, end) or sum(1 for a, b in lines if _ITEM.match(text, a, b)) > 1:
        pieces: list[Span] = lines
    else:
        pieces = [(start + a, start + b) for a, b in sentences(text[start:end])]
    yield from ((a, b, "") for a, b in _pack(text, pieces, fits))


def _lines(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        if text[at:stop].strip():
            found.append((at, stop))
        at = stop + 1
    return found


def _is_table(text: str, header: Span, delimiter: Span) -> bool:
    return (
        "|" in text[header[0] : header[1]]
        and "-" in text[delimiter[0] : delimiter[1]]
        and "|" in text[delimiter[0] : delimiter[1]]
        and _DELIMITER.fullmatch(text, *delimiter) is not None
    )


def _cut_table(
    text: str, lines: list[Span], delimiter: int, fits: _Fits
) -> Iterator[tuple[int, int, str]]:
    """Rows packed under the cap; pieces after the first carry the header rows as their prefix."""
    head = lines[delimiter - 1][0]
    if delimiter > 1:
        yield from ((a, b, "") for a, b in _pack(text, lines[: delimiter - 1], fits))
    header = text[head : lines[delimiter][1]] + "\n"
    rows = lines[delimiter + 1 :]
    last = next((i for i, (a, b) in enumerate(rows) if "|" not in text[a:b]), len(rows))
    room = max(fits.cap - int(estimate_tokens(header) * _OVER), fits.cap // 3)
    first, rest = (head, lines[delimiter][1]), rows[:last]
    narrow = _Fits(text, fits.count, room, every=fits.every)  # who counts later knows no room
    for index, (a, b) in enumerate(_pack(text, [first, *rest], narrow)):
        yield (a, b, "" if index == 0 or a == head else header)
    if rows[last:]:
        yield from _guideline(text, rows[last][0], rows[-1][1], fits)


def _pack(text: str, pieces: Sequence[Span], fits: _Fits) -> Iterator[Span]:
    """Neighbouring pieces joined up to the cap; a piece over it is cut at words."""
    held: Span | None = None
    for a, b in pieces:
        if held and fits(held[0], b):
            held = (held[0], b)
            continue
        if held:
            yield held
            held = None
        if fits(a, b):
            held = (a, b)
        else:
            yield from _words(text, a, b, fits)
    if held:
        yield held


def _words(text: str, start: int, end: int, fits: _Fits) -> Iterator[Span]:
    """Cut at blanks; one endless word is cut where it must be."""
    at = start
    while at < end:
        stop = end
        while not fits(at, stop) and stop - at > 1:
            middle = at + max((stop - at) // 2, 1)
            blank = max(text.rfind(" ", at + 1, middle), text.rfind("\n", at + 1, middle))
            stop = blank if blank > at else middle
        a, b = _trim(text, at, stop)
        if a < b:
            yield (a, b)
        at = stop


# ---- notes --------------------------------------------------------------------------------------


def _note(text: str, start: int, end: int) -> Iterator[Span]:
    """Paragraphs and sentences packed to the target, each chunk reaching back a little."""
    pieces: list[Span] = []
    at = start
    while at < end:
        gap = _GAP.search(text, at, end)
        stop = gap.start() if gap else end
        if stop - at <= NOTE_PARAGRAPH:
            pieces.append((at, stop))
        else:
            inside = ((at + a, at + b) for a, b in sentences(text[at:stop]))
            for a, b in inside:
                pieces.extend(_by_length(text, a, b))
        at = gap.end() if gap else end
    held: Span | None = None
    previous_end = start
    for a, b in pieces:
        if held and b - held[0] <= NOTE_TARGET:
            held = (held[0], b)
            continue
        if held:
            yield (_reach_back(text, held[0], previous_end, start), held[1])
            previous_end = held[1]
        held = (a, b)
    if held:
        yield (_reach_back(text, held[0], previous_end, start), held[1])


def _by_length(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence, or pieces of one longer than a paragraph may be."""
    while end - start > NOTE_PARAGRAPH:
        blank = text.rfind(" ", start + 1, start + NOTE_TARGET)
        stop = blank if blank > start else start + NOTE_TARGET
        yield _trim(text, start, stop)
        start = stop
    yield _trim(text, start, end)


def _reach_back(text: str, begin: int, previous_end: int, floor: int) -> int:
    """Where a chunk begins with its overlap: at a word, at most 200 characters before."""
    if begin <= floor or previous_end <= floor:
        return begin
    at = max(floor, previous_end - NOTE_OVERLAP)
    if at > floor and not text[at - 1].isspace():
        while at < previous_end and not text[at].isspace():
            at += 1
    while at < begin and text[at].isspace():
        at += 1
    return at
