"""`assemble`: blocks in, an assembly out, never above the budget. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import ceil, floor
from typing import Literal, get_args

from bedside.context.caps import apply_cap, apply_soft
from bedside.context.compiled import Compiled
from bedside.context.compose import LEAD, Writer, row, scaled
from bedside.context.fit import check_pools, fit
from bedside.context.layout import HOMES, Echo, Home, echoes, home, in_order
from bedside.context.parts import Frame, Unit, prepare
from bedside.context.render import FRAMING, Meter
from bedside.context.tokens import Counter, o200k
from bedside.core.context import Block, Budget, Count, Layout, Message, Numbering, Row
from bedside.core.errors import BudgetTooSmall, InvalidArgument
from bedside.core.ids import SourceId

__all__ = ["assemble", "counter_of"]

_NONE: Mapping[tuple[SourceId, int], int] = {}


def assemble(
    blocks: Sequence[Block],
    *,
    budget: Budget,
    layout: Layout = "balanced",
    numbering: Numbering = _NONE,
    count: Count | None = None,
    minimum: int = 0,
) -> Compiled:
    """Choose, shorten and order blocks so that the result fits `budget`.

    In this order: each block's own cap; the soft limit; protected blocks at full length, then in
    their short forms; pools; then one order (priority, rank, age) kept down to a cut-off, the unit
    at the cut-off shortened where its forms or cut rules allow.

    Args:
        blocks: In declared order, which is the order of blocks within a zone on the wire.
        budget: `limit` holds for the prompt with `overhead` and an untouched `loop` inside it,
            `margin` taken off.
        layout: See `bedside.context.layout`.
        numbering: The session's numbers; new sources get the next free ones, in wire order.
        count: The token counter; `None` takes the budget's, else o200k. A `Counter` counts with
            its pinned factor. Any other function must be pure.
        minimum: The provider's smallest cacheable prefix in tokens; a shorter prefix counts as 0
            cacheable and gets no break. 0 where it is not known.

    Returns:
        The assembly; its `tokens` are counted again over the finished messages, plus the overhead.
        Nothing is left out without a row in its ledger.

    Raises:
        BudgetTooSmall: protected blocks do not fit in their shortest forms; names them with sizes.
        InvalidArgument: a layout that is none, pools that are not well formed, or a block's pool
            that is not in the budget.
    """
    if layout not in get_args(Layout):
        raise InvalidArgument("layout", found=layout, want=", ".join(get_args(Layout)))
    return compile_blocks(
        blocks, budget=budget, layout=layout, numbering=numbering, count=count, minimum=minimum
    )


def counter_of(count: Count | None, budget: Budget | None = None) -> Counter:
    """The counter to use: the one given, else the budget's, else o200k."""
    chosen = count or (budget.count if budget is not None else None)
    if chosen is None:
        return o200k()
    return chosen if isinstance(chosen, Counter) else Counter("custom", chosen)


def compile_blocks(
    blocks: Sequence[Block],
    *,
    budget: Budget,
    layout: Layout,
    numbering: Numbering,
    count: Count | None,
    minimum: int,
    hold: frozenset[int] = frozenset(),
    spare: int = 0,
) -> Compiled:
    """`assemble` with `spare` tokens kept free and the sources numbered in `hold` protected."""
    counter = counter_of(count, budget)
    room = floor(budget.limit * (1 - budget.margin) + 1e-9) - budget.overhead - budget.loop - spare
    if room < 0:
        parts = {"overhead": budget.overhead, "loop": budget.loop, "kept free": spare}
        taken = {name: tokens for name, tokens in parts.items() if tokens}
        raise BudgetTooSmall(
            needed=sum(taken.values()), available=room + sum(taken.values()), blocks=taken
        )
    stored, tighter = True, 0
    while True:
        job = _Job(blocks, budget, layout, numbering, counter, hold=hold, stored=stored)
        try:
            made = job.run(room - tighter, room, minimum=minimum)
        finally:
            job.release()
        over = made.tokens - budget.overhead - room
        if over <= 0:
            return made
        # Either a stored count was wrong, or this tokenizer joins text across fences.
        # Believe no stored count, and then aim lower and lower: at nothing at all in the end.
        tighter = 0 if stored else 2 * tighter + over
        stored = False


