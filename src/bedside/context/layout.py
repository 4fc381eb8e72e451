"""Where each block stands on the wire, and which lines are said again. Internal.

    cache      static | session | evictable stable | history | tail: question ... echoes, question
    balanced   the same, and the echoes of the system blocks open the tail too
    attention  only the stable primacy blocks stand before the history; all else by zone in the tail

The first two messages, protected static and protected session blocks, are the cacheable prefix.
Whatever may be evicted stands after them, so that no question can move the prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bedside.context.cut import MARK, longest_cut, word_ends
from bedside.context.parts import Frame, Part
from bedside.context.render import Meter, open_tag, reminder
from bedside.core.context import Layout

__all__ = ["HOMES", "Echo", "Home", "echoes", "home", "in_order"]

Home = Literal["static", "session", "settled", "fresh", "history", "tail"]
HOMES: tuple[Home, ...] = ("static", "session", "settled", "fresh", "history", "tail")
_ZONES = {"primacy": 0, "middle": 1, "recency": 2}
_STABLE = {"static": 0, "session": 1, "turn": 2}
OPENING = 500
"""Most tokens of a question in its opening bookend (EN-C5)."""


def home(part: Part, layout: Layout) -> Home:
    """The message that a block's items stand in."""
    block = part.block
    if block.slot == "history":
        return "history"
    if block.slot == "tail" or (layout == "attention" and block.zone != "primacy"):
        return "tail"
    if block.stability == "turn":
        return "fresh"
    if not block.protected:
        return "settled"
    return "static" if block.stability == "static" else "session"


def in_order(parts: Sequence[Part], where: Home, layout: Layout) -> list[Part]:
    """The parts of one message in wire order: by zone; a bookend's full text ends the tail."""
    here = [part for part in parts if home(part, layout) == where]
    if where == "tail":
        return sorted(here, key=lambda part: (part.bookend, _ZONES[part.block.zone]))
    if where == "settled":
        return sorted(
            here, key=lambda part: (_STABLE[part.block.stability], _ZONES[part.block.zone])
        )
    return sorted(here, key=lambda part: _ZONES[part.block.zone])


class Echo:
    """A line said again. `opening` stands at the head of the tail, else at its end."""

    __slots__ = ("_same", "cuttable", "home", "opening", "part", "text", "tokens", "trimmed")

    def __init__(self, part: Part, home: Frame, *, opening: bool, same: bool) -> None:
        self.home = home
        self.part, self.opening, self._same = part, opening, same
        self.cuttable = opening and same
        self.trimmed = False
        self.text = part.block.echo
        self.tokens = self._measure(self.text)

    def _measure(self, text: str) -> int:
        meter = self.part.meter
        return sum(meter.raw(piece) for piece in self._pieces(text))

    def _pieces(self, text: str) -> tuple[str, str, str]:
        return reminder(self.part.block, text, same=self._same)

    def pieces(self) -> tuple[str, str, str]:
        """Opening fence, text, closing fence."""
        return self._pieces(self.text)

    def trim(self, most: int) -> None:
        """Cut an opening bookend, visibly, to `most` tokens or to its first word."""
        if not self.cuttable or self.tokens <= most:
            return
        whole = self.part.block.echo

        def fits(text: str) -> bool:
            return self._measure(text) <= most

        end = longest_cut(whole, ("cut_mark",), fits)
        if end is None:
            end = next(iter(word_ends(whole)), None)
        if end is not None and self._measure(whole[:end] + MARK) < self.tokens:
            self.text, self.trimmed = whole[:end] + MARK, True
            self.tokens = self._measure(self.text)


def echoes(
    parts: Sequence[Part], layout: Layout, meter: Meter, *, tail: Frame
) -> tuple[list[Echo], list[Echo]]:
    """The lines said again at the head and at the end of the tail, in wire order.

    The question is the first line of the one and the last of the other. `tail` is the framing of
    the message that they stand in.
    """
    opening: list[Echo] = []
    closing: list[Echo] = []
    # The tail's own echoes come first at the head and last at the end.
    ours = [part for part in parts if part.block.echo and home(part, layout) == "tail"]
    others = [part for part in parts if part.block.echo and home(part, layout) != "tail"]
    for part in ours:
        if part.bookend:
            echo = Echo(part, tail, opening=True, same=True)
            echo.trim(OPENING + meter.raw(open_tag(part.block.name)) * 2)
            opening.insert(0, echo)
        elif part.block.zone == "recency":
            opening.append(Echo(part, tail, opening=True, same=False))
    for part in others:
        if layout == "balanced":
            opening.append(Echo(part, tail, opening=True, same=False))
        closing.append(Echo(part, tail, opening=False, same=False))
    closing += [
        Echo(part, tail, opening=False, same=False)
        for part in ours
        if not part.bookend and part.block.zone != "recency"
    ]
    return opening, closing
