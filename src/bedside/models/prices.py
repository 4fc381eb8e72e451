"""What a call costs: prices are dated data, and an unknown price is `None`, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bedside.core.errors import BadInput
from bedside.core.turn import Ended
from bedside.core.value import value
from bedside.core.yaml_text import read_yaml
from bedside.models.config import Link

__all__ = ["LivePrices", "Price", "Prices", "Tariff", "bundled_prices", "read_prices", "total"]

_MILLION = Decimal(1_000_000)
Usage = Mapping[str, "int | None"]


@value
class Tariff:
    """US dollars per million tokens; `None` is unknown."""

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None


@value
class Price:
    """A model's tariff, and the one for a whole call whose prompt exceeds `over_tokens`."""

    base: Tariff
    over: Tariff | None = None
    over_tokens: int | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """US dollars of one call, or `None` where a needed count or price is unknown.

        `usage["input"]` counts the whole prompt; `cache_read` and `cache_write` are parts of it,
        and count as 0 where the provider did not report them.
        """
        prompt, written = usage.get("input"), usage.get("output")
        if prompt is None or written is None:
            return None
        read, stored = usage.get("cache_read") or 0, usage.get("cache_write") or 0
        tariff = self.base
        if self.over is not None and self.over_tokens is not None and prompt > self.over_tokens:
            tariff = self.over
        parts = (
            (max(prompt - read - stored, 0), tariff.input),
            (written, tariff.output),
            (read, tariff.cache_read),
            (stored, tariff.cache_write),
        )
        sum_ = Decimal(0)
        for tokens, price in parts:
            if tokens and price is None:
                return None
            sum_ += tokens * (price or Decimal(0))
        return sum_ / _MILLION


@value
class Prices:
    """The table of a file; `rows` are (glob over "provider:model", price), first match wins."""

    as_of: date
    rows: tuple[tuple[str, Price], ...]

    def of(self, link: Link) -> Price | None:
        """That model's price, `None` where it is not listed."""
        for pattern, price in self.rows:
            if fnmatchcase(link.spec, pattern):
                return price
        return None

    def cost(self, link: Link, usage: Usage) -> Decimal | None:
        """US dollars of one call of that model, or `None` where it is not known."""
        price = self.of(link)
        return None if price is None else price.cost(usage)


class LivePrices:
    """Prices that an edit of the catalogue lies over, without a restart; hot rows match first."""

    def __init__(self, bundled: Prices) -> None:
        self._bundled, self._live = bundled, bundled
        self._texts: tuple[str, ...] = ()

    def use(self, texts: tuple[str, ...]) -> None:
        """Lay these price files over the bundled one; the same ones again cost nothing.

        Raises:
            BadInput: one of them is no price file; the table stays as it was.
        """
        if texts == self._texts:
            return
        rows = tuple(row for text in texts for row in read_prices(text).rows)
        self._live = replace(self._bundled, rows=(*rows, *self._bundled.rows))
        self._texts = texts

    def of(self, link: Link) -> Price | None:
        """That model's price now, `None` where it is not listed."""
        return self._live.of(link)

    def cost(self, link: Link, usage: Usage) -> Decimal | None:
        """US dollars of one call at the price of now, or `None` where it is not known."""
        return self._live.cost(link, usage)


class _Tariff(BaseModel):
    model_config = ConfigDict(extra="forbid")
    input: Decimal | None = Field(default=None, ge=0)
    output: Decimal | None = Field(default=None, ge=0)
    cache_read: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)

    def made(self) -> Tariff:
        return Tariff(
            input=self.input,
            output=self.output,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
        )


class _Over(_Tariff):
    tokens: int = Field(ge=1)


class _Row(_Tariff):
    match: str
    over: _Over | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    as_of: date
    currency: str = Field(pattern="^USD$")
    prices: list[_Row]


def read_prices(text: str) -> Prices:
    """Read a price file (YAML, US dollars per million tokens).

    Raises:
        BadInput: it is not YAML, or not of this form.
    """
    try:
        read = _File.model_validate(read_yaml(text, what="prices"))
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, found["loc"]))
        raise BadInput("prices", why=f"{where}: {found['msg']}") from error
    return Prices(
        as_of=read.as_of,
        rows=tuple(
            (
                row.match,
                Price(
                    base=row.made(),
                    over=row.over.made() if row.over else None,
                    over_tokens=row.over.tokens if row.over else None,
                ),
            )
            for row in read.prices
        ),
    )


@cache
def bundled_prices() -> Prices:
    """The table that ships with the package."""
    text = files("bedside.models").joinpath("data/prices.yaml").read_text(encoding="utf-8")
    return read_prices(text)


def total(calls: Iterable[Ended]) -> Decimal | None:
    """US dollars of several calls, `None` where the cost of any is unknown. No calls cost 0."""
    sum_ = Decimal(0)
    for call in calls:
        if call.cost_usd is None:
            return None
        sum_ += Decimal(call.cost_usd)
    return sum_
