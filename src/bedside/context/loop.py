"""Appending to a prompt: a tool round, and the order to repair a draft. Pure.

What was sent is never changed: the messages of one call are a prefix of those of the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import floor

from bedside.context.assemble import compile_blocks, counter_of
from bedside.context.compiled import Compiled
from bedside.context.compose import Writer
from bedside.context.cut import MARK, longest_cut
from bedside.context.escape import escape
from bedside.context.fit import fit
from bedside.context.parts import Part, prepare
from bedside.context.render import FRAMING, Meter, close_tag, open_tag
from bedside.context.tokens import Counter
from bedside.context.wire import dump, text_of
from bedside.core.context import (
    Assembly,
    Block,
    Budget,
    Count,
    Item,
    Message,
    Opaque,
    Row,
    ToolCall,
    ToolResult,
)
from bedside.core.errors import BudgetTooSmall
from bedside.core.turn import Draft

__all__ = ["extend", "reorder"]

_CALL = 12
"""Tokens of framing around one tool call or result, beyond its text."""
_MOST_BREAKS = 4
_NO_ROOM = "{} found, no room to show them."
_NUMBERED = re.compile(r'<source id="([0-9]+)"')
_LEAST_DRAFT = 30


def extend(
    prompt: Assembly,
    *,
    said: Message,
    results: Sequence[ToolResult],
    budget: Budget,
    calls_left: int,
    order: str = "",
    count: Count | None = None,
) -> Assembly:
    """Append what the model said and what its tools brought.

    Results share what is left of `budget.loop` over the calls left; what one round leaves unused
    the next may have. Items compete over all results by rank; those that do not fit are left out
    whole, with "+N more" in their place and a reason in the ledger. A result's items come back as
    one item whose body is the text as the model reads it; `shown` holds the sources.

    Args:
        prompt: What was sent.
        said: The model's message; its tokens are counted here again, with its tool calls.
        results: One for each tool call, in the calls' order.
        budget: The step's budget.
        calls_left: Model calls still to come, this round's included; at least 1.
        order: What the model is told after its results, in our own words; "" for nothing.
        count: The token counter, as for `assemble`.

    Returns:
        A new assembly: `prompt.messages` is a prefix of its messages, numbers go on in the same
        numbering.

    Raises:
        BudgetTooSmall: what was said, with every result empty, exceeds the limit.
    """
    counter = counter_of(count, budget)
    spoken = replace(said, tokens=_tokens(said, counter))
    hard = floor(budget.limit * (1 - budget.margin) + 1e-9) - prompt.tokens
    share = min(hard, (budget.loop - prompt.used_loop) // max(calls_left, 1))
    told = (f"<order>\n{order}\n</order>\n",) if order else ()
    fixed = FRAMING + len(results) * _CALL + sum(counter(text) for text in told)
    blocks = [_block(result) for result in results]
    meter = Meter(
        counter.raw,
        highest=max(prompt.numbering.values(), default=0) + sum(len(b.items) for b in blocks),
        stored=True,
    )
    bare = fixed + sum(
        counter(escape(result.error))
        if result.error is not None
        else max(
            counter(_bare(result, _NO_ROOM.format(999))), counter(_bare(result, result.nothing))
        )
        for result in results
    )
    room = max(share - spoken.tokens, bare)
    if spoken.tokens + bare > hard:
        raise BudgetTooSmall(
            needed=spoken.tokens + bare,
            available=max(hard, 0),
            blocks={"said": spoken.tokens, "results": bare},
        )
    tighter = 0
    while True:
        # An empty result still says so: only items compete, for what the bare results leave.
        parts = [prepare(b, n, meter=meter, window_step=1) for n, b in enumerate(blocks)]
        raw = floor((room - bare) / counter.factor) - tighter
        fit(parts, (), room=max(raw, 0), lead=(0, 0), pools=())
        writer = Writer(prompt.numbering)
        index = len(prompt.messages) + 1
        made = tuple(
            _rendered(result, part, writer, index)
            for result, part in zip(results, parts, strict=True)
        )
        reply = Message(role="user", parts=(*made, *told), tokens=0)
        reply = replace(reply, tokens=_tokens(reply, counter))
        over = spoken.tokens + reply.tokens - max(min(hard, spoken.tokens + room), 0)
        if over <= 0 or raw <= 0:
            break
        tighter += over
    breaks = sum(message.cache_break for message in prompt.messages)
    reply = replace(reply, cache_break=breaks < _MOST_BREAKS)
    shown = {n: list(items) for n, items in prompt.shown.items()}
    for n, items in writer.shown.items():
        have = shown.setdefault(n, [])
        have.extend(item for item in items if item not in have)
    return replace(
        prompt,
        messages=(*prompt.messages, spoken, reply),
        tokens=prompt.tokens + spoken.tokens + reply.tokens,
        ledger=(*prompt.ledger, *(_row(part) for part in parts)),
        numbering=writer.numbers,
        shown={n: tuple(items) for n, items in shown.items()},
        segments=(*prompt.segments, _segment(spoken), _segment(reply)),
        used_loop=prompt.used_loop + spoken.tokens + reply.tokens,
    )


def _block(result: ToolResult) -> Block:
    items = () if result.error is not None else result.items
    return Block(result.element, items, slot="tail", zone="recency", shrink="plus_n_more")


def _bare(result: ToolResult, words: str) -> str:
    """The result's element with a sentence of ours in the place of its items."""
    return f"{open_tag(result.element)}{escape(words)}\n{close_tag(result.element)}"


