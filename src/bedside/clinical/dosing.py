"""Kidney function and the dose: rules below a limit, and the eGFR that a creatinine gives."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, Severity, means, reference
from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = [
    "EGFR_SOURCE",
    "DosingRule",
    "dosing_pack",
    "dosing_rules",
    "dosing_rules_for",
    "egfr_ckd_epi_2021",
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


class _Dosing(PackFile):
    sources: dict[str, str]
    dosing: dict[str, _Row]


def dosing_pack() -> Pack:
    """The table that the rules come from."""
    return _file().pack


@functools.cache
def dosing_rules() -> tuple[DosingRule, ...]:
    """Every rule, in the table's order."""
    table = _file()
    return tuple(
        DosingRule(
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
        for key, row in table.dosing.items()
    )


def dosing_rules_for(generics: Iterable[str]) -> tuple[DosingRule, ...]:
    """The rules that mean one of these generics; unknown names have none."""
    wanted = tuple(generics)
    return tuple(rule for rule in dosing_rules() if any(means(one, rule.drugs) for one in wanted))


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
def _file() -> _Dosing:
    return load_pack(_Dosing, "bedside.clinical", "data/dosing.yaml")
