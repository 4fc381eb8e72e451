"""Measurements in a query with their figures: "K 6.2" is potassium, and suggests hyperkalemia.

Like a sign, a figure outside its range suggests a name to look under and states nothing of a patient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from bedside.clinical.analytes import analyte, find_analytes
from bedside.clinical.ranges import Range, flag, range_for
from bedside.clinical.signs import Sign, out_of_range
from bedside.core.value import value
from bedside.language.quantities import Quantity, quantities

__all__ = ["Figured", "figured"]

_BETWEEN = re.compile(r"\+?\s?(?:(?:is|of|was|at|now)\s)?[:=<>]?\s?", re.IGNORECASE)
_VITAMIN = re.compile(r"\bvitamin[\s-]*\Z", re.IGNORECASE)
_ADULT = 40
_NEAR = 2
"""A figure without a unit is in the range's own unit where it is at most so many times beside it."""
_PLAIN = Decimal("1.5")
"""Else in the unit that brings it nearest, unless another is less than so many times as far off."""


@value
class Figured:
    """A measurement at `text[start:end)` with its figure: what was measured, and what that suggests.

    `sure` is off where it was written so shortly that the figure alone makes it a measurement ("K").
    `signs` are empty where every figure is in the range of adults, or its unit is in doubt.
    """

    start: int
    end: int
    names: tuple[str, ...]
    sure: bool
    signs: tuple[Sign, ...]


def figured(text: str) -> tuple[Figured, ...]:
    """The measurements in `text` that a figure follows, by place; a dose or a time is no figure of one."""
    found: list[Figured] = []
    written = {quantity.start: quantity for quantity in quantities(text)}
    for mention in find_analytes(text) if written else ():
        match = _BETWEEN.match(text, mention.end)
        quantity = written.get(match.end()) if match else None
        if quantity is None or quantity.joint not in {"", "/"}:
            continue
        if mention.weak and _VITAMIN.search(text, max(0, mention.start - 10), mention.start):
            continue  # "vitamin K 2" is no potassium
        ranges = [_ranges(key) for key in mention.keys]
        if quantity.unit and not any(flag(quantity.low, quantity.unit, row) for row in ranges[0]):
            continue
        found.append(
            Figured(
                start=mention.start,
                end=mention.end,
                names=tuple(analyte(key).name.lower() for key in mention.keys),
                sure=not mention.weak,
                signs=tuple(
                    Sign(start=mention.start, end=mention.end, diagnosis=name)
                    for name in dict.fromkeys(_suggested(mention.keys, ranges, quantity))
                ),
            )
        )
    return tuple(found)


def _ranges(key: str) -> tuple[Range, ...]:
    """Of women and of men."""
    rows = (range_for(key, sex=sex, age_years=_ADULT) for sex in ("female", "male"))
    return tuple(row for row in rows if row is not None)


def _suggested(
    keys: tuple[str, ...], ranges: list[tuple[Range, ...]], quantity: Quantity
) -> Iterator[str]:
    figures = (quantity.low, quantity.high)
    for key, rows, figure in zip(keys, ranges, figures, strict=False):
        sides = out_of_range(key)
        if sides is None or figure is None or not rows:
            continue
        placed = {_side(figure, quantity.unit, row) for row in rows}
        name = {"low": sides[0], "high": sides[1]}.get(placed.pop()) if len(placed) == 1 else None
        if name:
            yield name


def _side(figure: Decimal, unit: str, row: Range) -> str:
    """Say "low", "high", or "" where it is in the range or cannot be said."""
    if unit:
        return _beside(flag(figure, unit, row))
    factors = (Decimal(1), *(factor for _, factor in row.units))
    readings = [(_times(figure * one, row), flag(figure * one, row.unit, row)) for one in factors]
    if readings[0][0] <= _NEAR:
        return _beside(readings[0][1])
    nearest, best = min(readings, key=lambda reading: reading[0])
    doubt = any(
        _beside(other) != _beside(best) and times < nearest * _PLAIN for times, other in readings
    )
    return "" if doubt else _beside(best)


def _beside(found: str | None) -> str:
    return (found or "").rpartition("_")[2] if found != "normal" else ""


def _times(figure: Decimal, row: Range) -> Decimal:
    """How many times the range's limit the figure is, or the limit it; 1 inside."""
    if row.low is not None and 0 < figure < row.low:
        return row.low / figure
    if row.high and figure > row.high:
        return figure / row.high
    return Decimal(1) if figure > 0 else Decimal(1_000)
