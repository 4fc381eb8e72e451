"""Sums of money in a message (IN-09), as the state keeps them. Pure."""

from __future__ import annotations

from typing import Any

from bedside.clinical.money import amounts, shown, usd

__all__ = ["sum_in"]


def sum_in(text: str, *, country: str, asked: bool) -> tuple[dict[str, Any], int, int] | None:
    """(the sum, start, end) of the sum that the text names; `None` where it names none.

    The sum is {"amount", "most", "currency", "usd", "said", "shown"}: digits as text, ISO 4217 or "",
    `usd` `None` where the currency is open.
    """
    found = amounts(text, country=country, asked=asked)
    if not found:
        return None
    one = found[0]
    dollars = usd(one)
    return (
        {
            "amount": str(one.amount),
            "most": None if one.most is None else str(one.most),
            "currency": one.currency,
            "usd": None if dollars is None else f"{dollars:.2f}",
            "said": one.said,
            "assumed": one.assumed,
            "shown": shown(one),
        },
        one.start,
        one.end,
    )
