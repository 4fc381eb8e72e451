"""A second hearing behind the rules: danger that a message only hints at. Pure.

A linear model over the message's vector, which a room that has an embedder brings, and over its stems
(`data/hints.yaml`, fitted by `scripts/train_hints.py`). It only adds: a hint is asked about, it stops nothing
and takes nothing back.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Literal

from bedside.clinical.danger.words import words_of
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.turn import Need
from bedside.core.value import value

__all__ = ["Hint", "HintNeed", "hinted", "hints_fit", "hints_pack", "terms_of"]

Kind = Literal["self_harm", "abuse", "violence", "emergency"]
SCALE = 1000
"""Weights are kept as whole thousandths."""
MEANT = 0.5
"""What the stems of a message weigh together beside its vector of length 1."""
LEAST = 2
"""A term counts where so many of the messages that were learned from have it."""


@value
class Hint:
    """What a message may hint at, and how sure that is: the log odds of any danger against none."""

    kind: Kind
    sure: float


@value
class HintNeed(Need["Hint | None"]):
    """Listen for a hint in a message in which the rules heard nothing; `None` where there is none."""

    text: str


class _Hints(PackFile):
    model: str
    least: int
    kinds: tuple[Kind, ...]
    bias: str
    vector: tuple[str, ...]
    terms: dict[str, str]


@value
class _Weights:
    model: str
    least: float
    kinds: tuple[Kind, ...]
    bias: tuple[float, ...]
    vector: tuple[tuple[float, ...], ...]
    terms: dict[str, tuple[float, ...]]


def _data() -> _Hints:
    return load_pack(_Hints, "bedside.clinical", "danger/data/hints.yaml")


def _numbers(written: str) -> tuple[float, ...]:
    return tuple(int(one) / SCALE for one in written.split())


@functools.cache
def _weights() -> _Weights:
    data = _data()
    return _Weights(
        model=data.model,
        least=data.least / SCALE,
        kinds=data.kinds,
        bias=_numbers(data.bias),
        vector=tuple(map(_numbers, data.vector)),
        terms={term: _numbers(weights) for term, weights in data.terms.items()},
    )


def hints_pack() -> Pack:
    """What the weights say of themselves; they are unreviewed until they say otherwise."""
    return _data().pack


def hints_fit(model: str) -> bool:
    """Were the weights made for the vectors of this embedding model (`Embedder.id`)?"""
    return model == _weights().model


def terms_of(message: str) -> set[str]:
    """The stems of a message, and its neighbouring pairs of them."""
    stems = [word.stem for word in words_of(message)]
    return {*stems, *(f"{one} {other}" for one, other in itertools.pairwise(stems))}


def hinted(message: str, vector: Sequence[float] | Iterable[float]) -> Hint | None:
    """What the message hints at; `None` where the model is not sure.

    Args:
        message: The whole message; English.
        vector: Its unit vector by a model that `hints_fit`.
    """
    known = _weights()
    terms = [known.terms[one] for one in terms_of(message) if one in known.terms]
    share = MEANT / math.sqrt(max(len(terms), 1))
    row = tuple(map(float, vector))
    odds = [
        bias + sum(map(mul, row, column)) + share * sum(one[n] for one in terms)
        for n, (bias, column) in enumerate(zip(known.bias, known.vector, strict=True))
    ]
    most = max(odds)
    sure = most + math.log(sum(math.exp(one - most) for one in odds))
    return Hint(kind=known.kinds[odds.index(most)], sure=sure) if sure > known.least else None
