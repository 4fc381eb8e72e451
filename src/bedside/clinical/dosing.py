"""Kidney function and the dose: rules below a limit, and the eGFR that a creatinine gives."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from bedside.clinical.packs import PackFile, load_pack, parse_pack
from bedside.clinical.rules import Reference, Severity, deployed, means, reference
from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = [
    "EGFR_SOURCE",
    "Dosing",
    "DosingRule",
    "DosingTable",
    "dosing_with",
    "egfr_ckd_epi_2021",
    "read_dosing",
    "shipped_dosing",
]

EGFR_SOURCE = (
    "Inker LA et al. New creatinine- and cystatin C-based equations to estimate GFR without race. "
    "N Engl J Med 2021;385:1737-1749. doi:10.1056/NEJMoa2102953"
)
_YOUNGEST = 18


@value
class DosingRule:
    """What a label says of a medicine below a filtration rate, in mL/min (or mL/min/1.73 m2)."""

    id: str
    drugs: tuple[str, ...]
    below: Decimal
    severity: Severity
    text: str
    reference: Reference


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    drugs: tuple[str, ...]
    below: Decimal
    severity: Severity
    text: str
    source: str


class DosingTable(PackFile):
    """The form of a renal dosing table, ours or a deployer's."""

    sources: dict[str, str]
    dosing: dict[str, _Row]

    @model_validator(mode="after")
    def _cited(self) -> Self:
        open_ = sorted({row.source for row in self.dosing.values()} - set(self.sources))
        if open_:
            raise ValueError(f"sources lacks {', '.join(open_)[:200]}")
        return self


class Dosing:
    """The tables in force, a deployer's before ours; a rule of the same id replaces a later one."""

    def __init__(self, tables: Sequence[DosingTable]) -> None:
        """Take the tables in their order."""
        self.packs = tuple(table.pack for table in tables)
        found: dict[str, DosingRule] = {}
        rows: list[int] = []
        for table in tables:
            before = len(found)
            for key, row in table.dosing.items():
                found.setdefault(key, _rule(key, row, table))
            rows.append(len(found) - before)
        self.rules = tuple(found.values())
        self.rows = tuple(rows)
        """How many rules of each table speak: one that an earlier table replaces does not."""

    def rules_for(self, generics: Iterable[str]) -> tuple[DosingRule, ...]:
        """The rules that mean one of these generics; unknown names have none."""
        wanted = tuple(generics)
        return tuple(rule for rule in self.rules if any(means(one, rule.drugs) for one in wanted))


def _rule(key: str, row: _Row, table: DosingTable) -> DosingRule:
    return DosingRule(
        id=key,
        drugs=row.drugs,
        below=row.below,
        severity=row.severity,
        text=row.text,
        reference=reference(
            "dosing",
            key,
            title=key.replace("-", " "),
            text=row.text,
            cite=table.sources[row.source],
            pack=table.pack,
        ),
    )


def read_dosing(text: str, *, what: str) -> DosingTable:
    """A deployer's table from YAML of the same form as ours.

    Raises:
        BadInput: it is not of this form, or a rule names a source that the table does not give.
    """
    return parse_pack(DosingTable, text, what=what)


def dosing_with(tables: Iterable[DosingTable]) -> Dosing:
    """These tables before those of entry points and ours."""
    return Dosing((*tables, *deployed(DosingTable, "dosing"), _file()))


@functools.cache
def shipped_dosing() -> Dosing:
    """The tables of entry points and ours, read once."""
    return dosing_with(())


def egfr_ckd_epi_2021(creatinine_mg_dl: Decimal, *, age_years: int, sex: str) -> Decimal:
    """Estimated GFR by the CKD-EPI creatinine equation of 2021, in mL/min/1.73 m2, a whole number.

    Args:
        creatinine_mg_dl: Serum creatinine in mg/dL, above 0.
        age_years: Completed years, 18 or more.
        sex: "female" or "male".

    Raises:
        InvalidArgument: a value outside these.
    """
    if creatinine_mg_dl <= 0:
        raise InvalidArgument("creatinine_mg_dl", found=creatinine_mg_dl, want="above 0 mg/dL")
    if age_years < _YOUNGEST:
        raise InvalidArgument("age_years", found=age_years, want="18 or more")
    if sex not in {"female", "male"}:
        raise InvalidArgument("sex", found=sex, want="female or male")
    kappa, alpha, factor = (0.7, -0.241, 1.012) if sex == "female" else (0.9, -0.302, 1.0)
    ratio = float(creatinine_mg_dl) / kappa
    exact = 142 * min(ratio, 1) ** alpha * max(ratio, 1) ** -1.200 * 0.9938**age_years * factor
    return Decimal(str(exact)).quantize(Decimal(1), rounding=ROUND_HALF_UP)


@functools.cache
def _file() -> DosingTable:
    return load_pack(DosingTable, "bedside.clinical", "data/dosing.yaml")
