"""A parsed text cut into chunks with their words and sizes, ready to be stored.

Every stored chunk gets an exact token count, so the cutting itself need not count: it takes what the
estimate leaves in doubt for small enough, and the few sections in which the stored counts then show
a chunk over the cap are cut again, each decision counted. The chunks are the same as if every
decision had been counted; the tests hold them to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from bedside.core.value import value
from bedside.knowledge.words import count_words, pack
from bedside.language.chunks import GUIDELINE_TOKENS, Chunk, Profile, chunk
from bedside.language.sections import Section

__all__ = ["ChunkRow", "cut", "cut_again", "first_cut", "sizes"]

_JOINT = 8
"""A chunk alone has at most its tokens with a prefix and a few more: only the first word is split
otherwise."""

Count = Callable[[str], int]


@value
class ChunkRow:
    """A chunk with what is stored beside it. `tokens` is `None` where nothing counted them."""

    chunk: Chunk
    words: bytes
    length: int
    tokens: int | None


def cut(
    text: str, sections: Sequence[Section], *, profile: Profile, title: str, count: Count | None
) -> tuple[ChunkRow, ...]:
    """Chunks of a text with their words and sizes; slow work, done before any transaction.

    Args:
        text: LF line ends.
        sections: Of the text, in order.
        profile: How to cut.
        title: The document's; its words count for every chunk.
        count: Tokens of a text, for sizes and the cap; `None` estimates, and stores no sizes.
    """
    pieces = first_cut(text, sections, profile=profile, count=count)
    tokens = sizes(text, pieces, count) if count else None
    if count and tokens and profile == "guideline":
        for every in (False, True):  # the second time only where estimates were far off
            final = cut_again(text, sections, pieces, tokens, count=count, every=every)
            if final is pieces:
                break
            pieces, tokens = final, sizes(text, final, count)
    rows: list[ChunkRow] = []
    for number, piece in enumerate(pieces):
        body = text[piece.start : piece.end]
        counts, length = count_words(body, head=f"{title} {piece.section}")
        size = tokens[number] if tokens else None
        rows.append(ChunkRow(chunk=piece, words=pack(counts), length=length, tokens=size))
    return tuple(rows)


def first_cut(
    text: str, sections: Sequence[Section], *, profile: Profile, count: Count | None
) -> list[Chunk]:
    """Chunks of which some guideline chunks may yet be over the cap, where there is a `count`."""
    return chunk(text, sections, profile=profile, count=count, provisional=count is not None)


def sizes(text: str, pieces: Sequence[Chunk], count: Count) -> list[int]:
    """Tokens of every chunk as it is shown, its prefix included."""
    return [count(piece.prefix + text[piece.start : piece.end]) for piece in pieces]


def cut_again(
    text: str,
    sections: Sequence[Section],
    pieces: list[Chunk],
    tokens: list[int],
    *,
    count: Count,
    every: bool = False,
) -> list[Chunk]:
    """The chunks after every section that holds one over the cap was cut by counts.

    The same list where none does. `tokens` are the `sizes` of `pieces`. `every` trusts no estimate
    in those sections.
    """
    over = [
        at
        for at, size in enumerate(tokens)
        if size > GUIDELINE_TOKENS - _JOINT
        and _alone(pieces[at].prefix, text[slice(*pieces[at][:2])], size, count) > GUIDELINE_TOKENS
    ]
    if not over:
        return pieces
    bodies = [section.body for section in sections]
    wrong = list(dict.fromkeys(bisect_right(bodies, pieces[at].start) - 1 for at in over))
    counted = _Counted(count)
    kept: list[Chunk] = []
    done = 0
    for number in wrong:
        begin = bisect_left(pieces, (bodies[number],))
        end = bisect_left(pieces, (sections[number].end,))
        kept += pieces[done:begin]
        for (start, stop, _, prefix), size in zip(
            pieces[begin:end], tokens[begin:end], strict=True
        ):
            counted.known[text[start:stop]] = prefix, size
        done = end
    kept += pieces[done:]
    fresh = chunk(
        text, [sections[at] for at in wrong], profile="guideline", count=counted, every=every
    )
    return sorted([*kept, *fresh])


class _Counted:
    """Tokens of pieces of one text, counting little of what was counted before.

    On the right side of the cap, and exact where that is not plain from a stored size.
    """

    __slots__ = ("_last", "_size", "count", "known")

    def __init__(self, count: Count) -> None:
        self.count = count
        self.known: dict[str, tuple[str, int]] = {}
        """Pieces with the prefix before them and the tokens of both together."""
        self._last, self._size = "", 0

    def __call__(self, piece: str) -> int:
        last, known = self._last, self.known.get(piece)
        if known is not None:
            prefix, size = known
            if size <= GUIDELINE_TOKENS - _JOINT and "|" not in piece:
                return size  # small enough; only rows of tables are held to less than the cap
            size = _alone(prefix, piece, size, self.count)
        elif last and piece.startswith(last):  # packing asks about ever longer pieces
            at = _last_seam(last)
            size = self._size - self.count(last[at:]) + self.count(piece[at:])
        else:
            size = self.count(piece)
        self._last, self._size = piece, size
        return size


_SEAM = re.compile(r"\S(?= )")
"""Where a text can be counted in two parts: a token that holds a blank begins with it or, after
others, ends its run of blanks, so that none reaches from a sign to the blank behind it."""


def _alone(prefix: str, body: str, size: int, count: Count) -> int:
    """Tokens of a chunk without its prefix; `size` is that with it."""
    if not prefix:
        return size
    seam = _SEAM.search(body)
    head = body[: seam.end()] if seam else body
    return size - count(prefix + head) + count(head)


def _last_seam(text: str) -> int:
    """The last blank behind a sign; 0 where there is none."""
    at = text.rfind(" ")
    while at > 0 and text[at - 1].isspace():
        at = text.rfind(" ", 0, at)
    return max(at, 0)
