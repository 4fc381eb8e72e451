"""Token counting: a real tokenizer, remembered counts, and a correction learned per model."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib import import_module
from typing import Any

from bedside.core.context import Count
from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = ["Correction", "Counter", "cl100k", "counter", "o200k"]

_SHORT = 40
"""Counting a text below this many characters is cheaper than looking it up."""
_REMEMBERED = 40_000
_FEWEST = 200
"""Usage reports of fewer counted tokens are mostly framing and teach nothing."""


class Counter:
    """Counts tokens with a tokenizer times a pinned factor, rounded up.

    `raw` is the tokenizer's own count, without the factor; stored counts (`Item.tokens`) are raw.
    Counts are remembered by digest, never by text (those of fences by their attributes). Two counters made by `with_factor` share what
    they remember.
    """

    __slots__ = ("_base", "_heads", "_old", "_young", "factor", "name")

    def __init__(self, name: str, base: Count, *, factor: float = 1.0) -> None:
        """Wrap `base`.

        Raises:
            InvalidArgument: a factor that is not above 0.
        """
        if not factor > 0:
            raise InvalidArgument("factor", found=factor, want="above 0")
        self.name, self.factor, self._base = name, factor, base
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}
        self._heads: dict[object, int] = {}

    def __call__(self, text: str) -> int:
        """Tokens of `text`, at least the raw count times the factor."""
        raw = self.raw(text)
        return raw if self.factor == 1 else math.ceil(raw * self.factor)

    def raw(self, text: str) -> int:
        """Tokens of `text` under the tokenizer alone."""
        if len(text) < _SHORT:
            return self._base(text)
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                found = self._base(text)
            if len(self._young) >= _REMEMBERED:
                self._old, self._young = self._young, {}
            self._young[key] = found
        return found

    def with_factor(self, factor: float) -> Counter:
        """The same tokenizer with another pinned factor.

        Raises:
            InvalidArgument: a factor that is not above 0.
        """
        made = Counter(self.name, self._base, factor=factor)
        made._young, made._old, made._heads = self._young, self._old, self._heads
        return made

    def heads(self) -> dict[object, int]:
        """Where the counts of fences are remembered; emptied when it has grown large."""
        if len(self._heads) > _REMEMBERED:
            self._heads.clear()
        return self._heads

    def __repr__(self) -> str:
        return f"Counter({self.name!r}, factor={self.factor:g})"


def _total(count: Callable[[str], int]) -> Count:
    """A counter that also takes lone surrogates, as the replacement character."""

    def counted(text: str) -> int:
        try:
            return count(text)
        except UnicodeEncodeError:
            return count(text.encode("utf-8", "replace").decode("utf-8"))

    return counted


def _packaged(name: str) -> Counter:
    # The package has no type stubs.
    openai: Any = import_module("rs_bpe.bpe").openai
    return Counter(name, _total(getattr(openai, name)().count))


@cache
def o200k() -> Counter:
    """The o200k tokenizer, loaded on the first call (about 50 ms)."""
    return _packaged("o200k_base")


@cache
def cl100k() -> Counter:
    """The cl100k tokenizer, loaded on the first call (about 20 ms)."""
    return _packaged("cl100k_base")


def counter(name: str, *, factor: float = 1.0) -> Counter:
    """The tokenizer of that name with a factor pinned.

    Raises:
        InvalidArgument: a name that is none, or a factor that is not above 0.
    """
    makers = {"o200k_base": o200k, "cl100k_base": cl100k}
    if name not in makers:
        raise InvalidArgument("name", found=name, want="one of " + ", ".join(makers))
    return makers[name]().with_factor(factor)


@value
class Correction:
    """How many tokens a model reports for one that we count, learned from its usage.

    `factor` is the mean of the reports so far (the latest 50 weigh alike with what went before);
    `samples` is how many were taken. Pin `pinned` when a session begins: a factor that moved
    within a session would move its prefix.
    """

    factor: float = 1.0
    samples: int = 0

    def learn(self, *, counted: int, reported: int | None) -> Correction:
        """Take one usage report.

        Args:
            counted: Raw tokens that we counted for the call's input.
            reported: Input tokens that the provider reported, cache reads and writes included;
                `None` where it reported none, which teaches nothing.

        Returns:
            A new correction; the same one where the report is too small or out of all reason
            (outside a quarter to four times).
        """
        if reported is None or counted < _FEWEST:
            return self
        ratio = reported / counted
        if not 1 / 4 <= ratio <= 4:  # noqa: PLR2004 - said in the docstring
            return self
        weight = 1 / min(self.samples + 1, 50)
        return Correction(
            factor=self.factor + (ratio - self.factor) * weight, samples=self.samples + 1
        )

    @property
    def pinned(self) -> float:
        """The factor to pin, rounded up to a hundredth."""
        return math.ceil(self.factor * 100 - 1e-9) / 100