def _rendered(result: ToolResult, part: Part, writer: Writer, message: int) -> ToolResult:
    if result.error is not None:
        return ToolResult(id=result.id, error=escape(result.error))
    writer.begin(message)
    writer.part(part)
    text = writer.end()
    if not text:
        words = _NO_ROOM.format(part.lost) if part.lost else result.nothing
        text = _bare(result, words)
    return ToolResult(id=result.id, items=(Item(text, key=result.id),))


def _row(part: Part) -> Row:
    kept = [bit for bit in part.bits if bit.why is None]
    return Row(
        block="results",
        zone="recency",
        stability="turn",
        wanted=part.wrapper + sum(bit.full for bit in part.bits),
        given=part.wrapper + sum(bit.tokens for bit in kept),
        items=len(kept),
        dropped=tuple((bit.item.key, bit.why) for bit in part.bits if bit.why is not None),
        sizes=tuple(bit.full for bit in part.bits if bit.why is not None),
        shortened=tuple(bit.item.key for bit in kept if bit.short),
    )


def _tokens(message: Message, counter: Counter) -> int:
    total = FRAMING + counter(text_of(message))
    for part in message.parts:
        if isinstance(part, ToolCall):
            total += _CALL + counter(part.name) + counter(part.arguments)
        elif isinstance(part, ToolResult):
            total += _CALL
        elif isinstance(part, Opaque):
            total += counter(part.data.decode("utf-8", "replace"))
    return total


def _segment(message: Message) -> tuple[str, int]:
    return sha256(dump((message,))).hexdigest(), message.tokens


