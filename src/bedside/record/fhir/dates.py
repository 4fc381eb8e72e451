"""FHIR dates and moments, which may be partial, and how a clinician reads them."""

from __future__ import annotations

import functools
import re
from datetime import UTC, date, datetime

from bedside.core.value import value

__all__ = ["Moment", "moment", "spoken_date"]

_SHAPE = re.compile(
    r"(?P<y>\d{4})(?:-(?P<m>\d{2})(?:-(?P<d>\d{2})"
    r"(?:T(?P<clock>\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?P<zone>Z|[+-]\d{2}:\d{2})?)?)?)?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@value
class Moment:
    """A FHIR date, dateTime or instant.

    `at` is aware and keeps the written offset; a partial date stands for its first moment in UTC.
    `shown` is the date as a clinician reads it, no more precise than it was written: "2 Nov 2026",
    "Nov 2026" or "2026". `timed` says that a time of day was written.
    """

    at: datetime
    shown: str
    timed: bool = False

    @property
    def exact(self) -> bool:
        """True where a day was written, not a month or a year alone."""
        return self.shown == spoken_date(self.at.date())


def spoken_date(day: date) -> str:
    """Say "2 Nov 2026" for a day."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def moment(written: object) -> Moment | None:
    """Read a FHIR date, dateTime or instant; `None` for anything else, impossible dates included."""
    return _read(written) if isinstance(written, str) else None


@functools.lru_cache(maxsize=4096)
def _read(written: str) -> Moment | None:
    found = _SHAPE.fullmatch(written.strip())
    if found is None:
        return None
    try:
        return _moment(found)
    except (ValueError, OverflowError):
        return None


def _moment(found: re.Match[str]) -> Moment:
    year, month, day = int(found["y"]), int(found["m"] or 1), int(found["d"] or 1)
    if found["clock"]:
        clock = found["clock"]
        if "." in clock:  # Python reads at most six digits of a second
            head, fraction = clock.split(".")
            clock = f"{head}.{fraction[:6].ljust(6, '0')}"
        clock = clock.replace(":60", ":59")  # a leap second has no datetime
        zone = found["zone"] or "+00:00"
        at = datetime.fromisoformat(f"{year:04d}-{month:02d}-{day:02d}T{clock}{zone}")
        at.astimezone(UTC)  # raises where the moment falls outside the calendar
        return Moment(at=at, shown=spoken_date(at.date()), timed=True)
    at = datetime(year, month, day, tzinfo=UTC)
    if found["d"]:
        return Moment(at=at, shown=spoken_date(at.date()))
    return Moment(at=at, shown=f"{_MONTHS[month - 1]} {year}" if found["m"] else f"{year}")
