"""The receipt: what a person sees of the ledger, ready to be drawn, and what each layout costs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, get_args

from bedside.context.assemble import assemble
from bedside.context.compiled import Compiled
from bedside.context.wire import prompt_hash
from bedside.core.context import Assembly, Block, Budget, Count, Layout, Numbering
from bedside.core.value import value

__all__ = ["LayoutPrice", "Rates", "layout_rows", "price_layouts", "receipt"]

_MILLION = Decimal(1_000_000)


@value
class Rates:
    """USD for a million input tokens; `None` where it is not known.

    `cache_write` is what a token costs that is put in the cache, `cache_read` what it costs there.
    """

    input: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None


@value
class LayoutPrice:
    """What one layout's input costs, in USD: the first call, and each later one of the session.

    `None` where a rate that it needs is not known. `tokens` and `cacheable` are the layout's own.
    """

    layout: Layout
    tokens: int
    cacheable: int
    first: Decimal | None
    later: Decimal | None
    prefix_hash: str


def price_layouts(
    blocks: Sequence[Block],
    *,
    budget: Budget,
    rates: Rates,
    numbering: Numbering | None = None,
    count: Count | None = None,
    minimum: int = 0,
) -> tuple[LayoutPrice, ...]:
    """Assemble all three layouts and price their input, so that the choice is a number.

    Only the stable prefix counts as cached; what is cached of a history beyond it is not foreseen.

    Raises:
        BudgetTooSmall: as for `assemble`.
        InvalidArgument: as for `assemble`.
    """
    prices: list[LayoutPrice] = []
    for layout in get_args(Layout):
        made = assemble(
            blocks,
            budget=budget,
            layout=layout,
            numbering=numbering or {},
            count=count,
            minimum=minimum,
        )
        rest = made.tokens - made.cacheable
        prices.append(
            LayoutPrice(
                layout=layout,
                tokens=made.tokens,
                cacheable=made.cacheable,
                first=_cost((rest, rates.input), (made.cacheable, rates.cache_write)),
                later=_cost((rest, rates.input), (made.cacheable, rates.cache_read)),
                prefix_hash=made.prefix_hash,
            )
        )
    return tuple(prices)


def _cost(*parts: tuple[int, Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for tokens, rate in parts:
        if tokens and rate is None:
            return None
        total += tokens * (rate or Decimal(0)) / _MILLION
    return total


def receipt(
    assembly: Assembly,
    *,
    tokenizer: str | None = None,
    layouts: Sequence[LayoutPrice] = (),
    reported: int | None = None,
) -> dict[str, Any]:
    """The receipt of the contract as one JSON value, with what a picture of it needs.

    Args:
        assembly: What was sent.
        tokenizer: Its counter's name; `None` takes what the assembly knows.
        layouts: Prices of the three layouts, from `price_layouts`, where they were asked for.
        reported: Input tokens that the provider reported for this prompt, `None` where unknown.

    Returns:
        The contract's fields (`limit`, `total`, `tokenizer`, `cacheable`, `prefix_hash`, `layout`,
        `blocks`), then: `prompt_hash` (of everything sent), `overhead`, `loop` (tokens that tool
        rounds took), `unused` (tokens left below the limit), `margin` (the share of the limit that
        is never used), `reported`, `zones` (tokens given, by zone),
        `strip` (messages in wire order: role, first token, tokens, whether a cache break follows)
        and, on request, `layouts`. Figures that are not known are `None`.
    """
    made = assembly if isinstance(assembly, Compiled) else None
    zones: dict[str, int] = {"primacy": 0, "middle": 0, "recency": 0}
    for row in assembly.ledger:
        zones[row.zone] += row.given
    return {
        "limit": assembly.limit,
        "total": assembly.tokens,
        "tokenizer": tokenizer or (made.counter if made and made.counter else None),
        "cacheable": assembly.cacheable,
        "prefix_hash": assembly.prefix_hash,
        "layout": assembly.layout,
        "blocks": [
            {
                "name": row.block,
                "zone": row.zone,
                "stability": row.stability,
                "wanted": row.wanted,
                "given": row.given,
                "items": row.items,
                "protected": row.protected,
                "dropped": [
                    {"item": key, "tokens": tokens, "why": why}
                    for (key, why), tokens in zip(row.dropped, row.sizes, strict=True)
                ],
                "shortened": list(row.shortened),
            }
            for row in assembly.ledger
        ],
        "prompt_hash": prompt_hash(assembly.messages) if assembly.messages else None,
        "overhead": made.overhead if made else None,
        "loop": assembly.used_loop,
        "reported": reported,
        "margin": made.budget.margin if made and made.budget else None,
        "unused": assembly.limit - assembly.tokens,
        "zones": zones,
        "strip": _strip(assembly),
        "layouts": layout_rows(layouts),
    }


def layout_rows(layouts: Sequence[LayoutPrice]) -> list[dict[str, Any]]:
    """The prices of the layouts as the receipt has them, in USD; `None` where a rate is unknown."""
    return [
        {
            "layout": price.layout,
            "tokens": price.tokens,
            "cacheable": price.cacheable,
            "first_usd": None if price.first is None else float(price.first),
            "later_usd": None if price.later is None else float(price.later),
        }
        for price in layouts
    ]


def _strip(assembly: Assembly) -> list[dict[str, Any]]:
    strip: list[dict[str, Any]] = []
    at = 0
    for message in assembly.messages:
        strip.append(
            {
                "role": message.role,
                "start": at,
                "tokens": message.tokens,
                "cache_break": message.cache_break,
            }
        )
        at += message.tokens
    return strip
