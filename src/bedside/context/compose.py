"""From parts that were fitted to messages, pieces, numbers and ledger rows. Internal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bedside.context.compiled import Piece, PieceKind
from bedside.context.cut import MARK
from bedside.context.layout import Echo
from bedside.context.parts import Bit, Part
from bedside.context.render import SOURCE_END, body_text, close_tag, head, open_tag
from bedside.core.context import Item, Row
from bedside.core.ids import SourceId
from bedside.core.source import Span

__all__ = ["LEAD", "Writer", "row"]

LEAD = "(The conversation so far.)"
"""Stands where the history would begin with an answer: providers want a user's message first."""


class Writer:
    """Writes messages in wire order; numbers sources on their first appearance."""

    __slots__ = ("_at", "_message", "_next", "_texts", "numbers", "pieces", "shown")

    def __init__(self, numbering: Mapping[tuple[SourceId, int], int]) -> None:
        self.numbers = dict(numbering)
        self._next = max(self.numbers.values(), default=0) + 1
        self.shown: dict[int, list[Item]] = {}
        self.pieces: list[Piece] = []
        self._texts: list[str] = []
        self._message = self._at = 0

    def begin(self, message: int) -> None:
        """Start the text of message `message` (its index on the wire)."""
        self._texts, self._message, self._at = [], message, 0

    def end(self) -> str:
        """The text written since `begin`."""
        return "".join(self._texts)

    def _put(self, text: str, block: str, item: str, part: PieceKind) -> None:
        self._texts.append(text)
        start, self._at = self._at, self._at + len(text)
        self.pieces.append(
            Piece(
                message=self._message,
                start=start,
                end=self._at,
                block=block,
                item=item,
                part=part,
            )
        )

    def part(self, part: Part) -> None:
        """Write one block: its fences, its kept items in their own order, "+N more"."""
        kept = [bit for bit in part.bits if bit.why is None]
        if not kept:
            return
        name = part.block.name
        self._put(open_tag(name), name, "", "fence")
        for bit in kept:
            self.bit(part, bit)
        if part.more and part.lost:
            self._put(f"<more>\n+{part.lost} more\n</more>\n", name, "", "more")
        self._put(close_tag(name), name, "", "fence")

    def bit(self, part: Part, bit: Bit) -> None:
        """Write one item in its fences; a block's only plain item needs none of its own."""
        name, item = part.block.name, bit.item
        if part.style == "fenced":
            number = self._number(item)
            self._put(head(item, number), name, item.key, "fence")
            self._body(part, bit)
            self._put(SOURCE_END if number else "</item>\n", name, item.key, "fence")
            if number:
                self.shown.setdefault(number, []).append(_as_shown(bit))
        else:
            self._body(part, bit)

    def _body(self, part: Part, bit: Bit) -> None:
        name, key = part.block.name, bit.item.key
        text = body_text(bit.body, part.block.trust)
        if part.style == "message" and not bit.cut:
            text = text[:-1]
        if bit.cut:
            self._put(text[:-1], name, key, "body")
            self._put(MARK + ("" if part.style == "message" else "\n"), name, key, "mark")
        else:
            self._put(text, name, key, "body")

    def message(self, part: Part, bit: Bit) -> None:
        """Write one message of the history."""
        self._body(part, bit)

    def lead(self) -> None:
        """Write the user's line that a history must begin with."""
        self._put(LEAD, "history", "", "fence")

    def echo(self, echo: Echo) -> None:
        """Write a line said again."""
        opening, text, closing = echo.pieces()
        name = echo.part.block.name
        self._put(opening, name, "", "fence")
        self._put(text, name, "", "echo")
        self._put(closing, name, "", "fence")

    def _number(self, item: Item) -> int | None:
        if item.span is None:
            return None
        key = (item.span.source.id, item.span.source.revision)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = self._next
            self._next += 1
        return found


def _as_shown(bit: Bit) -> Item:
    """The slice that the model saw. A cut or a form that is part of the body moves the span."""
    item = bit.item
    if not bit.short or item.span is None:
        return item
    span = item.span
    at = item.body.find(bit.body)
    if at >= 0 and span.end - span.start == len(item.body):
        span = Span(source=span.source, start=span.start + at, end=span.start + at + len(bit.body))
    return replace(item, body=bit.body, span=span, forms=(), tokens=None)


def row(part: Part, says: Sequence[Echo]) -> Row:
    """The ledger's row of one block; tokens are raw, fences and repeated lines included."""
    said = sum(echo.tokens for echo in says if echo.part is part)
    kept = [bit for bit in part.bits if bit.why is None]
    present = [bit for bit in part.bits if bit.why != "empty"]
    wanted = sum(bit.full for bit in present) + (part.wrapper if present else 0) + said
    given = sum(bit.tokens for bit in kept) + said
    if kept:
        given += part.wrapper + (part.more if part.lost else 0)
    return Row(
        block=part.block.name,
        zone=part.block.zone,
        stability=part.block.stability,
        wanted=wanted,
        given=given,
        items=len(kept),
        dropped=tuple((bit.item.key, bit.why) for bit in part.bits if bit.why is not None),
        sizes=tuple(bit.full for bit in part.bits if bit.why is not None),
        shortened=tuple(bit.item.key for bit in kept if bit.short),
        protected=part.block.protected,
    )


def scaled(made: Row, factor: float) -> Row:
    """A row in corrected tokens, rounded to the nearest."""
    if factor == 1:
        return made
    return replace(
        made,
        wanted=round(made.wanted * factor),
        given=round(made.given * factor),
        sizes=tuple(round(size * factor) for size in made.sizes),
    )
