"""What `assemble` returns: an assembly that also knows its pieces, its inputs and its wire forms."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from bedside.context import wire
from bedside.core.context import Assembly, Block, Budget
from bedside.core.value import value

__all__ = ["Compiled", "Piece", "PieceKind"]

PieceKind = Literal["fence", "body", "mark", "echo", "more", "said", "order"]


@value
class Piece:
    """A stretch of one message's text and the one thing that it came from.

    `[start, end)` are code points of the message's joined text. `item` is the item's key, empty
    for a block's own fences. `part` says what it is: a fence (attributes included), a quotable
    body, the mark of a cut, a line said again, or the "+N more" line.
    """

    message: int
    start: int
    end: int
    block: str
    item: str
    part: PieceKind


@value
class Compiled(Assembly):
    """An assembly with its making.

    `pieces` tile every message that `assemble` wrote: each character has one owner. `base` is how
    many messages `assemble` made; those after it were appended by `extend` and `reorder`.
    `minimum` is the provider's smallest cacheable prefix, in tokens. `overhead` is what the budget
    set aside for schemas and framing, inside `tokens`. `counter` names the tokenizer.
    """

    pieces: tuple[Piece, ...] = field(default=(), repr=False)
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    budget: Budget | None = None
    base: int = 0
    minimum: int = 0
    overhead: int = 0
    counter: str = ""

    def to_anthropic(self) -> dict[str, Any]:
        """Keyword arguments `system` and `messages` of an Anthropic Messages call."""
        return wire.to_anthropic(self)

    def to_openai(self) -> dict[str, Any]:
        """The keyword argument `messages` of an OpenAI chat completion."""
        return wire.to_openai(self)

    def owner(self, message: int, at: int) -> Piece | None:
        """The piece that character `at` of message `message` belongs to, `None` outside."""
        for piece in self.pieces:
            if piece.message == message and piece.start <= at < piece.end:
                return piece
        return None