class _Job:
    """One attempt at one assembly."""

    layout: Layout

    def __init__(
        self,
        blocks: Sequence[Block],
        budget: Budget,
        layout: Layout,
        numbering: Numbering,
        counter: Counter,
        *,
        hold: frozenset[int],
        stored: bool,
    ) -> None:
        self.blocks, self.budget, self.layout = blocks, budget, layout
        self.numbering, self.counter = numbering, counter
        known = max(numbering.values(), default=0)
        highest = known + sum(len(block.items) for block in blocks)
        self.meter = Meter(counter.raw, highest=highest, stored=stored, heads=counter.heads())
        step = budget.window_step
        self.parts = [
            prepare(block, number, meter=self.meter, window_step=step)
            for number, block in enumerate(blocks)
        ]
        if hold:
            self._hold(hold)

    def _hold(self, numbers: frozenset[int]) -> None:
        for part in self.parts:
            for unit in part.units:
                spans = [bit.item.span for bit in unit.bits]
                keys = [(span.source.id, span.source.revision) for span in spans if span]
                unit.keep = unit.keep or any(self.numbering.get(key) in numbers for key in keys)

    def run(self, room: int, declared: int, *, minimum: int) -> Compiled:
        check_pools(self.parts, self.budget.pools)
        for part in self.parts:
            apply_cap(part)
        tail = self._frames()
        opening, closing = echoes(self.parts, self.layout, self.meter, tail=tail)
        says = [*opening, *closing]
        self._soft(sum(echo.tokens for echo in says))
        units = [unit for part in self.parts for unit in part.units]
        line = FRAMING + self.meter.raw(LEAD)
        lead = (
            line if any(_answers(unit) for unit in units if unit.keep) else 0,
            line if any(_answers(unit) for unit in units) else 0,
        )
        raw = floor(room / self.counter.factor)
        try:
            fit(self.parts, says, room=raw, lead=lead, pools=self.budget.pools)
        except BudgetTooSmall as error:
            factor = self.counter.factor
            sizes = {name: ceil(size * factor) for name, size in error.blocks.items()}
            needed = max(ceil(error.needed * factor), max(declared, 0) + 1)
            raise BudgetTooSmall(needed=needed, available=max(declared, 0), blocks=sizes) from None
        writer = Writer(self.numbering)
        messages: list[Message] = []
        homes: list[Home] = []
        for where in HOMES:
            for message in self._messages(writer, where, len(messages), (opening, closing)):
                messages.append(message)
                homes.append(where)
        messages = self._breaks(messages, homes, minimum)
        rows = tuple(scaled(row(part, says), self.counter.factor) for part in self.parts)
        return self._finish(writer, messages, homes, rows, minimum)

    def release(self) -> None:
        """Untie parts and units, so that they go at once and not at the next collection."""
        for part in self.parts:
            part.units = []

    def _soft(self, said: int) -> None:
        if self.budget.soft is None:
            return
        demand = self.budget.overhead + said
        for part in self.parts:
            if part.units:
                demand += part.wrapper + sum(unit.tokens for unit in part.units)
        apply_soft(self.parts, demand=demand, soft=self.budget.soft)

    def _frames(self) -> Frame:
        """Give the parts of each message one frame; history pays by the message. The tail's."""
        # A corrected count is rounded up once for each message.
        tokens = FRAMING + (1 if self.counter.factor != 1 else 0)
        frames = {where: Frame(0 if where == "history" else tokens) for where in HOMES}
        for part in self.parts:
            part.home = frames[home(part, self.layout)]
        return frames["tail"]

    def _messages(
        self, writer: Writer, where: Home, index: int, says: tuple[Sequence[Echo], Sequence[Echo]]
    ) -> list[Message]:
        if where == "history":
            return self._history(writer, index)
        writer.begin(index)
        here = in_order(self.parts, where, self.layout)
        ends = [part for part in here if where == "tail" and part.bookend]
        for echo in says[0] if where == "tail" else ():
            writer.echo(echo)
        for part in here:
            if part not in ends:
                writer.part(part)
        for echo in says[1] if where == "tail" else ():
            writer.echo(echo)
        for part in ends:
            writer.part(part)
        text = writer.end()
        if not text:
            return []
        return [self._message("user" if where == "tail" else "system", text)]

    def _message(self, role: Literal["system", "user", "assistant"], text: str) -> Message:
        return Message(role=role, parts=(text,), tokens=self.counter(text) + FRAMING)

    def _history(self, writer: Writer, index: int) -> list[Message]:
        made: list[Message] = []
        for part in self.parts:
            if part.style != "message":
                continue
            for bit in part.bits:
                if bit.why is not None:
                    continue
                if not made and bit.item.role == "assistant":
                    writer.begin(index)
                    writer.lead()
                    made.append(self._message("user", writer.end()))
                writer.begin(index + len(made))
                writer.message(part, bit)
                made.append(self._message(bit.item.role, writer.end()))
        return made

    def _breaks(
        self, messages: list[Message], homes: Sequence[Home], minimum: int
    ) -> list[Message]:
        """Mark the ends of static, session and settled text and of the history; at most four."""
        marked = list(messages)
        total = 0
        for index, message in enumerate(messages):
            total += message.tokens
            last = index + 1 == len(messages) or homes[index + 1] != homes[index]
            if last and homes[index] in {"static", "session", "settled", "history"}:
                marked[index] = replace(message, cache_break=total >= minimum)
        return marked

    def _finish(
        self,
        writer: Writer,
        messages: Sequence[Message],
        homes: Sequence[Home],
        rows: tuple[Row, ...],
        minimum: int,
    ) -> Compiled:
        digest = sha256()
        prefix = 0
        segments: list[tuple[str, int]] = []
        for message, where in zip(messages, homes, strict=True):
            text = f"{message.role}\0{message.parts[0]}\0".encode("utf-8", "replace")
            segments.append((sha256(text).hexdigest(), message.tokens))
            if where in {"static", "session"}:
                digest.update(text)
                prefix += message.tokens
        return Compiled(
            messages=tuple(messages),
            tokens=self.budget.overhead + sum(message.tokens for message in messages),
            limit=self.budget.limit,
            layout=self.layout,
            ledger=rows,
            numbering=writer.numbers,
            shown={n: tuple(items) for n, items in writer.shown.items()},
            segments=tuple(segments),
            cacheable=prefix if prefix >= minimum else 0,
            prefix_hash=digest.hexdigest() if prefix else "",
            pieces=tuple(writer.pieces),
            blocks=tuple(self.blocks),
            budget=self.budget,
            base=len(messages),
            minimum=minimum,
            overhead=self.budget.overhead,
            counter=self.counter.name,
        )


def _answers(unit: Unit) -> bool:
    """Whether a history could begin with an answer of this unit."""
    return unit.part.style == "message" and unit.bits[0].item.role == "assistant"
