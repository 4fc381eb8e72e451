"""Blocks in, an assembly out: the types of context compilation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812 - `date` is also a parameter's name here
from typing import Literal, get_args

from bedside.core.errors import InvalidArgument
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.core.value import value

__all__ = [
    "Assembly",
    "Block",
    "Budget",
    "Cap",
    "Count",
    "Item",
    "Layout",
    "Message",
    "Numbering",
    "Opaque",
    "Pool",
    "Row",
    "Shrink",
    "Slot",
    "Stability",
    "ToolCall",
    "ToolResult",
    "Zone",
]

Slot = Literal["system", "history", "tail"]
Zone = Literal["primacy", "middle", "recency"]
Stability = Literal["static", "session", "turn"]
Layout = Literal["attention", "cache", "balanced"]
Shrink = Literal[
    "drop_oldest", "drop_lowest", "plus_n_more", "cut_section", "cut_sentence", "cut_mark"
]
Trust = Literal["ours", "data"]
Count = Callable[[str], int]
Numbering = Mapping[tuple[SourceId, int], int]
"""(source id, revision) -> n. Belongs to a session: append only, a number is never reused."""


@value
class Cap:
    """Most that a block may hold; `None` is no cap. `chars_each` cuts every item."""

    tokens: int | None = None
    items: int | None = None
    chars: int | None = None
    chars_each: int | None = None


@dataclass(frozen=True, slots=True, init=False)
class Item:
    """One piece of a block, with where it is from.

    `body` is quotable: it equals the stored text at `span` (before escaping) where there is one.
    `note` is derived (age, borderline): its figures count as context, it cannot be quoted.
    `forms` are shorter bodies, longest first; the empty tuple means all or nothing, unless the
    block's shrink rules may cut. `rank`: higher survives; compared inside one block or pool.
    Items of one block with the same non-empty `unit` live and die together. `dated` is the
    content's date, `None` when unknown: `drop_oldest` drops undated items first. `tokens` is the
    stored count of `body` and a line break under the uncorrected tokenizer (fences are counted
    apart, and counts add up); `None` when it must be counted. A wrong one costs time or room,
    never the bound. `score` is that of the search that found it, shown to two decimals (EN-K8); `None`
    where no search did.
    """

    body: str
    key: str = ""
    span: Span | None = None
    note: str = ""
    forms: tuple[str, ...] = ()
    rank: float = 0.0
    unit: str = ""
    role: Literal["user", "assistant"] = "user"
    dated: Date | None = None
    tokens: int | None = None
    score: float | None = None

    def __init__(
        self,
        body: str,
        *,
        key: str = "",
        span: Span | None = None,
        source: str = "",
        date: str | Date | None = None,
        note: str = "",
        forms: Iterable[str] = (),
        rank: float = 0.0,
        unit: str = "",
        role: Literal["user", "assistant"] = "user",
        dated: Date | None = None,
        tokens: int | None = None,
        score: float | None = None,
    ) -> None:
        """Build an item; `source` and `date` are the short way to a `span` over the whole body."""
        when = (
            dated
            if dated is not None
            else (Date.fromisoformat(date) if isinstance(date, str) else date)
        )
        if span is None and source:
            revision = Source(
                id=SourceId(source), revision=1, kind="document", title=source, dated=when
            )
            span = Span(source=revision, start=0, end=len(body))
        put = object.__setattr__
        put(self, "body", body)
        put(self, "key", key or source or body[:40])
        put(self, "span", span)
        put(self, "note", note)
        put(self, "forms", tuple(forms))
        put(self, "rank", float(rank))
        put(self, "unit", unit)
        put(self, "role", role)
        put(self, "dated", when if when is not None else (span.source.dated if span else None))
        put(self, "tokens", tokens)
        put(self, "score", score)


@dataclass(frozen=True, slots=True, init=False)
class Block:
    """One candidate part of the context.

    `priority`: the lowest is evicted first, across blocks. `protected`: at least the shortest form
    of every item stays. `keep`: so many units (latest, or best) are protected. `trust` "data" is
    escaped and fenced, "ours" is fenced. `echo` is one line said again at the end of the tail, or
    at its head where the block itself ends it; it is protected, whatever becomes of the block. An
    echo of the only item's whole text (`bookend`) puts that text at both ends of the tail, cut
    visibly to 500 tokens at the head.
    """

    name: str
    items: tuple[Item, ...]
    slot: Slot
    zone: Zone
    stability: Stability
    priority: int
    protected: bool
    keep: int
    cap: Cap
    shrink: tuple[Shrink, ...]
    pool: str | None
    trust: Trust
    echo: str

    def __init__(
        self,
        name: str,
        items: str | Item | Iterable[Item | str],
        *,
        slot: Slot | None = None,
        zone: Zone = "middle",
        stability: Stability = "turn",
        priority: int = 50,
        protected: bool = False,
        keep: int = 0,
        cap: Cap | int | None = None,
        shrink: Shrink | tuple[Shrink, ...] = ("drop_lowest",),
        pool: str | None = None,
        trust: Trust = "data",
        echo: str = "",
        bookend: bool = False,
    ) -> None:
        """Build a block; a string is one item, an int cap is tokens, `bookend` fills `echo`.

        Raises:
            InvalidArgument: an empty name, or a zone, stability, slot or shrink rule that is none.
        """
        if not name:
            raise InvalidArgument("name", found=name, want="a non-empty string")
        if isinstance(items, str):
            made: tuple[Item, ...] = (Item(items, key=name),)
        elif isinstance(items, Item):
            made = (items,)
        else:
            made = tuple(
                Item(item, key=f"{name}:{index}") if isinstance(item, str) else item
                for index, item in enumerate(items)
            )
        rules = (shrink,) if isinstance(shrink, str) else tuple(shrink)
        chosen: Slot = slot or ("tail" if stability == "turn" else "system")
        _one_of("zone", zone, get_args(Zone))
        _one_of("stability", stability, get_args(Stability))
        _one_of("slot", chosen, get_args(Slot))
        for rule in rules:
            _one_of("shrink", rule, get_args(Shrink))
        put = object.__setattr__
        put(self, "name", name)
        put(self, "items", made)
        put(self, "slot", chosen)
        put(self, "zone", zone)
        put(self, "stability", stability)
        put(self, "priority", priority)
        put(self, "protected", protected)
        put(self, "keep", keep)
        put(self, "cap", Cap(tokens=cap) if isinstance(cap, int) else cap or Cap())
        put(self, "shrink", rules)
        put(self, "pool", pool)
        put(self, "trust", trust)
        put(self, "echo", echo or (made[0].body if bookend and made else ""))


def _one_of(name: str, found: str, allowed: tuple[str, ...]) -> None:
    if found not in allowed:
        raise InvalidArgument(name, found=found, want="one of " + ", ".join(allowed))


@value
class Pool:
    """A shared allowance: `share` of what the protected blocks leave, or a number of tokens."""

    name: str
    share: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """The hard limit of one step, in tokens.

    `limit` holds for every call of the step. `output` is what the model may write, outside the
    limit. `overhead` (tool schemas, framing) and `loop` (tool calls and results) lie inside it.
    `soft` is (threshold, block): above it that block goes down to its `keep` first. A pool's
    slack goes to the next named. A history window starts on multiples of `window_step` units.
    `count` is the token counter, `None` where the caller of `assemble` passes one.
    """

    limit: int
    output: int
    overhead: int
    loop: int
    soft: tuple[int, str] | None
    pools: tuple[Pool, ...]
    window_step: int
    count: Count | None = field(compare=False)
    margin: float

    def __init__(
        self,
        limit: int,
        *,
        output: int = 0,
        overhead: int = 0,
        loop: int = 0,
        soft: tuple[int, str] | None = None,
        pools: Iterable[Pool] = (),
        window_step: int = 1,
        count: Count | None = None,
        margin: float = 0.0,
        tools: object | None = None,
    ) -> None:
        """Build a budget; `tools` (any JSON value) are counted into `overhead` with `count`.

        Raises:
            InvalidArgument: a limit below 1, a negative part, a margin outside [0, 1), or tools
                without a counter.
        """
        if limit < 1:
            raise InvalidArgument("limit", found=limit, want="at least 1 token")
        if min(output, overhead, loop) < 0:
            raise InvalidArgument(
                "output, overhead, loop", found=(output, overhead, loop), want="0 or more tokens"
            )
        if not 0 <= margin < 1:
            raise InvalidArgument("margin", found=margin, want="a share in [0, 1)")
        if window_step < 1:
            raise InvalidArgument("window_step", found=window_step, want="at least 1")
        if tools is not None:
            if count is None:
                raise InvalidArgument("tools", found="tools", want="given with `count`")
            overhead += count(_json(tools))
        put = object.__setattr__
        put(self, "limit", limit)
        put(self, "output", output)
        put(self, "overhead", overhead)
        put(self, "loop", loop)
        put(self, "soft", soft)
        put(self, "pools", tuple(pools))
        put(self, "window_step", window_step)
        put(self, "count", count)
        put(self, "margin", margin)


def _json(tools: object) -> str:
    import json

    return json.dumps(tools, sort_keys=True, ensure_ascii=False)


@value
class ToolCall:
    """A model's request to use a tool; `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@value
