"""The context compiler: blocks in, a prompt with a hard budget and a ledger out. Pure.

    from bedside.context import Block, Budget, Item, assemble
    assembly = assemble(blocks, budget=Budget(6_000))
    assembly.dropped, assembly.to_anthropic(), assembly.to_openai()

It takes plain values and any token counter, and does no I/O; the tokenizer is loaded on first use.
"""

from __future__ import annotations

from bedside.context.assemble import assemble
from bedside.context.compiled import Compiled, Piece
from bedside.context.cut import MARK, headline
from bedside.context.escape import escape, unescape
from bedside.context.loop import extend, reorder
from bedside.context.narrow import narrowed
from bedside.context.receipt import LayoutPrice, Rates, layout_rows, price_layouts, receipt
from bedside.context.render import DATA_RULE
from bedside.context.tokens import Correction, Counter, cl100k, counter, o200k
from bedside.context.windows import compressed, turns, window
from bedside.context.wire import dump, load, prompt_hash, text_of, to_anthropic, to_openai
from bedside.core.context import (
    Assembly,
    Block,
    Budget,
    Cap,
    Count,
    Item,
    Layout,
    Message,
    Pool,
    Row,
)

__all__ = [
    "DATA_RULE",
    "MARK",
    "Assembly",
    "Block",
    "Budget",
    "Cap",
    "Compiled",
    "Correction",
    "Count",
    "Counter",
    "Item",
    "Layout",
    "LayoutPrice",
    "Message",
    "Piece",
    "Pool",
    "Rates",
    "Row",
    "assemble",
    "cl100k",
    "compressed",
    "counter",
    "dump",
    "escape",
    "extend",
    "headline",
    "layout_rows",
    "load",
    "narrowed",
    "o200k",
    "price_layouts",
    "prompt_hash",
    "receipt",
    "reorder",
    "text_of",
    "to_anthropic",
    "to_openai",
    "turns",
    "unescape",
    "window",
]
