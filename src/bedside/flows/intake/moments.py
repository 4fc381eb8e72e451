"""When something was, and how long it lasted, as people say it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.core.value import value
from bedside.language.dates import dates

__all__ = ["Moment", "lengths", "moments", "names_time"]

_COUNT = (
    r"(?:\d+(?:[.,]\d+)?(?:\s?(?:-|–|to|or)\s?\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|fifteen|eighteen|twenty|thirty|several|many|a few|few|a couple(?: of)?|couple of|half an?|one and a half)"
)
_UNIT = r"(?:years?|yrs?|yr|months?|mths?|mo|weeks?|wks?|wk|days?|hours?|decades?)"
_LENGTH = re.compile(
    rf"(?<![\w.,])(?:(?:over|about|almost|nearly|around|roughly|maybe|some|more than|less than|at least)\s+)?"
    rf"{_COUNT}(?:\s+and\s+a\s+half)?[\s-]?{_UNIT}(?:\s+and\s+a\s+half)?(?![\w])(?:\s+now(?!\w))?",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"[\d०-९٠-٩]+\s*(?:साल|वर्ष|महीन\S*|سنة|سنوات|سنين|عام|أعوام|شهر|أشهر|شهور)(?:\s+से(?=\s|$))?|(?:सालों|महीनों)\s+से"
)
_AGO = re.compile(r"\s*(?:ago|back|earlier)(?!\w)", re.IGNORECASE)
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter|christmas|new year|easter|eid|ramadan|diwali)"
_WHEN = re.compile(
    rf"(?<![\w-])(?:(?:early|mid|late|end of|beginning of|start of|around|about|since|in|on|before|after|during|by|last|this|past)[\s-]+){{1,3}}(?:the\s+)?"
    rf"(?:{_MONTH}|{_SEASON}|week(?:end)?|month|year|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?![\w])(?:,?\s+(?:of\s+)?(?:last year|this year|'?\d{{2,4}}))?"
    rf"|(?<![\w-]){_MONTH}(?:,?\s+(?:of\s+)?(?:last year|this year|(?:19|20)\d\d|\d{{1,2}}(?:st|nd|rd|th)))(?![\w])"
    r"|(?<![\w-])(?:yesterday|today|the other day|recently|just now|the day before yesterday|long ago|ages ago|a while ago|a long time ago|since birth|since childhood|as a child)(?![\w])"
    r"|(?<![\w.,/-])(?:in\s+|since\s+|from\s+|around\s+|back in\s+)?(?:19|20)\d\d(?![\w.,%/-]*\d)"
    rf"|^\W*{_MONTH}\W*$|(?<![\w-])(?:last|this|on) [a-z]+ (?:day|night|festival|weekend)(?![\w])",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z]")


@value
class Moment:
    """Words for a time at [start, end)."""

    start: int
    end: int


def lengths(text: str) -> tuple[Moment, ...]:
    """Stretches of time, in order: "three years", "18 months now", "a year and a half"."""
    return tuple(
        Moment(start=match.start(), end=match.end())
        for form in (_LENGTH, _ELSEWHERE)
        for match in form.finditer(text)
        if not re.match(r"[\s-]*(?:old|of age)\b", text[match.end() :], re.IGNORECASE)
    )


def moments(text: str) -> tuple[Moment, ...]:
    """Points in time, in order: "in March", "three weeks ago", "June 2024", "last summer"."""
    found = [(one.start, one.end) for one in dates(text)]
    found += [match.span() for match in _WHEN.finditer(text)]
    for one in lengths(text):
        ago = _AGO.match(text, one.end)
        if ago:
            found.append((one.start, ago.end()))
    return tuple(Moment(start=a, end=b) for a, b in _merged(found))


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping spans as one, in order."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def names_time(text: str) -> bool:
    """Do the words name a time, or are they in a script whose times are not read here?"""
    return bool(moments(text) or lengths(text)) or _LATIN.search(text) is None
