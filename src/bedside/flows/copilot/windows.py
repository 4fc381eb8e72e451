"""Spans of time in a question: "in 2019", "since March 2018", "over the past 6 months". Pure.

What can be read in two ways (3/4/2015) is not read at all. "Last year" is the calendar year before
this one and "since January" the newest January: `said` names the dates, so that an answer does too.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from bedside.core.value import value
from bedside.flows.copilot.query import Window

__all__ = ["Found", "day_text", "find_window", "number_of"]

_MONTHS = {
    name: index
    for index, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_WORDS = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=1,
    )
}
_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\Z")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\Z")
_MONTH_YEAR = re.compile(r"(\d{1,2})/(\d{4})\Z")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\Z")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_MONTH_COUNT = 12
_QUARTER = re.compile(r"q([1-4])\Z")
_SINCE = {"since", "onwards"}
_INSIDE = {
    "in",
    "during",
    "for",
    "of",
    "on",
    "at",
    "from",
    "year",
    "dated",
    "within",
    "over",
    "the",
    "around",
}
_BEFORE_A_MONTH = {"in", "during", "since", "around", "last", "from", "on"}
_RELATIVE = {"last", "past", "previous"}
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "wk": 7, "wks": 7}
_MONTH_UNITS = {
    "month": 1,
    "months": 1,
    "mo": 1,
    "mths": 1,
    "year": 12,
    "years": 12,
    "yr": 12,
    "yrs": 12,
}


@value
class Found:
    """A window over the tokens `[start, end)`."""

    start: int
    end: int
    window: Window


def day_text(day: date) -> str:
    """A date as answers and record lines write it: "2 Nov 2026"."""
    return f"{day.day} {calendar.month_abbr[day.month]} {day.year}"


_DIGITS = 6
"""A count of more digits is none; nobody looks back so many days."""


def number_of(token: str) -> int | None:
    """A small whole number in digits or as a word, else `None`."""
    if token.isdecimal():
        return int(token) if len(token) <= _DIGITS else None
    return _WORDS.get(token)


def find_window(tokens: Sequence[str], at: int, *, today: date) -> Found | None:
    """The window that begins exactly at token `at`, the longest reading, or `None`.

    Args:
        tokens: Lower-case tokens of the question.
        at: An index into them.
        today: What "past 6 months" counts back from.
    """
    return _relative(tokens, at, today) or _absolute(tokens, at, today)


def _said(tokens: Sequence[str], start: int, end: int) -> str:
    return " ".join(tokens[start:end])


def _relative(tokens: Sequence[str], at: int, today: date) -> Found | None:
    index = at
    while index < len(tokens) and tokens[index] in {
        "in",
        "over",
        "during",
        "within",
        "for",
        "the",
        "since",
    }:
        index += 1
    if any(_has_its_own_end(tokens, index + length) for length in (2, 3)):
        return None
    if index < len(tokens) and (calendar_ := _of_calendar(tokens, at, index, today)) is not None:
        return calendar_
    if index >= len(tokens) or tokens[index] not in _RELATIVE:
        return None
    spelled = tokens[index + 1 : index + 3]
    if not spelled:
        return None
    number = number_of(spelled[0])
    unit, end = (spelled[1], index + 3) if number and len(spelled) > 1 else (spelled[0], index + 2)
    if number is None:
        rolling = tokens[index] == "past" or {"over", "the", "in"} & set(tokens[at:index])
        if index == at or not rolling:
            return None
        number = 1
    if unit in _UNITS:
        start = today - min(timedelta(days=number * _UNITS[unit]), today - date.min)
    elif unit in _MONTH_UNITS:
        start = _months_back(today, number * _MONTH_UNITS[unit])
    else:
        return None
    said = f"in the past {number} {unit}" if number > 1 else f"in the past {unit}"
    return Found(start=at, end=end, window=Window(start=start, end=None, said=said))


_WITH_AN_END = {"life", "lives", "pregnancy", "admission", "stay", "treatment", "course"}


def _has_its_own_end(tokens: Sequence[str], at: int) -> bool:
    """True of "of her life" at `at`: the years before it do not count back from today."""
    return tokens[at : at + 1] == ["of"] and bool(_WITH_AN_END & set(tokens[at + 1 : at + 3]))


def _of_calendar(tokens: Sequence[str], at: int, index: int, today: date) -> Found | None:
    """For "this year", "last month", "since last year": a whole year or month, until today at most."""
    which, what = tokens[index], tokens[index + 1 : index + 2]
    back = {"this": 0, "last": 1, "previous": 1}.get(which)
    month = what in (["month"], ["mth"])
    # "Over the last year" counts back from today.
    rolling = back == 1 and {"over", "the", "within", "during", "in"} & set(tokens[at:index])
    if back is None or rolling or not (month or what == ["year"]):
        return None
    first = _months_back(today.replace(day=1), back) if month else date(today.year - back, 1, 1)
    year_end, month_end = date(first.year, 12, 31), calendar.monthrange(first.year, first.month)[1]
    end = min(today, first.replace(day=month_end) if month else year_end)
    said = f"in {calendar.month_abbr[first.month]} {first.year}" if month else f"in {first.year}"
    window = Window(start=first, end=end, said=said)
    if "since" in tokens[at:index]:
        window = Window(start=first, end=None, said=f"since {day_text(first)}")
    return Found(start=at, end=index + 2, window=window)


def _months_back(today: date, months: int) -> date:
    whole = max(12 * date.min.year, today.year * 12 + today.month - 1 - months)
    year, month = divmod(whole, 12)
    return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def _absolute(tokens: Sequence[str], at: int, today: date) -> Found | None:
    word = tokens[at]
    if word in {"between", "from"}:
        first = _point(tokens, _skip(tokens, at + 1, {"the", "year", "years"}), today)
        if first is not None:
            middle = first[0]
            if middle < len(tokens) and tokens[middle] in {
                "and",
                "to",
                "until",
                "till",
                "through",
                "-",
            }:
                second = _point(tokens, middle + 1, today)
                if second is not None and first[1] <= second[2]:
                    window = Window(
                        start=first[1],
                        end=second[2],
                        said=f"from {day_text(first[1])} to {day_text(second[2])}",
                    )
                    return Found(start=at, end=second[0], window=window)
            if middle < len(tokens) and tokens[middle] in {"on", "onwards", "onward"}:
                return Found(
                    start=at,
                    end=middle + 1,
                    window=Window(start=first[1], end=None, said=f"since {day_text(first[1])}"),
                )
        if word == "between":
            return None
    bounded = _bounded(tokens, at, today)
    if bounded is not None:
        return bounded
    index = _skip(tokens, at, _INSIDE | {"last"})
    led = tokens[at] in _BEFORE_A_MONTH or tokens[at - 1 : at] in (["vs"], ["versus"])
    point = _point(tokens, index, today if led else None)
    if point is None:
        return None
    end, start_day, end_day = point
    if tokens[end : end + 1] in (["-"], ["to"]):
        second = _point(tokens, end + 1)
        if second is not None and start_day <= second[2]:
            window = Window(
                start=start_day,
                end=second[2],
                said=f"from {day_text(start_day)} to {day_text(second[2])}",
            )
            return Found(start=at, end=second[0], window=window)
    return Found(
        start=at,
        end=end,
        window=Window(
            start=start_day, end=end_day, said=_inside(tokens, index, end, start_day, end_day)
        ),
    )


def _inside(tokens: Sequence[str], start: int, end: int, first: date, last: date) -> str:
    if not any(_YEAR.search(token) for token in tokens[start:end]):
        if first == last:
            return f"on {day_text(first)}"
        return f"in {calendar.month_abbr[first.month]} {first.year}"
    said = _said(tokens, start, end).replace(" ,", ",")
    said = re.sub(r"\b[a-z]{3,}\b", lambda match: match[0].capitalize(), said)
    return f"in {said}" if end - start == 1 and _YEAR.match(said) else f"({said})"


def _skip(tokens: Sequence[str], at: int, words: set[str]) -> int:
    while at < len(tokens) and tokens[at] in words:
        at += 1
    return at


def _bounded(tokens: Sequence[str], at: int, today: date) -> Found | None:
    two = _said(tokens, at, at + 2)
    if tokens[at] in _SINCE or two == "ever since":
        side, index = "since", at + (2 if two == "ever since" else 1)
    elif tokens[at] in {"after", "following", "post"}:
        side, index = "after", at + 1
    elif tokens[at] in {"before", "pre"} or two == "prior to":
        side, index = "before", at + (2 if two == "prior to" else 1)
    elif tokens[at] in {"until", "till"} or two == "up to":
        side, index = "until", at + (2 if two == "up to" else 1)
    else:
        return None
    point = _point(tokens, _skip(tokens, index, {"the", "year", "start", "of", "last"}), today)
    if point is None:
        return None
    end, start_day, end_day = point
    if side in _WIDER and tokens[index] == "the" and _names_its_year(tokens, index + 1):
        side = _WIDER[side]
    day = timedelta(days=1)
    window = {
        "since": Window(start=start_day, end=None, said=f"since {day_text(start_day)}"),
        "after": Window(start=end_day + day, end=None, said=f"after {day_text(end_day)}"),
        "before": Window(start=None, end=start_day - day, said=f"before {day_text(start_day)}"),
        "until": Window(start=None, end=end_day, said=f"until {day_text(end_day)}"),
    }[side]
    return Found(start=at, end=end, window=window)


_WIDER = {"after": "since", "before": "until"}


def _names_its_year(tokens: Sequence[str], at: int) -> bool:
    """True of "2015 stroke" at `at`: it happened within that year, which no side of it leaves out."""
    return (
        bool(_YEAR.match(tokens[at])) and tokens[at + 1 : at + 2] != [] and tokens[at + 1].isalpha()
    )


def _point(
    tokens: Sequence[str], at: int, today: date | None = None
) -> tuple[int, date, date] | None:
    """A date, month, quarter or year at `at`: (end token, first day, last day).

    With `today` a month may stand alone: the newest one that has begun.
    """
    if at >= len(tokens):
        return None
    token = tokens[at]
    return _written(token, at) or _spelled(tokens, at, today) or _bare_month(tokens, at, today)


def _bare_month(
    tokens: Sequence[str], at: int, today: date | None
) -> tuple[int, date, date] | None:
    """A month with no year: the newest that has begun, or that of "last year" said after it."""
    month = _MONTHS.get(tokens[at])
    if month is None or today is None:
        return None
    if tokens[at + 1 : at + 3] == ["last", "year"]:
        return _month(at + 3, today.year - 1, month)
    if tokens[at + 1 : at + 3] == ["this", "year"]:
        return _month(at + 3, today.year, month)
    return _month(at + 1, today.year - (month > today.month), month)


def _written(token: str, at: int) -> tuple[int, date, date] | None:
    if found := _ISO.match(token):
        if found[3]:
            day = _date(int(found[1]), int(found[2]), int(found[3]))
            return (at + 1, day, day) if day else None
        return _month(at + 1, int(found[1]), int(found[2]))
    if found := _SLASHED.match(token):
        first, second = int(found[1]), int(found[2])
        if first <= _MONTH_COUNT and second <= _MONTH_COUNT and first != second:
            return None
        month, day_number = (
            (first, second) if second > _MONTH_COUNT or first == second else (second, first)
        )
        day = _date(int(found[3]), month, day_number)
        return (at + 1, day, day) if day else None
    if found := _MONTH_YEAR.match(token):
        return _month(at + 1, int(found[2]), int(found[1]))
    if _YEAR.match(token):
        return at + 1, date(int(token), 1, 1), date(int(token), 12, 31)
    return None


def _spelled(tokens: Sequence[str], at: int, today: date | None) -> tuple[int, date, date] | None:
    parts = [token for token in tokens[at : at + 6] if token not in {",", "of", "the", "."}]
    used = _used(tokens, at)
    match parts:
        case [day, month, year, *_] if _DAY.match(day) and month in _MONTHS and _YEAR.match(year):
            found = _date(int(year), _MONTHS[month], int(_DAY.match(day)[1]))  # type: ignore[index]
            return (used(3), found, found) if found else None
        case [month, day, year, *_] if month in _MONTHS and _DAY.match(day) and _YEAR.match(year):
            found = _date(int(year), _MONTHS[month], int(_DAY.match(day)[1]))  # type: ignore[index]
            return (used(3), found, found) if found else None
        case [month, year, *_] if month in _MONTHS and _YEAR.match(year):
            return _month(used(2), int(year), _MONTHS[month])
        case [quarter, year, *_] if (found_q := _QUARTER.match(quarter)) and _YEAR.match(year):
            first = 3 * int(found_q[1]) - 2
            last = calendar.monthrange(int(year), first + 2)[1]
            return used(2), date(int(year), first, 1), date(int(year), first + 2, last)
        case [day, month, *_] if today and _DAY.match(day) and month in _MONTHS:
            return _this_year(used(2), day, month, today)
        case [month, day, *_] if today and _DAY.match(day) and month in _MONTHS:
            return _this_year(used(2), day, month, today)
        case _:
            return None


def _this_year(end: int, day: str, month: str, today: date) -> tuple[int, date, date] | None:
    """The newest such day that has come."""
    number = int(_DAY.match(day)[1])  # type: ignore[index]
    days = (_date(today.year - back, _MONTHS[month], number) for back in (0, 1))
    found = next((one for one in days if one and one <= today), None)
    return (end, found, found) if found else None


def _used(tokens: Sequence[str], at: int) -> Callable[[int], int]:
    def end(words: int) -> int:
        index, seen = at, 0
        while index < len(tokens) and seen < words:
            seen += tokens[index] not in {",", "of", "the", "."}
            index += 1
        return index

    return end


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month(end: int, year: int, month: int) -> tuple[int, date, date] | None:
    if not 1 <= month <= _MONTH_COUNT:
        return None
    return end, date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