class ToolResult:
    """What a tool brought back, or an error that the model can act on.

    `element` names what the items stand in, `nothing` what stands in it where there is none.
    """

    id: str
    items: tuple[Item, ...] = ()
    error: str | None = None
    element: str = "results"
    nothing: str = "Nothing found."


@value
class Opaque:
    """A provider's own part (a thinking signature), replayed to that provider alone."""

    provider: str
    data: bytes


@value
class Message:
    """One message on the wire. `tokens` is its count with framing under the declared counter."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | ToolCall | ToolResult | Opaque, ...]
    tokens: int
    cache_break: bool = False


@value
class Row:
    """One block in the ledger: tokens wanted and given, items kept, (item key, why) dropped.

    `sizes` are the tokens that each dropped item wanted, in the order of `dropped`.
    """

    block: str
    zone: Zone
    stability: Stability
    wanted: int
    given: int
    items: int = 0
    dropped: tuple[tuple[str, str], ...] = ()
    sizes: tuple[int, ...] = ()
    shortened: tuple[str, ...] = ()
    protected: bool = False


@value
class Assembly:
    """What a model will see, and why.

    `tokens` includes the overhead. `shown` maps the session's number n to the items of that source
    that stand in the prompt: the only quotable text. `segments` are (SHA-256, tokens) in wire
    order; `cacheable` is the tokens of the stable prefix before the last static or session break,
    0 below the provider's minimum.
    """

    messages: tuple[Message, ...]
    tokens: int
    limit: int
    layout: Layout
    ledger: tuple[Row, ...]
    numbering: Numbering
    shown: Mapping[int, tuple[Item, ...]]
    segments: tuple[tuple[str, int], ...]
    cacheable: int = 0
    prefix_hash: str = ""
    used_loop: int = 0

    @property
    def dropped(self) -> tuple[tuple[str, str, int, str], ...]:
        """What was left out, as (block, item key, tokens it wanted, why), in ledger order."""
        return tuple(
            (row.block, key, tokens, why)
            for row in self.ledger
            for (key, why), tokens in zip(row.dropped, row.sizes, strict=True)
        )
