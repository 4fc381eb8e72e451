"""A reading in the unit that was asked for: calculated, its input beside it. Pure."""

from __future__ import annotations

from decimal import Decimal

from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.tools.readings import Reading, same_unit
from bedside.flows.copilot.tools.sheet import Sheet

__all__ = ["tell_converted"]

_SPOKEN = {"[lb_av]": "lb", "[in_i]": "inches", "[ft_i]": "feet", "[degF]": "degF", "Cel": "degC"}
_FIGURES = 3
"""Figures kept: a conversion says no more than the unit's own reports do."""


def tell_converted(
    newest: Reading, entity: Entity | None, unit: str, sheet: Sheet, *, alone: bool = True
) -> None:
    """Say the newest reading in `unit` as a rounded calculation; nothing where it stands in it.

    The record's own figure is said by the caller: this line never stands for it. A unit that the
    result cannot be given in is said to be so where the result was asked for `alone`; among other
    things the unit may be meant for another, and is passed over.
    """
    if not unit or same_unit(unit, newest.unit):
        return
    shown = _SPOKEN.get(unit, unit.replace("mm[Hg]", "mmHg"))
    if newest.value is None or newest.fact.comparator:
        sheet.say(f"Not converted to {shown}: the reading is not one plain figure.")
        return
    try:
        amount = convert(
            newest.value, newest.unit, unit, analyte=entity.key if entity is not None else None
        )
    except (IncompatibleUnits, UnknownUnit):
        if alone:
            sheet.say(f"Not converted: {newest.name} in {newest.unit} cannot be given in {shown}.")
        return
    line = f"Calculated: {newest.figure} {newest.unit} is about {_short(amount)} {shown}"
    sheet.say(f"{line} {sheet.cite(newest.fact)}.")
    sheet.calculated(line)


def _short(amount: Decimal) -> str:
    """Three figures, or all of the whole part where it is longer."""
    places = max(0, _FIGURES - 1 - amount.adjusted()) if amount else 0
    return f"{amount:.{places}f}"
