"""Kidney function as rules read it: recorded, computed, and where the two lie apart. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from bedside.clinical.dosing import egfr_ckd_epi_2021
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.context import Item
from bedside.core.value import value
from bedside.flows.briefing.findings import Cited, Flag
from bedside.flows.briefing.reading import Chart, age_at, is_dialysis, plain
from bedside.flows.briefing.references import egfr_reference, entry
from bedside.record.abnormal import figure_of
from bedside.record.fhir.dates import spoken_date
from bedside.record.needs import Fact

__all__ = ["Kidney", "apart_flags", "kidney_of"]

_YOUNGEST = 18
_TIMES = Decimal("1.5")
_LOW = Decimal(30)
_FAILED = Decimal(15)
_ON_DIALYSIS = Decimal(14)
"""A rate below 15 (G5 of KDIGO 2024), which dialysis stands for where no figure does."""
_NORMAL = Decimal(60)


@value
class Kidney:
    """The filtration rate that doses are held against, in mL/min/1.73 m2 (or mL/min).

    `said` names it with its date, as recorded or as computed; `items` are what it rests on. `by` is
    what it was read from: an eGFR, or dialysis, of which the rate is an upper bound. `recorded` where
    a result of the record says it itself, so that the record's own rules have held medicines against it.
    `comparator` as recorded: "<" before a rate that is somewhere below.
    """

    rate: Decimal
    said: str
    items: tuple[Item, ...]
    stale: bool
    by: str = "eGFR"
    recorded: bool = False
    comparator: str = ""

    def below(self, limit: Decimal) -> bool:
        """Is the rate below the limit for certain? "<15" is below 15, and ">14" below nothing."""
        if self.comparator.startswith(">"):
            return False
        return self.rate < limit or (self.comparator == "<" and self.rate == limit)


def kidney_of(chart: Chart) -> Kidney | None:
    """The newest filtration rate: a recorded eGFR, or one computed from a newer creatinine.

    The calculator is deterministic and its inputs are said. It computes nothing where age or sex is
    unknown, and nothing in pregnancy or on dialysis, for which the equation was not made: there the
    recorded eGFR stands, though older. Dialysis stands for a rate below 15, whatever eGFR is recorded.
    `None` where there is none of these.
    """
    recorded = next(iter(_dated(chart, "egfr")), None)
    if chart.dialysis:
        return _on_dialysis(chart, recorded)
    creatinine = next(iter(_dated(chart, "creatinine")), None)
    newer = (
        recorded is None
        or recorded.when is None
        or (creatinine and creatinine.when and creatinine.when > recorded.when)
    )
    computed = _computed(chart, creatinine) if newer and creatinine is not None else None
    return computed or _recorded(recorded)


def _recorded(fact: Fact | None) -> Kidney | None:
    if fact is None or fact.value is None or fact.comparator == "ad":
        return None
    return Kidney(
        rate=fact.value,
        said=f"the newest eGFR is {figure_of(fact)} ({_day(fact)}{'; stale' if fact.stale else ''})",
        items=(entry(fact),),
        stale=fact.stale,
        recorded=not fact.comparator,
        comparator=fact.comparator,
    )


def _on_dialysis(chart: Chart, recorded: Fact | None) -> Kidney:
    """The recorded rate where it is as low, else what dialysis stands for: it may clear the blood."""
    found = _recorded(recorded)
    if found is not None and found.below(_FAILED):
        return found
    problem = next(one for one in chart.problems if is_dialysis(one))
    return Kidney(
        rate=_ON_DIALYSIS,
        said=f"{plain(problem.name)} is an open problem, so kidney function is read as below "
        f"{_FAILED} mL/min/1.73 m2",
        items=(entry(problem),),
        stale=False,
        by="dialysis",
    )


def _computed(chart: Chart, creatinine: Fact) -> Kidney | None:
    if creatinine.when is None or creatinine.value is None or creatinine.comparator:
        return None
    if chart.pregnant or chart.dialysis:
        return None
    age = age_at(chart.record.person.birth_date, creatinine.when.date())
    if age is None or age < _YOUNGEST or chart.sex not in {"female", "male"}:
        return None
    try:
        level = convert(creatinine.value, creatinine.unit, "mg/dL", "creatinine")
    except (UnknownUnit, IncompatibleUnits):
        return None
    if level <= 0:
        return None
    rate = egfr_ckd_epi_2021(level, age_years=age, sex=chart.sex)
    return Kidney(
        rate=rate,
        said=f"the eGFR computed by CKD-EPI 2021 is {rate} mL/min/1.73 m2, from creatinine "
        f"{figure_of(creatinine)} ({_day(creatinine)}{'; stale' if creatinine.stale else ''}), "
        f"{age} years, {chart.sex}",
        items=(entry(creatinine), egfr_reference()),
        stale=creatinine.stale,
    )


def apart_flags(chart: Chart) -> Iterator[Flag]:
    """The newest recorded eGFR and the newest creatinine, of one day, that do not fit each other.

    Only where one of the two speaks of less than normal kidney function: else it changes nothing.
    """
    recorded = next(iter(_dated(chart, "egfr")), None)
    newest = next(iter(_dated(chart, "creatinine")), None)
    if recorded is None or recorded.value is None or recorded.comparator or newest is None:
        return
    same = recorded.when and newest.when and recorded.when.date() == newest.when.date()
    computed = _computed(chart, newest) if same else None
    if computed is None or min(recorded.value, computed.rate) <= 0:
        return
    low, high = sorted((recorded.value, computed.rate))
    if high < low * _TIMES or low >= _NORMAL:
        return
    yield Flag(
        category="labs",
        severity="warning" if low < _LOW else "info",
        title="eGFR and creatinine of one day do not fit each other",
        description=(
            Cited(
                text=f"The eGFR is recorded as {figure_of(recorded)} ({_day(recorded)}), and {computed.said}",
                items=(entry(recorded), *computed.items),
            ),
        ),
        rule="egfr-creatinine-apart",
        action=Cited(
            text="Consider repeating creatinine before a dose is chosen by either",
            items=(entry(recorded), computed.items[0]),
        )
        if not chart.died
        else None,
        weight=7.5,
    )


def _dated(chart: Chart, key: str) -> Iterator[Fact]:
    return (fact for fact in chart.readings.get(key, ()) if fact.when is not None)


def _day(fact: Fact) -> str:
    return spoken_date(fact.when.date()) if fact.when else "date not recorded"
