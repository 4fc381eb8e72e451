"""From a writer's own numbers to the session's. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from bedside.core.context import Assembly, Item, Numbering
from bedside.core.turn import Draft

__all__ = ["number_draft"]

_MARKER = re.compile(r"\[(\d{1,4})\]")


def number_draft(
    draft: Draft, numbering: Numbering, prompt: Assembly | None
) -> tuple[Draft, Assembly]:
    """Give a deterministic draft the session's numbers.

    A rule or an extractive writer numbers its own `items` from 1, in order. Each item's source
    keeps the number that the session gave it, or gets the next free one; markers and quotes are
    rewritten and every offset moves along. The items count as shown in this turn.

    Args:
        draft: `[k]` means `draft.items[k - 1]`; a marker without an item is left as it is, so that
            the gate refuses it.
        numbering: The session's; it is extended, never changed.
        prompt: What was compiled for this turn, or `None`.

    Returns:
        The draft with the session's numbers, and the assembly that the gate checks against.
    """
    numbers = dict(numbering)
    local: dict[int, int] = {}
    shown: dict[int, tuple[Item, ...]] = dict(prompt.shown) if prompt is not None else {}
    for k, item in enumerate(draft.items, start=1):
        if item.span is None:
            continue
        key = (item.span.source.id, item.span.source.revision)
        n = numbers.setdefault(key, max(numbers.values(), default=0) + 1)
        local[k] = n
        if item not in shown.get(n, ()):
            shown[n] = (*shown.get(n, ()), item)
    text, moves = _rewrite(draft.text, local)
    quotes = tuple(
        replace(quote, n=local[quote.n], at=(_move(moves, quote.at[0]), _move(moves, quote.at[1])))
        for quote in draft.quotes
        if quote.n in local
    )
    if prompt is None:
        prompt = Assembly(
            messages=(),
            tokens=0,
            limit=0,
            layout="balanced",
            ledger=(),
            numbering=numbers,
            shown=shown,
            segments=(),
        )
    else:
        prompt = replace(prompt, numbering=numbers, shown=shown)
    return replace(draft, text=text, quotes=quotes), prompt


def _rewrite(text: str, local: dict[int, int]) -> tuple[str, list[tuple[int, int]]]:
    """The text with session markers, and (old offset, shift from there on) in rising order."""
    parts: list[str] = []
    moves: list[tuple[int, int]] = [(0, 0)]
    last = shift = 0
    for marker in _MARKER.finditer(text):
        n = local.get(int(marker[1]))
        if n is None:
            continue
        new = f"[{n}]"
        parts += [text[last : marker.start()], new]
        last = marker.end()
        shift += len(new) - len(marker[0])
        moves.append((last, shift))
    parts.append(text[last:])
    return "".join(parts), moves


def _move(moves: list[tuple[int, int]], offset: int) -> int:
    index = bisect_right(moves, (offset, 10**9)) - 1
    return offset + moves[index][1]
