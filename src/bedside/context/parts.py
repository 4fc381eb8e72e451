"""Blocks made ready to be measured and cut: parts hold units, units hold bits. Internal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bedside.context.cut import MARK, longest_cut
from bedside.context.render import FRAMING, Meter, close_tag, open_tag
from bedside.core.context import Block, Item, Shrink

__all__ = ["LEAST_WORDS", "Bit", "Frame", "Part", "Unit", "prepare", "shorten_unit"]

LEAST_WORDS = 8
"""A cut at a word leaves at least this many, but in protected blocks, where one may do."""


class Bit:
    """One item in play: its current body, size and fate."""

    __slots__ = ("at", "body", "cut", "fence", "full", "item", "tokens", "why")

    def __init__(self, item: Item, at: int, *, fence: int, body: int) -> None:
        self.item, self.at, self.fence = item, at, fence
        self.body = item.body
        self.cut = False
        self.full = self.tokens = fence + body
        self.why: str | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """The item's shorter bodies, blank ones left out: no message may be empty."""
        return tuple(form for form in self.item.forms if form and not form.isspace())

    @property
    def short(self) -> bool:
        """Whether it no longer stands at full length."""
        return self.cut or self.body is not self.item.body


class Unit:
    """Bits that live and die together. `order` sorts the one that survives longest first."""

    __slots__ = ("bits", "keep", "order", "part", "taken")

    def __init__(self, part: Part, bits: list[Bit], order: tuple[float, ...], *, keep: bool):
        self.part, self.bits, self.order, self.keep = part, bits, order, keep
        self.taken = False

    @property
    def tokens(self) -> int:
        """Current size, fences included."""
        if len(self.bits) == 1:
            return self.bits[0].tokens
        return sum(bit.tokens for bit in self.bits)

    @property
    def chars(self) -> int:
        """Current characters of the bodies."""
        return sum(len(bit.body) for bit in self.bits)

    def drop(self, why: str) -> None:
        """Mark every bit as left out."""
        for bit in self.bits:
            bit.why = why


class Frame:
    """The framing of one message, shared by its parts: paid when the first text enters."""

    __slots__ = ("open", "tokens")

    def __init__(self, tokens: int = 0) -> None:
        self.tokens, self.open = tokens, False

    @property
    def due(self) -> int:
        """Tokens still to be paid."""
        return 0 if self.open else self.tokens


class Part:
    """One block in play. `units` are best first; `bits` stand in the block's own order."""

    __slots__ = (
        "bits", "block", "charged", "frame", "home", "lost", "meter", "more", "number", "style", "taken",
        "units", "wrapper",
    )  # fmt: skip

    def __init__(self, block: Block, number: int, meter: Meter) -> None:
        self.block, self.number, self.meter = block, number, meter
        self.style = _style(block)
        self.frame = FRAMING if self.style == "message" else 0
        self.home = Frame()
        self.wrapper = (
            0
            if self.style == "message"
            else meter.raw(open_tag(block.name)) + meter.raw(close_tag(block.name))
        )
        plus = "plus_n_more" in block.shrink and self.style != "message"
        self.more = meter.raw("<more>\n+999 more\n</more>\n") if plus else 0
        self.bits: list[Bit] = []
        self.units: list[Unit] = []
        self.taken = self.charged = self.lost = 0

    @property
    def cuts(self) -> tuple[Shrink, ...]:
        """The block's rules that cut."""
        return tuple(rule for rule in self.block.shrink if rule.startswith("cut_"))

    @property
    def bookend(self) -> bool:
        """Whether the block says its whole text again: it ends the tail and is echoed at its head."""
        block = self.block
        return bool(block.echo) and len(block.items) == 1 and block.echo == block.items[0].body

    def alive(self) -> list[Unit]:
        """Units not left out, best first."""
        return [unit for unit in self.units if unit.bits[0].why is None]

    def lose(self, unit: Unit, why: str) -> None:
        """Leave a unit out."""
        unit.drop(why)
        self.lost += len(unit.bits)

    def settle(self) -> None:
        """Forget the dead; what is left competes."""
        self.units = self.alive()

    def cost(self, unit: Unit) -> int:
        """Tokens that taking `unit` adds: itself, and what it opens."""
        return unit.tokens + self.opening()

    def opening(self) -> int:
        """Tokens that the next unit adds beside itself; negative where it ends the "+N more" line."""
        after = self.more if self.lost or self.taken + 1 < len(self.units) else 0
        return after - self.charged + (0 if self.taken else self.wrapper) + self.home.due

    def take(self, unit: Unit) -> None:
        """Keep a unit."""
        self.charged = self.more if self.lost or self.taken + 1 < len(self.units) else 0
        self.taken += 1
        self.home.open = unit.taken = True

    def measure(self, body: str) -> int:
        """Tokens of a body as it would be rendered, without fences."""
        return self.meter.body(body, self.block.trust)

    def longest(self, bit: Bit, fits: Callable[[str], bool], *, cuts: bool, least: int) -> bool:
        """Put the longest shorter form or cut of `bit` that fits in its place; `False` if none."""
        best: tuple[int, str, bool] | None = None
        form = next((form for form in bit.forms if len(form) < len(bit.body) and fits(form)), None)
        if form is not None:
            best = (self.measure(form), form, False)
        if cuts and self.cuts:
            end = longest_cut(bit.item.body, self.cuts, fits, least=least)
            if end is not None:
                body = bit.item.body[:end]
                size = self.measure(body + MARK)
                if best is None or size > best[0]:
                    best = (size, body, True)
        if best is None or best[0] + bit.fence >= bit.tokens:
            return False
        bit.tokens, bit.body, bit.cut = best[0] + bit.fence, best[1], best[2]
        return True

    def lower(self, bit: Bit, target: int, *, cuts: bool, least: int) -> None:
        """Bring `bit` to at most `target` tokens, or as near as its forms and cuts can."""

        def fits(body: str) -> bool:
            return self.measure(body) + bit.fence <= target

        if bit.tokens <= target or self.longest(bit, fits, cuts=cuts, least=least):
            return
        smallest = min(bit.forms, key=self.measure, default=None)
        if smallest is not None and self.measure(smallest) + bit.fence < bit.tokens:
            bit.tokens, bit.body, bit.cut = self.measure(smallest) + bit.fence, smallest, False
        if cuts:
            self._barest(bit, least=least)

    def _barest(self, bit: Bit, *, least: int) -> None:
        """The shortest cut that any rule gives, where it is shorter than what stands."""
        for rule in self.cuts:
            tried: list[str] = []

            def first(body: str, tried: list[str] = tried) -> bool:
                tried.append(body)
                return False

            longest_cut(bit.item.body, (rule,), first, least=least)
            for body in tried:
                size = self.measure(body) + bit.fence
                if size < bit.tokens:
                    bit.tokens, bit.body, bit.cut = size, body[: -len(MARK)], True


