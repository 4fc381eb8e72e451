"""Kidney function as rules read it: recorded, computed, and where the two lie apart. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from bedside.clinical.dosing import egfr_ckd_epi_2021
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.context import Item
from bedside.core.value import value
from bedside.flows.briefing.findings import Cited, Flag
from bedside.flows.briefing.reading import Chart, age_at
from bedside.flows.briefing.references import egfr_reference, entry
from bedside.record.abnormal import figure_of
from bedside.record.fhir.dates import spoken_date
from bedside.record.needs import Fact

__all__ = ["Kidney", "apart_flags", "kidney_of"]

_YOUNGEST = 18
_TIMES = Decimal("1.5")
_LOW = Decimal(30)
_NORMAL = Decimal(60)


@value
class Kidney:
    """The filtration rate that doses are held against, in mL/min/1.73 m2 (or mL/min).

    `said` names it with its date, as recorded or as computed; `items` are what it rests on.
    """

    rate: Decimal
    said: str
    items: tuple[Item, ...]
    stale: bool


def kidney_of(chart: Chart) -> Kidney | None:
    """The newest filtration rate: a recorded eGFR, or one computed from a newer creatinine.

    The calculator is deterministic and its inputs are said. `None` where there is neither, where age
    or sex is unknown, and in pregnancy or on dialysis, for which the equation was not made.
    """
    recorded = next(iter(_dated(chart, "egfr")), None)
    creatinine = next(iter(_dated(chart, "creatinine")), None)
    if recorded is not None and not (
        creatinine and creatinine.when and recorded.when and creatinine.when > recorded.when
    ):
        if recorded.value is None or recorded.comparator:
            return None
        return Kidney(
            rate=recorded.value,
            said=f"the newest eGFR is {figure_of(recorded)} ({_day(recorded)}"
            f"{'; stale' if recorded.stale else ''})",
            items=(entry(recorded),),
            stale=recorded.stale,
        )
    return _computed(chart, creatinine) if creatinine is not None else None


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
