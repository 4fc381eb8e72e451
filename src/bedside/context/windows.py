"""Windows over a conversation: the last messages verbatim, older ones in a sentence each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bedside.context.cut import headline
from bedside.core.context import Block, Cap, Item
from bedside.core.errors import InvalidArgument

__all__ = ["EARLIER", "compressed", "turns", "window"]

EARLIER = "Earlier in this conversation, the first sentence of each answer:"
_LINES = 40
_SHORT = 600
"""An answer over this many characters has its headline as a short form."""


def turns(history: Sequence[Item]) -> tuple[Item, ...]:
    """Give each message of a conversation, oldest first, the unit of its turn.

    A turn is a person's messages and the answers that follow. A message that has a unit keeps it.
    Long answers get their headline as a short form, so that a turn is shortened before it is lost.
    """
    made: list[Item] = []
    number, answered = 0, False
    for item in history:
        if item.role == "user" and answered:
            number, answered = number + 1, False
        answered = answered or item.role == "assistant"
        made.append(_with(item, unit=item.unit or f"turn {number}"))
    return tuple(made)


def _with(item: Item, *, unit: str) -> Item:
    forms = item.forms
    if not forms and item.role == "assistant" and len(item.body) > _SHORT:
        short = headline(item.body)
        forms = (short,) if short else ()
    return replace(item, unit=unit, forms=forms)


def window(
    history: Sequence[Item],
    *,
    last: int = 6,
    step: int = 1,
    keep: int = 1,
    priority: int = 50,
    cap: Cap | int | None = None,
    earlier_priority: int = 20,
) -> tuple[Block, Block | None]:
    """Split a conversation into a block of its last messages and one of what came before.

    Args:
        history: Messages, oldest first, from the conversation's beginning.
        last: Fewest messages that stand verbatim while there is room, at least 1.
        step: The window starts on a multiple of this many turns, at least 1, so that its prefix
            stays the same for as many turns; it then holds up to `step - 1` turns more.
        keep: So many latest turns are protected.
        priority: Of the verbatim block.
        cap: Of the verbatim block.
        earlier_priority: Of the compressed block.

    Returns:
        The block "history" for the history slot, and the block "earlier" for the tail, `None`
        where nothing came before.

    Raises:
        InvalidArgument: `last` or `step` below 1.
    """
    if last < 1:
        raise InvalidArgument("last", found=last, want="at least 1 message")
    if step < 1:
        raise InvalidArgument("step", found=step, want="at least 1 turn")
    items = turns(history)
    units = list(dict.fromkeys(item.unit for item in items))
    cut = items[-last].unit if len(items) > last else (units[0] if units else "")
    start = units.index(cut) // step * step if units else 0
    recent = set(units[start:])
    block = Block(
        "history",
        [item for item in items if item.unit in recent],
        slot="history",
        stability="session",
        priority=priority,
        keep=keep,
        cap=cap,
        shrink="drop_oldest",
    )
    older = compressed([item for item in items if item.unit not in recent])
    if older is None:
        return block, None
    return block, Block(
        "earlier", older, slot="tail", zone="middle", stability="session", priority=earlier_priority
    )


def compressed(history: Sequence[Item]) -> Item | None:
    """Older turns in one item: a heading, then the first sentence of each answer, oldest first.

    Its short forms leave out the oldest lines first; the heading stays.

    Returns:
        The item, `None` where there is no answer to speak of. At most the latest 40 lines.
    """
    lines = [headline(item.body) for item in history if item.role == "assistant"]
    lines = [f"- {' '.join(line.split())}" for line in lines if line.strip()][-_LINES:]
    if not lines:
        return None
    bodies = ["\n".join([EARLIER, *lines[start:]]) for start in range(len(lines))]
    return Item(bodies[0], key="earlier", forms=bodies[1:])
