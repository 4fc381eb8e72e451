"""Days that are meant: in a message, counted from the day it was said; in a question, as asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from bedside.core.value import value

__all__ = ["Asked", "Meant", "asked_days", "fits", "is_when", "meant_days", "speaks_of_time"]

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3,
}  # fmt: skip
_MONTH = "|".join(_MONTHS)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_MONTH})\b(?:\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s+(?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(
    rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>{_MONTH})\b(?:,?\s+(?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_COUNTED = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_AGO = re.compile(
    rf"\b(?P<n>\d{{1,2}}|{_COUNTED})\s+(?P<unit>day|week|month|year)s?\s+ago\b", re.IGNORECASE
)
_NEAR = re.compile(
    r"\b(?P<near>the day before yesterday|yesterday|last night|today|tonight|this morning|tomorrow|"
    r"(?P<which>last|this past|past|next|this)\s+(?P<unit>week(?:end)?|month|year|"
    + "|".join(_DAYS)
    + r"))\b",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|morning|"
    rf"recently|since|just|{'|'.join(_DAYS)}|{_MONTH}|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:when|how long|how many (?:days|weeks|months|years)|(?:what|which) (?:date|day|week|month|year|time)|since)\b",
    re.IGNORECASE,
)
_EARLIEST = 1900
_FAR = {"day": 1, "week": 7, "month": 30, "year": 365}


@value
class Meant:
    """Days from `first` to `last`, both meant by the words `said`."""

    said: str
    first: date
    last: date


@value
class Asked:
    """A day or a month that a question names; `None` where it does not say."""

    month: int
    day: int | None = None
    year: int | None = None


def speaks_of_time(text: str) -> bool:
    """Does a message say when something was?"""
    return _SPEAKS.search(text) is not None


def is_when(question: str) -> bool:
    """Is it a time that is asked for?"""
    return _WHEN.search(question) is not None


def meant_days(text: str, day: date) -> list[Meant]:
    """What the relative words of a message mean, said on `day`: "yesterday" is the day before.

    Nothing for a day before 1900, which no message was sent on.
    """
    if day.year < _EARLIEST:
        return []
    found = [Meant(said=m["near"].lower(), **_span(*_near(m, day))) for m in _NEAR.finditer(text)]
    for match in _AGO.finditer(text):
        number = match["n"].lower()
        count = int(number) if number.isdigit() else _NUMBERS[number]
        unit = match["unit"].lower()
        middle = _back(day, unit, count)
        slack = timedelta(days=_FAR[unit] // 2)
        found.append(Meant(said=match[0].lower(), first=middle - slack, last=middle + slack))
    return found


def _span(first: date, last: date) -> dict[str, date]:
    return {"first": first, "last": last}


def _near(match: re.Match[str], day: date) -> tuple[date, date]:
    near = match["near"].lower()
    fixed = {
        "yesterday": -1, "last night": -1, "the day before yesterday": -2, "tomorrow": 1,
    }  # fmt: skip
    if match["unit"] is None:
        there = day + timedelta(days=fixed.get(near, 0))
        return there, there
    unit, which = match["unit"].lower(), match["which"].lower()
    step = {"next": 1, "this": 0}.get(which, -1)
    if unit == "week":
        start = day - timedelta(days=day.weekday()) + timedelta(weeks=step)
        return start, start + timedelta(days=6)
    if unit == "weekend":
        saturday = day - timedelta(days=(day.weekday() - 5) % 7)
        if step == 1 or (step == 0 and day.weekday() < 5):  # noqa: PLR2004 - Saturday
            saturday += timedelta(weeks=1)
        return saturday, saturday + timedelta(days=1)
    if unit == "month":
        months = day.year * 12 + day.month - 1 + step
        first = date(months // 12, months % 12 + 1, 1)
        return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    if unit == "year":
        return date(day.year + step, 1, 1), date(day.year + step, 12, 31)
    ahead = (_DAYS.index(unit) - day.weekday()) % 7
    there = day + timedelta(days={0: ahead, 1: ahead or 7}.get(step, ahead - 7))
    return there, there


def _back(day: date, unit: str, count: int) -> date:
    if unit == "month":
        months = day.year * 12 + day.month - 1 - count
        return date(months // 12, months % 12 + 1, min(day.day, 28))
    if unit == "year":
        return date(max(day.year - count, 1), day.month, min(day.day, 28))
    return day - timedelta(days=_FAR[unit] * count)


def asked_days(question: str) -> list[Asked]:
    """Every day or month that a question names, in order."""
    found: list[tuple[int, Asked]] = []
    taken: list[tuple[int, int]] = []
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(question):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            if match["m"].islower() and match["m"].lower() in {"may", "march"} and not match["d"]:
                continue  # the verbs
            taken.append(match.span())
            found.append((match.start(), _asked(match)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _asked(match: re.Match[str]) -> Asked:
    return Asked(
        month=_MONTHS.index(match["m"].lower()) + 1,
        day=int(match["d"]) if match["d"] else None,
        year=int(match["y"]) if match["y"] else None,
    )


def fits(asked: Asked, said: date, meant: list[Meant]) -> float:
    """How well a message said on a day fits an asked day or month, in [0, 1.5].

    1.5 for the very day, also where "yesterday" makes it so; 1 for the month, or where the
    message came within a week after; less for what came soon after.
    """
    if asked.day is None:
        return max(_month_fit(asked, said), *(_month_fit(asked, one.first) for one in meant), 0.0)
    best = 0.0
    for target in _targets(asked, said):
        gap = (said - target).days
        best = max(best, next((worth for most, worth in _AFTER if 0 <= gap <= most), 0.0))
        if any(one.first <= target <= one.last and one.last - one.first < _WEEK for one in meant):
            best = 1.5
    return best


_WEEK = timedelta(days=7)
_AFTER = ((0, 1.5), (7, 1.0), (14, 0.5))
"""Days from what happened to the message, at most, and how well that fits."""


def _targets(asked: Asked, said: date) -> Iterator[date]:
    years = (asked.year,) if asked.year else (said.year, said.year - 1)
    for year in years:
        try:
            yield date(year, asked.month, asked.day or 1)
        except ValueError:
            continue


def _month_fit(asked: Asked, day: date) -> float:
    if asked.year is not None and (day.year, day.month) != (asked.year, asked.month):
        after = (day.year * 12 + day.month) - (asked.year * 12 + asked.month)
        return 0.5 if after == 1 and day.day <= 10 else 0.0  # noqa: PLR2004 - days
    if day.month == asked.month:
        return 1.0
    return 0.5 if day.month == asked.month % 12 + 1 and day.day <= 10 else 0.0  # noqa: PLR2004
