"""Rows of a table that are steps of one value: "eGFR | 30 to 44 | halve the dose". Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from bedside.clinical.analytes import analyte_of
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.value import value
from bedside.flows.copilot.excerpts import Excerpt
from bedside.flows.copilot.tools.person import age_on
from bedside.language.quantities import Quantity, quantities
from bedside.record.matching import analyte_key
from bedside.record.needs import Fact, RecordFacts

__all__ = ["Step", "is_own_step", "of_another_age", "said_values", "step_of"]

_UNIT = re.compile(r"\(([^()]+)\)")
_WORD = re.compile(r"[^\W\d_]+")
_MOST_NAMING = 3
"""Words before a figure that may name what it measures."""
_AGED = re.compile(
    r"(?:(?:adults|people|women|men|those|patients) )?(?:aged?|of|from|who are)? ?(?:"
    r"(?P<low>\d{1,3}) (?:to|-|–) (?P<high>\d{1,3})\b(?! ?(?:%|m[gl]|mm|g/|/))"
    r"|(?P<least>\d{1,3}) (?:years )?(?:or (?:more|over|older)|and (?:over|older))\b"
    r"|(?:over|above|older than) (?P<above>\d{1,3}) years\b"
    r"|(?:under|below|younger than) (?P<below>\d{1,3}) years\b)",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\bage[sd]?\b|\byears?\b", re.IGNORECASE)
_NEAR = 12
_LINKS = {"is", "was", "were", "of", "falls", "to"}
_OF_A_STEP = frozenset(
    [
        "to",
        "and",
        "or",
        "more",
        "less",
        "above",
        "below",
        "over",
        "under",
        "at",
        "least",
        "most",
        "from",
        "up",
        "than",
        "higher",
        "lower",
    ]
)


@value
class Step:
    """One row's bounds on an analyte (a key of `clinical.analytes`), in `unit` ("" where none)."""

    analyte: str
    unit: str
    bounds: Quantity


def step_of(row: Excerpt) -> Step | None:
    """The step that a row stands for; `None` where its first cell is no range of an analyte."""
    if not row.header or row.head is None:
        return None
    known = analyte_of(name=row.header[0])
    first = row.text.strip().strip("|").partition("|")[0]
    found = quantities(first)
    if known is None or len(found) != 1:
        return None
    bounds = found[0]
    if bounds.high is None and bounds.comparator in ("", "~"):
        return None
    rest = first[: bounds.start] + first[bounds.end :]
    if any(word not in _OF_A_STEP for word in _WORD.findall(rest.lower())):
        return None
    unit = _UNIT.search(row.head.body.strip().strip("|").partition("|")[0])
    return Step(analyte=known.key, unit=bounds.unit or (unit[1] if unit else ""), bounds=bounds)


def of_another_age(text: str, record: RecordFacts | None, *, today: date) -> bool:
    """Does a sentence begin with an age that is not the patient's ("Aged 18 to 49: ...")?

    A sentence that names none, and a patient whose age is unknown, are never of another age.
    """
    born = record.person.birth_date if record is not None else None
    found = _AGED.match(text.strip(" -*"))
    if born is None or found is None or not _YEARS.search(text[: len(found[0]) + _NEAR]):
        return False
    age = age_on(born, today)
    low = next((int(found[key]) for key in ("low", "least", "above") if found[key]), 0)
    high = int(found["high"]) if found["high"] else None
    if found["below"]:
        high = int(found["below"]) - 1
    return age < low or (high is not None and age > high)


def said_values(text: str) -> dict[str, Quantity]:
    """The values that a question itself gives, by analyte: "metformin at eGFR 35"."""
    found: dict[str, Quantity] = {}
    for one in quantities(text):
        words = [word for word in _WORD.findall(text[: one.start]) if word.lower() not in _LINKS]
        words = words[-_MOST_NAMING:]
        names = (" ".join(words[at:]) for at in range(len(words)))
        known = next((hit for name in names if (hit := analyte_of(name=name))), None)
        if known is not None and one.high is None and one.comparator in ("", "~"):
            found.setdefault(known.key, one)
    return found


def is_own_step(
    row: Excerpt, record: RecordFacts | None, said: Mapping[str, Quantity] | None = None
) -> bool:
    """Is this the row of the value said, else of the patient's newest one?

    A unit that does not convert is no match; a value said without one has the row's.
    """
    step = step_of(row)
    if step is None:
        return False
    given = (said or {}).get(step.analyte)
    newest = _newest(step.analyte, record) if record is not None else None
    if given is not None:
        value, unit = given.low, given.unit or step.unit
    elif newest is not None and newest.value is not None and not newest.comparator:
        value, unit = newest.value, newest.unit
    else:
        return False
    try:
        held = convert(value, unit, step.unit, step.analyte)
    except (UnknownUnit, IncompatibleUnits):
        return False
    return _within(held, step.bounds)


def _within(held: Decimal, bounds: Quantity) -> bool:
    if bounds.high is not None:
        return bounds.low <= held <= bounds.high
    return {
        "<": held < bounds.low,
        "<=": held <= bounds.low,
        ">": held > bounds.low,
        ">=": held >= bounds.low,
    }.get(bounds.comparator, False)


def _newest(key: str, record: RecordFacts) -> Fact | None:
    dated = [
        fact
        for fact in record.of("observations")
        if fact.when is not None and fact.value is not None and analyte_key(fact) == key
    ]
    return max(dated, key=lambda fact: fact.when, default=None)  # type: ignore[arg-type, return-value]
