"""Dates as they are written in clinical text. Pure.

Only what cannot be misread becomes a day: "03/04/2024" could be two days and is kept as both.
"""

from __future__ import annotations

import re
from datetime import date

from bedside.core.value import value

__all__ = ["Written", "dates"]


@value
class Written:
    """A date at `text[start:end]`.

    `days` are the days it can mean: one, or two where day and month could be swapped; empty for a
    month or a year alone. `month` is (year, month) where it is sure, `year` where it is written
    (a two-digit year is read as 2000 to 2068, 1969 to 1999).
    """

    start: int
    end: int
    days: tuple[date, ...] = ()
    month: tuple[int, int] | None = None
    year: int | None = None

    def agrees(self, other: Written | date) -> bool:
        """Can both mean the same? The coarser decides: "March 2024" agrees with any of its days."""
        if isinstance(other, date):
            other = Written(
                start=0, end=0, days=(other,), month=(other.year, other.month), year=other.year
            )
        if self.days and other.days:
            return bool(set(self.days) & set(other.days))
        if self.month and other.month:
            return self.month == other.month
        mine = {day.year for day in self.days} or {self.year}
        theirs = {day.year for day in other.days} or {other.year}
        if (self.month or self.days) and (other.month or other.days):
            months = {(day.year, day.month) for day in self.days} or {self.month}
            return bool(months & ({(day.year, day.month) for day in other.days} or {other.month}))
        return None not in mine and bool(mine & theirs)


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sept sep", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = r"(?P<{0}>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_MONTH_NAME = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:18|19|20|21)\d\d(?!\d)")
_DIGIT = re.compile(r"\d")
_SEPARATED = re.compile(r"\d[/.-]\d{1,2}[/.-]\d")
# (what must stand in the text for the pattern to be worth trying, pattern)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("-", re.compile(
        r"(?<![\d.-])(?P<y>(?:18|19|20|21)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)"
        r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\d])"
    )),
    ("month", re.compile(
        r"(?<![\d.])(?P<d>\d{1,2})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?" + _NAME.format("mn")
        + r",?[\s-]*(?P<y>(?:18|19|20|21)\d\d|'?\d\d(?![\d:.,%/-]|\s?(?:mg|ml|%)))?(?!\d)",
        re.IGNORECASE,
    )),
    ("month", re.compile(
        r"\b" + _NAME.format("mn") + r"\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?(?![\d.%/])"
        r"(?:,?\s+(?P<y>(?:18|19|20|21)\d\d))?(?!\d)",
        re.IGNORECASE,
    )),
    ("month", re.compile(
        r"(?<!\d\s)\b" + _NAME.format("mn") + r",?[\s-]+(?:of\s+)?(?P<y>(?:18|19|20|21)\d\d)(?!\d)",
        re.IGNORECASE,
    )),
    ("sep", re.compile(
        r"(?<![\d./])(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>(?:18|19|20|21)\d\d|\d\d)"
        r"(?![\d/]|[.-]\d)"
    )),
    ("year", re.compile(r"(?<![\d./-])(?P<y>(?:18|19|20|21)\d\d)[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})(?![\d/])")),
    ("/", re.compile(r"(?<![\d./-])(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)(?![\d/])")),
    ("-", re.compile(r"(?<![\d.-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\d-])")),
    ("year", re.compile(
        r"\b(?:in|since|from|until|during|before|after|of|year|by|for|,)\s+(?P<y>(?:19|20)\d\d)"
        r"(?![\d.,%/-]?\d)(?!\s?(?:mg|ml|kcal|g|units?|cells?|steps)\b)"
    )),
    ("year", re.compile(r"(?<=[(])(?P<y>(?:19|20)\d\d)(?=[);,])")),
)  # fmt: skip


def dates(text: str) -> list[Written]:
    """Every date of `text`, in order, never overlapping.

    A year alone counts only where the words before it say so ("in 2019", "(2021)"); a day and a
    month that do not exist (31 February) are no date.
    """
    if _DIGIT.search(text) is None:
        return []
    found: list[Written] = []
    has = {
        "month": _MONTH_NAME.search(text) is not None,
        "year": _YEAR.search(text) is not None,
        "sep": _SEPARATED.search(text) is not None,
    }
    for needs, pattern in _PATTERNS:
        if not (has[needs] if needs in has else has["year"] and needs in text):
            continue
        for match in pattern.finditer(text):
            written = _written(match)
            if written and not any(
                one.start < written.end and written.start < one.end for one in found
            ):
                found.append(written)
    return sorted(found, key=lambda one: one.start)


def _written(match: re.Match[str]) -> Written | None:
    groups = match.groupdict()
    year = _year(groups.get("y"))
    start, end = match.span()
    if groups.get("a"):
        if year is None:
            return None
        first, second = int(groups["a"]), int(groups["b"])
        pair = {_day(year, first, second), _day(year, second, first)} - {None}
        days = tuple(sorted(day for day in pair if day is not None))
        month = (days[0].year, days[0].month) if len(days) == 1 else None
        return Written(start=start, end=end, days=days, month=month, year=year) if days else None
    month_number = int(groups["m"]) if groups.get("m") else None
    if groups.get("mn"):
        month_number = _MONTHS[groups["mn"].lower()]
    if month_number is None:
        return Written(start=match.start("y"), end=end, year=year) if year else None
    if not groups.get("d"):
        return (
            Written(start=start, end=end, month=(year, month_number), year=year) if year else None
        )
    if year is None:
        # A day of a month without its year: it is a date, but no one day.
        known = _day(2000, month_number, int(groups["d"]))
        return Written(start=start, end=end) if known else None
    day = _day(year, month_number, int(groups["d"]))
    if day is None:
        return None
    return Written(start=start, end=end, days=(day,), month=(day.year, day.month), year=year)


def _year(written: str | None) -> int | None:
    if not written:
        return None
    number = int(written.lstrip("'"))
    if len(written.lstrip("'")) == 4:  # noqa: PLR2004 - a whole year
        return number
    return 2000 + number if number <= 68 else 1900 + number  # noqa: PLR2004 - POSIX's rule


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