def reorder(prompt: Assembly, *, draft: Draft, order: str, count: Count | None = None) -> Assembly:
    """Append a draft and the order to write it again, still inside the limit.

    Where the prompt leaves too little room, evictable context makes way (sources that the draft
    quotes stay), the stable prefix unchanged; then the draft is cut at a word, visibly, or left
    out. The order is never cut.

    Args:
        prompt: What was sent.
        draft: What came back.
        order: What to mend, in our own words.
        count: The token counter, as for `assemble`.

    Raises:
        BudgetTooSmall: even the order alone does not fit.
    """
    budget = prompt.budget if isinstance(prompt, Compiled) else None
    counter = counter_of(count, budget)
    ask = Message(role="user", parts=(f"<correction>\n{order}\n</correction>\n",), tokens=0)
    ask = replace(ask, tokens=_tokens(ask, counter))
    margin = budget.margin if budget is not None else 0.0
    limit = floor(prompt.limit * (1 - margin) + 1e-9)
    wanted = _answer(draft.text, counter) if draft.text.strip() else None
    need = ask.tokens + (wanted.tokens if wanted else 0)
    if need > limit - prompt.tokens:
        prompt = _make_way(prompt, draft, need=min(need, ask.tokens + limit // 4), count=counter)
    room = limit - prompt.tokens - ask.tokens
    if room < 0:
        raise BudgetTooSmall(
            needed=ask.tokens,
            available=max(room + ask.tokens, 0),
            blocks={"correction": ask.tokens},
        )
    if wanted is not None and wanted.tokens > room:
        wanted = _cut_answer(draft.text, counter, room)
    added = (wanted, ask) if wanted is not None else (ask,)
    return replace(
        prompt,
        messages=(*prompt.messages, *added),
        tokens=prompt.tokens + sum(message.tokens for message in added),
        segments=(*prompt.segments, *(_segment(message) for message in added)),
    )


def _answer(text: str, counter: Counter) -> Message:
    made = Message(role="assistant", parts=(text,), tokens=0)
    return replace(made, tokens=_tokens(made, counter))


def _cut_answer(text: str, counter: Counter, room: int) -> Message | None:
    def fits(body: str) -> bool:
        return _answer(body, counter).tokens <= room

    end = longest_cut(text, ("cut_mark",), fits, least=_LEAST_DRAFT)
    return None if end is None else _answer(text[:end] + MARK, counter)


def _make_way(prompt: Assembly, draft: Draft, *, need: int, count: Counter) -> Assembly:
    """The same prompt with `need` tokens free, or as it was where nothing can make way."""
    if not isinstance(prompt, Compiled) or prompt.budget is None:
        return prompt
    later = prompt.messages[prompt.base :]
    after = sum(message.tokens for message in later)
    quoted = frozenset(quote.n for quote in draft.quotes)
    spare = max(need + after - prompt.budget.loop, 0)
    for hold in (quoted, frozenset[int]()):
        try:
            base = compile_blocks(
                prompt.blocks,
                budget=prompt.budget,
                layout=prompt.layout,
                numbering=prompt.numbering,
                count=count,
                minimum=prompt.minimum,
                hold=hold,
                spare=spare,
            )
        except BudgetTooSmall:
            continue
        return _rejoined(prompt, base, later)
    return prompt


def _rejoined(prompt: Compiled, base: Compiled, later: Sequence[Message]) -> Compiled:
    """`base` with the messages that had been appended to `prompt` appended again."""
    in_base = {row.block for row in base.ledger}
    return replace(
        base,
        messages=(*base.messages, *later),
        tokens=base.tokens + sum(message.tokens for message in later),
        ledger=(*base.ledger, *(row for row in prompt.ledger if row.block not in in_base)),
        numbering=prompt.numbering,
        shown=_shown_again(prompt, base, later),
        segments=(*base.segments, *(_segment(message) for message in later)),
        used_loop=prompt.used_loop,
    )


def _shown_again(
    prompt: Compiled, base: Compiled, later: Sequence[Message]
) -> Mapping[int, tuple[Item, ...]]:
    """What stands in the rejoined prompt: the base's items and those of the later tool results."""
    text = "".join(text_of(message) for message in later)
    shown = dict(base.shown)
    for n in sorted({int(found) for found in _NUMBERED.findall(text)}):
        have = shown.get(n, ())
        again = (item for item in prompt.shown.get(n, ()) if escape(item.body) in text)
        shown[n] = (*have, *(item for item in again if item not in have))
    return shown
