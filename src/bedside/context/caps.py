"""A block's own caps and the soft limit: what happens before blocks compete. Internal."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.context.cut import MARK, longest_cut
from bedside.context.parts import LEAST_WORDS, Bit, Part, Unit, shorten_unit
from bedside.core.context import Cap, Shrink

__all__ = ["apply_cap", "apply_soft"]


def apply_cap(part: Part) -> None:
    """Bring a part under its block's cap.

    Every item is cut to `chars_each`. History falls to short forms, oldest first, before a turn
    is lost. Then units are kept best first while they fit; the unit that does not is shortened
    where it can be, and what comes after is left out. A protected block loses no item to a cap:
    it is shortened, and may stay above it; only the explicit "plus_n_more" lets it say "+N more".
    """
    cap = part.block.cap
    if cap == Cap():
        return
    if cap.chars_each is not None:
        for bit in part.bits:
            if len(bit.body) > cap.chars_each:
                _cut_chars(part, bit, cap.chars_each)
    if part.block.protected and "plus_n_more" not in part.block.shrink:
        _press(part, cap, cuts=False)
        _press(part, cap, cuts=True)
        return
    if part.style == "message":
        _press(part, cap, cuts=False)
    _walk(part, cap)
    part.settle()


def _over(part: Part, cap: Cap) -> int:
    """Tokens above the cap, 0 or less where there is none; characters are weighed as tokens."""
    over = 0
    alive = part.alive()
    if cap.tokens is not None:
        over = part.wrapper + sum(unit.tokens for unit in alive) - cap.tokens
    if cap.chars is not None:
        chars = sum(unit.chars for unit in alive)
        if chars > cap.chars:
            tokens = sum(unit.tokens for unit in alive)
            over = max(over, -(-tokens * (chars - cap.chars) // chars))
    return over


def _press(part: Part, cap: Cap, *, cuts: bool) -> None:
    """Shorten bits, the least wanted first, until the cap holds or nothing can be shortened."""
    least = 1 if part.block.protected else LEAST_WORDS
    for unit in reversed(part.units):
        for bit in unit.bits:
            over = _over(part, cap)
            if over <= 0:
                return
            part.lower(bit, bit.tokens - over, cuts=cuts, least=least)


def _cut_chars(part: Part, bit: Bit, most: int) -> None:
    """Cut one body to `most` characters, mark included; by a form where one fits."""

    def fits(body: str) -> bool:
        return len(body) <= most

    if part.longest(bit, fits, cuts=False, least=1):
        return
    rules: tuple[Shrink, ...] = (*part.cuts, "cut_mark")
    end = longest_cut(bit.item.body, rules, fits)
    if end is None:
        # One word longer than the cap: kept whole rather than cut in the middle.
        return
    bit.body, bit.cut = bit.item.body[:end], True
    bit.tokens = bit.fence + part.measure(bit.body + MARK)


def _walk(part: Part, cap: Cap) -> None:
    tokens, chars, items = part.wrapper, 0, 0
    closed = ""
    for unit in part.units:
        loses = not unit.keep or part.block.protected
        if closed and loses:
            part.lose(unit, closed)
            continue
        if not closed:
            closed = _reason(cap, tokens + unit.tokens, chars + unit.chars, items + len(unit.bits))
            fits = not closed or _shortens(unit, cap, tokens=tokens, chars=chars, items=items)
            if not fits and loses:
                part.lose(unit, closed)
                continue
        tokens, chars, items = tokens + unit.tokens, chars + unit.chars, items + len(unit.bits)


def _reason(cap: Cap, tokens: int, chars: int, items: int) -> str:
    if cap.items is not None and items > cap.items:
        return f"cap of {cap.items} items"
    if cap.tokens is not None and tokens > cap.tokens:
        return f"cap of {cap.tokens} tokens"
    if cap.chars is not None and chars > cap.chars:
        return f"cap of {cap.chars} characters"
    return ""


def _shortens(unit: Unit, cap: Cap, *, tokens: int, chars: int, items: int) -> bool:
    """Shorten the unit at the cap so that it fits; `False` leaves it as it was."""
    if cap.items is not None and items + len(unit.bits) > cap.items:
        return False
    room = unit.tokens if cap.tokens is None else cap.tokens - tokens
    if cap.chars is not None and unit.chars > cap.chars - chars:
        share = (cap.chars - chars) / unit.chars
        room = min(room, int(unit.tokens * share))
    before = [(bit.tokens, bit.body, bit.cut) for bit in unit.bits]
    least = 1 if unit.keep else LEAST_WORDS
    if shorten_unit(unit, room, least=least) and (
        cap.chars is None or unit.chars <= cap.chars - chars
    ):
        return True
    for bit, (size, body, cut) in zip(unit.bits, before, strict=True):
        bit.tokens, bit.body, bit.cut = size, body, cut
    return False


def apply_soft(parts: Sequence[Part], *, demand: int, soft: tuple[int, str]) -> None:
    """Above the soft limit the named block goes down first, to what `keep` and protection hold.

    History falls to short forms, oldest first, before a turn is lost. `demand` is what all parts
    together want after their caps. A block that is not there changes nothing.
    """
    threshold, name = soft
    for part in parts:
        if part.block.name != name:
            continue
        excess = demand - threshold
        if part.style == "message":
            for unit in reversed(part.units):
                for bit in unit.bits:
                    if excess > 0:
                        before = bit.tokens
                        part.lower(bit, before - excess, cuts=False, least=LEAST_WORDS)
                        excess -= before - bit.tokens
        for unit in reversed(part.units):
            if excess > 0 and not unit.keep:
                excess -= unit.tokens
                part.lose(unit, f"soft limit of {threshold} tokens")
        part.settle()