def shorten_unit(unit: Unit, room: int, *, least: int = LEAST_WORDS) -> bool:
    """Shorten `unit` to at most `room` tokens, its longest items first.

    Returns:
        `True` when it fits; `False` leaves it as it was.
    """
    before = [(bit.tokens, bit.body, bit.cut) for bit in unit.bits]
    for bit in sorted(unit.bits, key=lambda bit: -bit.tokens):
        excess = unit.tokens - room
        if excess <= 0:
            return True
        unit.part.lower(bit, bit.tokens - excess, cuts=True, least=least)
    if unit.tokens <= room:
        return True
    for bit, (tokens, body, cut) in zip(unit.bits, before, strict=True):
        bit.tokens, bit.body, bit.cut = tokens, body, cut
    return False


def _style(block: Block) -> str:
    if block.slot == "history":
        return "message"
    alone = len(block.items) == 1 and block.items[0].span is None and not block.items[0].note
    return "solo" if alone else "fenced"


def prepare(block: Block, number: int, *, meter: Meter, window_step: int) -> Part:
    """Measure a block's items and group them in units, best first.

    Empty items are left out at once. In the history slot the units are kept newest first, those
    that `keep` does not protect in groups of `window_step` counted from the first unit, so that
    the window's start moves by whole steps.
    """
    part = Part(block, number, meter)
    trust = block.trust
    fenced = part.style == "fenced"
    fixed = part.frame
    grouped: dict[str, list[Bit]] = {}
    order: list[list[Bit]] = []
    measure_fence, measure_body = meter.fence, meter.item_body
    add_bit, add_unit = part.bits.append, order.append
    for at, item in enumerate(block.items):
        fence = measure_fence(item) if fenced else fixed
        bit = Bit(item, at, fence=fence, body=measure_body(item, trust))
        add_bit(bit)
        if not item.body or item.body.isspace():
            bit.why = "empty"
        elif item.unit:
            if item.unit not in grouped:
                add_unit(grouped.setdefault(item.unit, []))
            grouped[item.unit].append(bit)
        else:
            add_unit([bit])
    part.units = _units(part, order, window_step)
    return part


def _units(part: Part, order: Sequence[list[Bit]], window_step: int) -> list[Unit]:
    block = part.block
    oldest = part.style == "message" or "drop_oldest" in block.shrink
    top = max((bit.item.rank for bits in order for bit in bits), default=0.0) if oldest else 0.0
    made: list[Unit] = []
    priority, number, keep = -block.priority, part.number, block.protected
    for bits in order:
        if oldest:
            key = (priority, -top, _age(part, bits), number, -bits[-1].at)
        elif len(bits) == 1:
            item = bits[0].item
            age = -float(item.dated.toordinal()) if item.dated is not None else 0.0
            key = (priority, -item.rank, age, number, bits[0].at)
        else:
            rank = max(bit.item.rank for bit in bits)
            key = (priority, -rank, _age(part, bits), number, bits[0].at)
        made.append(Unit(part, bits, key, keep=keep))
    made.sort(key=lambda unit: unit.order)
    for unit in made[: block.keep]:
        unit.keep = True
    if part.style == "message" and window_step > 1 and not block.protected:
        made = _windows(part, made, window_step)
    return made


def _age(part: Part, bits: list[Bit]) -> float:
    """Smaller is newer; undated is oldest. History goes by position alone."""
    if part.style == "message":
        return 0.0
    return -max(float(bit.item.dated.toordinal()) if bit.item.dated else 0.0 for bit in bits)


def _windows(part: Part, newest: list[Unit], step: int) -> list[Unit]:
    kept = [unit for unit in newest if unit.keep]
    older = [unit for unit in newest if not unit.keep][::-1]
    groups: list[Unit] = []
    for start in range(0, len(older), step):
        run = older[start : start + step]
        bits = [bit for unit in run for bit in unit.bits]
        groups.append(Unit(part, bits, run[-1].order, keep=False))
    return kept + groups[::-1]
