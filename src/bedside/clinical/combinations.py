"""Findings that mean more together than each alone, by a small cited table."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, Severity, reference
from bedside.core.value import value

__all__ = ["Bound", "CombinationRule", "combination_pack", "combination_rules"]

_Op = Literal["<", ">", "<=", ">="]


class Bound(BaseModel):
    """A limit that a reading of one analyte crosses, in the unit that it is given in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    analyte: str
    op: _Op
    value: Decimal
    unit: str

    def crossed(self, figure: Decimal) -> bool:
        """Does a figure in this unit cross the limit?"""
        if self.op in {"<", "<="}:
            return figure < self.value or (self.op == "<=" and figure == self.value)
        return figure > self.value or (self.op == ">=" and figure == self.value)


@value
class CombinationRule:
    """One rule. `parts` must all hold; each holds where one of its bounds does.

    The readings lie within `within_days` of one another. With `pregnant` it speaks in an open
    pregnancy alone. `text` is what the source says, `action` an option to consider.
    """

    id: str
    title: str
    pregnant: bool
    within_days: int
    parts: tuple[tuple[Bound, ...], ...]
    severity: Severity
    text: str
    action: str
    reference: Reference


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    pregnant: bool = False
    within_days: int
    parts: tuple[tuple[Bound, ...], ...] = Field(alias="all")
    severity: Severity
    text: str
    action: str
    source: str


class _Combinations(PackFile):
    sources: dict[str, str]
    combinations: dict[str, _Row]


def combination_pack() -> Pack:
    """The table that the rules come from."""
    return _file().pack


@functools.cache
def combination_rules() -> tuple[CombinationRule, ...]:
    """Every rule, in the table's order."""
    table = _file()
    return tuple(
        CombinationRule(
            id=key,
            title=row.title,
            pregnant=row.pregnant,
            within_days=row.within_days,
            parts=row.parts,
            severity=row.severity,
            text=row.text,
            action=row.action,
            reference=reference(
                "combination",
                key,
                title=row.title,
                text=row.text,
                cite=table.sources[row.source],
                pack=table.pack,
            ),
        )
        for key, row in table.combinations.items()
    )


@functools.cache
def _file() -> _Combinations:
    return load_pack(_Combinations, "bedside.clinical", "data/combinations.yaml")
