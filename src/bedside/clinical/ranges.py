"""Reference ranges: a small cited fallback for results that bring no range of their own."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.analytes import analyte_of
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["Flag", "Range", "flag", "range_for", "range_pack", "ranged", "ranges_of"]

Flag = Literal["critical_low", "low", "normal", "high", "critical_high"]
Side = Literal["low", "high"]
Sex = Literal["female", "male"]
_ADULT = Decimal(18)
_NEWBORN = Decimal(28) / Decimal("365.25")

# One spelling for the units that laboratories write in several ways.
_SPELLINGS = {
    "mg/dl": "mg/dl",
    "mm[hg]": "mmhg",
    "mmhg": "mmhg",
    "cel": "cel",
    "°c": "cel",
    "c": "cel",
    "meq/l": "meq/l",
    "ml/min/1.73m2": "ml/min/1.73m2",
    "ml/min/{1.73_m2}": "ml/min/1.73m2",
    "ml/min/1.73m²": "ml/min/1.73m2",
    "ml/min": "ml/min/1.73m2",
    "ph": "[ph]",
    "iu/l": "u/l",
    "miu/ml": "miu/ml",
    "mm/hr": "mm/h",
    "/min": "/min",
    "10^3/ul": "10*3/ul",
    "x10^3/ul": "10*3/ul",
    "k/ul": "10*3/ul",
    "thou/ul": "10*3/ul",
    "x10^9/l": "10*9/l",
    "10^9/l": "10*9/l",
    "10e9/l": "10*9/l",
    "10^6/ul": "10*6/ul",
    "m/ul": "10*6/ul",
    "10^12/l": "10*12/l",
    "{score}": "{score}",
    "{inr}": "{ratio}",
    "ratio": "{ratio}",
    "sec": "s",
    "kg/m²": "kg/m2",
    "miu/l": "miu/l",
    "uiu/ml": "uiu/ml",
    "percent": "%",
}


@value
class Range:
    """The usual range of an analyte in a population.

    `low` and `high` are in `unit`, `None` where the source sets no limit on that side. A side in
    `open` is abnormal at the limit itself. `critical_low`/`critical_high` are limits at which
    laboratories telephone; they count themselves where the side is in `critical_at`. `population`
    says whom the range is for, `source` and `critical_source` cite it. `units` are other units with
    the factor into `unit`. `label` is the pack's, to show beside the range.
    """

    analyte: str
    unit: str
    low: Decimal | None
    high: Decimal | None
    population: str
    source: str
    licence: str
    label: str
    open: tuple[Side, ...] = ()
    critical_low: Decimal | None = None
    critical_high: Decimal | None = None
    critical_at: tuple[Side, ...] = ()
    critical_source: str = ""
    units: tuple[tuple[str, Decimal], ...] = ()
    note: str = ""

    def text(self) -> str:
        """The band as one short phrase, such as "3.5 to 5.0 mmol/L" or "below 200 mg/dL"."""
        unit = "" if self.unit.startswith(("{", "[")) else f" {self.unit}"
        if self.low is not None and self.high is not None:
            band = f"{self.low} to {'below ' if 'high' in self.open else ''}{self.high}"
        elif self.high is not None:
            band = f"{'below' if 'high' in self.open else 'up to'} {self.high}"
        elif self.low is not None:
            band = f"{'above' if 'low' in self.open else 'from'} {self.low}"
        else:
            return "no general range"
        return band + unit

    def critical_text(self) -> str:
        """The critical limits as one short phrase, "" when there are none."""
        parts: list[str] = []
        if self.critical_low is not None:
            parts.append(f"{'≤' if 'low' in self.critical_at else '<'} {self.critical_low}")
        if self.critical_high is not None:
            parts.append(f"{'≥' if 'high' in self.critical_at else '>'} {self.critical_high}")
        return " or ".join(parts)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Source(_Model):
    cite: str
    licence: str


class _Row(_Model):
    source: str
    low: Decimal | None = None
    high: Decimal | None = None
    sex: Sex | None = None
    age: tuple[Decimal, Decimal] | None = None
    pregnant: bool = False
    open: tuple[Side, ...] = ()


class _Critical(_Model):
    source: str
    low: Decimal | None = None
    high: Decimal | None = None
    at: tuple[Side, ...] = ()


class _Entry(_Model):
    unit: str
    rows: tuple[_Row, ...]
    critical: _Critical | None = None
    critical_child: _Critical | None = None
    critical_newborn: _Critical | None = None
    units: dict[str, Decimal] = {}
    note: str = ""


class _Ranges(PackFile):
    sources: dict[str, _Source]
    ranges: dict[str, _Entry]


def range_pack() -> Pack:
    """The pack that the ranges come from."""
    return _file().pack


def ranged() -> tuple[str, ...]:
    """The keys of every analyte that has a range or a critical limit."""
    return tuple(_file().ranges)


def range_for(
    analyte: str,
    *,
    sex: str | None,
    age_years: Decimal | float | None,
    pregnant: bool | None = None,
) -> Range | None:
    """The range that fits a person.

    Args:
        analyte: An analyte key, a LOINC code or a name.
        sex: "female" or "male"; anything else is unknown.
        age_years: Completed or fractional years; `None` when unknown.
        pregnant: True only when the record says so; `None` and False count as not pregnant.

    Returns:
        `None` when the pack has nothing for this person: an unknown analyte, a child where every
        source speaks of adults, an unknown age. Where it has no usual range for the person (a child,
        a pregnancy, an unknown sex) but limits at which laboratories telephone, these alone: such a
        range calls nothing normal. Unknown is never taken for normal.
    """
    key = _key(analyte)
    entry = _file().ranges.get(key) if key else None
    if entry is None or key is None or age_years is None:
        return None
    age = Decimal(str(age_years))
    fitting = [row for row in entry.rows if _fits(row, sex, age, pregnant=bool(pregnant))]
    people, critical = _critical(entry, age)
    if fitting:
        return _made(key, entry, fitting[0], critical=critical)
    if critical is not None:
        return _made(key, entry, None, critical=critical, people=people)
    return None


def _critical(entry: _Entry, age: Decimal) -> tuple[str, _Critical | None]:
    """The limits at which laboratories telephone at this age, and whom they are for."""
    if age >= _ADULT:
        return "adults", entry.critical
    if age < _NEWBORN:
        return "newborns", entry.critical_newborn
    return "children", entry.critical_child


def ranges_of(analyte: str) -> tuple[Range, ...]:
    """Every row of an analyte, for showing without a patient; empty when there is none."""
    key = _key(analyte)
    entry = _file().ranges.get(key) if key else None
    if entry is None or key is None:
        return ()
    if not entry.rows:
        return (_made(key, entry, None, critical=entry.critical),)
    return tuple(
        _made(
            key,
            entry,
            row,
            critical=entry.critical if row.age is None and not row.pregnant else None,
        )
        for row in entry.rows
    )


def flag(
    measured: Decimal | None,
    unit: str,
    reference: Range | None,
    *,
    comparator: str = "",
) -> Flag | None:
    """Where a value stands in a range.

    Args:
        measured: The figure; `None` is unknown.
        unit: Its unit as written; it is compared only when the range knows it.
        reference: A range from this module, or one made of the laboratory's own limits.
        comparator: "<", "<=", ">", ">=" or "" as the record has it: "< 5" is somewhere below 5.

    Returns:
        `None` when it cannot be said: no value, no range, an unknown unit, or a comparator that
        leaves both answers open. With a comparator the mildest flag that is certain.
    """
    if measured is None or reference is None:
        return None
    factor = _factor(unit, reference)
    if factor is None:
        return None
    figure = measured * factor
    if comparator in {"<", "<="}:
        return _below(figure, reference, itself=comparator == "<=")
    if comparator in {">", ">="}:
        return _above(figure, reference, itself=comparator == ">=")
    return _placed(figure, reference)


def _placed(figure: Decimal, at: Range) -> Flag | None:
    if _under(figure, at.critical_low, counts="low" in at.critical_at):
        return "critical_low"
    if _over(figure, at.critical_high, counts="high" in at.critical_at):
        return "critical_high"
    if _under(figure, at.low, counts="low" in at.open):
        return "low"
    if _over(figure, at.high, counts="high" in at.open):
        return "high"
    return None if at.low is None and at.high is None else "normal"


def _below(figure: Decimal, at: Range, *, itself: bool) -> Flag | None:
    """The value lies below `figure` (or is it): the mildest flag that is certain."""
    if at.critical_low is not None and _all_under(figure, at.critical_low, itself=itself):
        return "critical_low"
    if at.low is not None:
        return "low" if _all_under(figure, at.low, itself=itself) else None
    if (
        at.critical_low is None
        and at.high is not None
        and not _over(figure, at.high, counts=itself and "high" in at.open)
    ):
        return "normal"
    return None


def _above(figure: Decimal, at: Range, *, itself: bool) -> Flag | None:
    if at.critical_high is not None and _all_over(figure, at.critical_high, itself=itself):
        return "critical_high"
    if at.high is not None:
        return "high" if _all_over(figure, at.high, itself=itself) else None
    if (
        at.critical_high is None
        and at.low is not None
        and not _under(figure, at.low, counts=itself and "low" in at.open)
    ):
        return "normal"
    return None


def _all_under(figure: Decimal, limit: Decimal, *, itself: bool) -> bool:
    return figure < limit or (figure == limit and not itself)


def _all_over(figure: Decimal, limit: Decimal, *, itself: bool) -> bool:
    return figure > limit or (figure == limit and not itself)


def _under(figure: Decimal, limit: Decimal | None, *, counts: bool) -> bool:
    return limit is not None and (figure < limit or (counts and figure == limit))


def _over(figure: Decimal, limit: Decimal | None, *, counts: bool) -> bool:
    return limit is not None and (figure > limit or (counts and figure == limit))


def _factor(unit: str, reference: Range) -> Decimal | None:
    written = _unit(unit)
    if written == _unit(reference.unit):
        return Decimal(1)
    for other, factor in reference.units:
        if written == _unit(other):
            return factor
    return None


def _unit(unit: str) -> str:
    plain = unit.strip().casefold().replace("µ", "u").replace("μ", "u").replace(" ", "")
    return _SPELLINGS.get(plain, plain)


def _key(analyte: str) -> str | None:
    if analyte in _file().ranges:
        return analyte
    found = analyte_of(loinc=analyte, name=analyte)
    return found.key if found else None


def _fits(row: _Row, sex: str | None, age: Decimal, *, pregnant: bool) -> bool:
    if row.pregnant != pregnant:
        return False
    if row.sex is not None and row.sex != sex:
        return False
    if row.age is None:
        return row.pregnant or age >= _ADULT
    return row.age[0] <= age < row.age[1]


def _made(
    key: str,
    entry: _Entry,
    row: _Row | None,
    *,
    critical: _Critical | None,
    people: str = "adults",
) -> Range:
    sources = _file().sources
    return Range(
        analyte=key,
        unit=entry.unit,
        low=row.low if row else None,
        high=row.high if row else None,
        open=row.open if row else (),
        population=_population(row) if row else people,
        source=sources[row.source].cite if row else "",
        licence=sources[row.source].licence if row else "",
        label=_file().pack.label,
        critical_low=critical.low if critical else None,
        critical_high=critical.high if critical else None,
        critical_at=critical.at if critical else (),
        critical_source=sources[critical.source].cite if critical else "",
        units=tuple(entry.units.items()),
        note=entry.note,
    )


def _population(row: _Row) -> str:
    if row.pregnant:
        return "pregnancy"
    people = {"female": "women", "male": "men", None: "adults"}[row.sex]
    if row.age is None:
        return people
    span = f"{row.age[0]} to under {row.age[1]} years"
    return f"{row.sex}, {span}" if row.sex else span


@functools.cache
def _file() -> _Ranges:
    return load_pack(_Ranges, "bedside.clinical", "data/ranges.yaml")
