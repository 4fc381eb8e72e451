"""A parsed text cut into chunks with their words and sizes, ready to be stored.

Every stored chunk gets an exact token count, so the cutting itself need not count: it takes what the
estimate leaves in doubt for small enough, and the few sections in which the stored counts then show
a chunk over the cap are cut again, each decision counted. The chunks are the same as if every
decision had been counted; the tests hold them to it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from bedside.core.value import value
from bedside.knowledge.words import count_words, pack
from bedside.language.chunks import GUIDELINE_TOKENS, Chunk, Profile, chunk
from bedside.language.sections import Section

__all__ = ["ChunkRow", "cut", "cut_again", "first_cut", "sizes"]

_SEAM = 8
"""The counts of a prefix and of its chunk differ from that of both together by far less than this:
only the chunk's first word is split otherwise."""

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
    alone: dict[Chunk, int] = {}
    for piece, size in zip(pieces, tokens, strict=True):
        if size > GUIDELINE_TOKENS - _SEAM:
            most = size - count(piece.prefix)
            if abs(most - GUIDELINE_TOKENS) <= _SEAM:
                most = _alone(piece.prefix, text[piece.start : piece.end], size, count)
            alone[piece] = most
    over = [piece for piece, size in alone.items() if size > GUIDELINE_TOKENS]
    if not over:
        return pieces
    bodies = [section.body for section in sections]
    wrong = dict.fromkeys(bisect_right(bodies, piece.start) - 1 for piece in over)
    kept: list[Chunk] = []
    known: dict[str, int] = {}
    for piece, size in zip(pieces, tokens, strict=True):
        if bisect_right(bodies, piece.start) - 1 not in wrong:
            kept.append(piece)
            continue
        body = text[piece.start : piece.end]
        if "|" not in body:  # rows of tables are held to less than the cap
            known[body] = alone.get(piece, size)

    def counted(piece: str) -> int:
        """On the right side of the cap, and exact where that is not plain from a stored size."""
        size = known.get(piece)
        return count(piece) if size is None else size

    fresh = chunk(
        text, [sections[at] for at in wrong], profile="guideline", count=counted, every=every
    )
    return sorted([*kept, *fresh])


def _alone(prefix: str, body: str, size: int, count: Count) -> int:
    """Tokens of a chunk without its prefix; `size` is that with it.

    A token never reaches over a line's end to a letter, digit or sign, so that the first line is
    all that needs counting twice.
    """
    end = body.find("\n") + 1
    if not end or not (body[end].isalnum() or body[end] in "*-#|"):
        return count(body)
    return size - count(prefix + body[:end]) + count(body[:end])
