"""After how long a value is stale, by what it is. A hint for the reader, never a filter.

The intervals follow what guidelines ask for between two readings: HbA1c at least twice a year (ADA
Standards of Care 2026, section 6), INR at most every 12 weeks when stable and usually monthly (BSH
2011), bone density no sooner than two years (ISCD 2023). What measures an acute state (temperature,
saturation, C-reactive protein, lactate, troponin) is stale sooner, by custom, as are imaging and
social history later. What no table names is stale after a year.
"""

from __future__ import annotations

from collections.abc import Mapping

from bedside.record.needs import Fact

__all__ = ["stale_after"]

_DEFAULT = 365
_BY_CODE: Mapping[str, int | None] = {
    "4548-4": 183,  # HbA1c
    "17856-6": 183,
    "59261-8": 183,
    "8310-5": 14,  # body temperature
    "8331-1": 14,
    "59408-5": 90,  # oxygen saturation
    "2708-6": 90,
    "1988-5": 90,  # C-reactive protein
    "30522-7": 90,
    "33959-8": 30,  # procalcitonin
    "2524-7": 14,  # lactate
    "10839-9": 14,  # troponin
    "6598-7": 14,
    "89579-7": 14,
    "6301-6": 42,  # INR
    "34714-6": 42,
    "38265-5": 731,  # bone density T-score
    "882-1": None,  # blood group: does not age
    "883-9": None,
    "10331-7": None,
    "8302-2": 3653,  # adult height
    "55277-8": 1096,  # HIV status
    "76690-7": None,
    "69453-9": None,  # cause of death
}
_BY_GROUP: Mapping[str, int | None] = {
    "vital-signs": 365,
    "laboratory": 365,
    "imaging": 1096,
    "procedure": 1096,
    "survey": 731,
    "social-history": 731,
    "exam": 731,
}


def stale_after(fact: Fact) -> int | None:
    """Days after which an observation is stale; `None` for what does not age."""
    for code in fact.codes:
        number = code.rsplit("|", 1)[-1]
        if number in _BY_CODE:
            return _BY_CODE[number]
    return _BY_GROUP.get(fact.group, _DEFAULT)
