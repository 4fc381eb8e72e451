"""Figures as they are written: numbers, comparators, ranges, units, frequencies. Pure.

Nothing is converted or rounded here. A figure keeps its digits ("8.20" is not "8.2"); a unit gets
one spelling ("ug", "µg" and "mcg" are "mcg"; "mL/min/{1.73_m2}" is "ml/min/1.73m2"), never another
unit. Numbers that are part of a name (B12, A1c, SARS-CoV-2), list counters, citation markers and
dates are no figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from bedside.core.value import value
from bedside.language.dates import Written, dates

__all__ = ["Frequency", "Quantity", "frequencies", "quantities", "unit_key"]

Comparator = Literal["", "<", "<=", ">", ">=", "~"]


@value
class Quantity:
    """A figure at `text[start:end]`.

    `low` is the figure, or the lower end of a range whose upper end is `high` (`None` for a single
    figure; "120/80" is the figure 120 with `high` 80 and `joint` "/"). `unit` is the unit's one
    spelling, empty where none is written. Decimals keep the places that were written. `reached` is
    True where an upper bound is also where something goes ("may go up to 200 mg").
    """

    start: int
    end: int
    low: Decimal
    high: Decimal | None = None
    joint: Literal["", "-", "/"] = ""
    comparator: Comparator = ""
    unit: str = ""
    number_end: int = 0
    reached: bool = False

    @property
    def figure(self) -> tuple[str, str | None]:
        """The digits as written without thousands separators; equal only if written alike."""
        return str(self.low), None if self.high is None else str(self.high)


@value
class Frequency:
    """How often, at `text[start:end]`. `label` is one spelling, such as "2/day" or "prn"."""

    start: int
    end: int
    label: str


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
_COMPARATORS: dict[str, Comparator] = {
    "<": "<", ">": ">", "<=": "<=", ">=": ">=", "=<": "<=", "=>": ">=", "≤": "<=", "≥": ">=",
    "⩽": "<=", "⩾": ">=", "~": "~", "≈": "~", "less than or equal to": "<=",
    "greater than or equal to": ">=", "more than or equal to": ">=", "no more than": "<=",
    "not more than": "<=", "no less than": ">=", "not less than": ">=", "up to": "<=",
    "at most": "<=", "at least": ">=", "less than": "<", "lower than": "<", "smaller than": "<",
    "fewer than": "<", "more than": ">", "greater than": ">", "higher than": ">",
    "approximately": "~", "below": "<", "under": "<", "above": ">", "over": ">",
    "exceeding": ">", "exceeds": ">", "exceed": ">", "exceeded": ">", "about": "~", "around": "~", "minimum of": ">=", "maximum of": "<=",
}  # fmt: skip
_COMPARE = re.compile(
    r"(?:^|(?<!\w))("
    + "|".join(
        re.escape(words).replace(r"\ ", r"\s+")
        for words in sorted(_COMPARATORS, key=len, reverse=True)
    )
    + r")[\s*_]*$",
    re.IGNORECASE,
)
_COMPARE_FAR = re.compile(
    r"(?<!\w)("
    + "|".join(sorted((w for w in _COMPARATORS if w.isalpha()), key=len, reverse=True))
    + r")\s+(?:an?|the)\s+(?:[^\W\d_][\w-]*\s+){1,3}of[\s*_]*$",
    re.IGNORECASE,
)
_GOES = re.compile(
    r"\b(?:go|goes|going|went|gone|moved?|stepped|titrated?) up to[\s*_]*\Z", re.IGNORECASE
)
_SIGNS = frozenset("<>=≤≥⩽⩾~≈")
_LAST_WORDS = frozenset(words.rpartition(" ")[2] for words in _COMPARATORS)
_LOOK_BACK = 30
_LOOK_FAR = 70
_AND_ABOVE = re.compile(
    r"[\s*_]*(?:\([^()\n]{1,30}\)\s*)?(?:and|or)\s+(above|over|more|higher|greater|below|under|less|lower)\b",
    re.IGNORECASE,
)
_UNIT_WORDS: dict[str, str] = {}
for _key, _words in {
    "mg": "mg milligram milligrams milligramme milligrammes mgs",
    "g": "g gram grams gm gms gramme grammes",
    "kg": "kg kilogram kilograms kgs",
    "mcg": "mcg µg μg ug microgram micrograms microgramme microgrammes mcgs",
    "ng": "ng nanogram nanograms",
    "pg": "pg picogram picograms",
    "fl": "fl femtolitre femtoliter",
    "ml": "ml millilitre millilitres milliliter milliliters mls cc",
    "l": "l litre litres liter liters",
    "dl": "dl decilitre deciliter",
    "mmol": "mmol millimole millimoles",
    "mol": "mol mole moles",
    "umol": "umol µmol μmol micromol mcmol",
    "nmol": "nmol",
    "pmol": "pmol",
    "meq": "meq milliequivalent milliequivalents",
    "iu": "iu units unit u international_units",
    "mu": "mu",
    "miu": "miu m[iu]",
    "uiu": "uiu µiu μiu uu µu",
    "ku": "ku",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "m": "m metre metres meter meters",
    "in": "inches inch",
    "lb": "lb lbs pound pounds",
    "mmhg": "mmhg mm[hg]",
    "kpa": "kpa",
    "bpm": "bpm beats/min beats/minute",
    "/min": "/min /minute breaths/min",
    "h": "h hr hrs hour hours",
    "min": "min mins minute minutes",
    "s": "sec secs second seconds",
    "d": "day days d",
    "wk": "week weeks wk wks",
    "mo": "month months mo",
    "a": "year years yr yrs a",
    "%": "% percent",
    "°c": "°c cel degc ℃",
    "°f": "°f degf ℉ [degf]",
    "tablet": "tablet tablets tab tabs",
    "capsule": "capsule capsules cap caps",
    "puff": "puff puffs",
    "drop": "drop drops gtt gtts",
    "dose": "dose doses",
    "time": "times",
    "fold": "fold",
    "cell": "cells cell",
    "copies": "copies",
    "mosm": "mosm",
    "ratio": "{ratio}",
    "score": "{score}",
    "m2": "m2 m² m^2",
}.items():
    for _word in _words.split():
        _UNIT_WORDS[_word.replace("_", " ")] = _key
_ATOM = (
    r"(?:mm\s?hg|mm\[hg\]|\[degf\]|international units|micro(?:gram|mol)s?|"
    r"(?:x\s?)?10\s?[\^*]\s?\d+|10[⁰-⁹¹²³]+|[kK](?=/)|thou(?=/)|1\.73\s?m(?:2|²|\^2)?|"
    + "|".join(
        sorted((re.escape(word) for word in _UNIT_WORDS if word != "%"), key=len, reverse=True)
    )
    + r")"
)
_UNIT = re.compile(
    r"\s?(?P<unit>%|°\s?[cf]\b|"
    rf"(?:{_ATOM}(?![^\W\d_]))(?:\s?(?:/|\bper\b)\s?(?:{_ATOM}(?![^\W\d_])|\{{1\.73_m2\}}|\{{[a-z]+\}}|\d{{1,3}}\s?(?:ml|g|kg|l|h|hr|hrs|hours)\b|[a-z]{{1,12}}\b))*"
    r"|/(?:min(?:ute)?|h(?:r|our)?|day|d)\b|\{(?:ratio|score|inr)\})",
    re.IGNORECASE,
)
_COMMA = rf"(?<!\d,)\d{{1,4}},\d{{1,2}}(?=\s?(?:%|{_ATOM}(?![^\W\d_])))"
"""A decimal comma ("12,5 mg/L"): one or two digits and a unit follow, so it parts no thousands."""
_QUANTITY = re.compile(
    rf"(?<![\w.])(?P<low>{_COMMA}|{_NUMBER})(?:\s?%)?"
    rf"(?:(?P<joint>\s?[-–—−]\s?|\s+to\s+|\s?/\s?(?=\d))(?P<high>{_COMMA}|{_NUMBER})(?![\d.]*[-/]\d))?"
    r"(?!\d)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_NAMED = re.compile(r"[^\W_][\w]*-$")
_COUNTER = re.compile(r"(?m)^[ \t]*(?:[-*>•#]+[ \t]*)?\(?\d{1,2}[.)](?=[ \t])")
_MARKER = re.compile(r"\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]")
_POWER = re.compile(r"(?:x\s?)?10\s?(?:[\^*]\s?)?([0-9⁰¹²³⁴-⁹]+)$", re.IGNORECASE)
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@lru_cache(maxsize=1_024)
def unit_key(unit: str) -> str:
    """The one spelling of a unit: "µg" and "ug" give "mcg", "mm[Hg]" gives "mmhg".

    Returns:
        A key equal only for spellings of the same unit; "" for "". No conversion: "mg" is not "g".
    """
    bare = unit.strip().replace("\u00b5", "u").replace("\u03bc", "u").replace("−", "-")
    if not bare:
        return ""
    low = bare.lower()
    low = re.sub(r"\{1\.73_m2\}|1\.73\s?m(?:2|²|\^2)?", "1.73m2", low)
    low = re.sub(r"mm\s?hg|mm\[hg\]", "mmhg", low)
    low = re.sub(r"\s*(?:/|\bper\b)\s*", "/", low)
    low = re.sub(r"\s+", " ", low).strip()
    return "/".join(_atom(part) for part in low.split("/"))


def _atom(part: str) -> str:
    part = part.strip()
    power = _POWER.fullmatch(part)
    if power:
        return "10^" + power[1].translate(_SUPER)
    if part in {"k", "thou", "thousand"}:
        return "10^3"
    if part.startswith("{") and part.endswith("}"):
        return part[1:-1]
    known = _UNIT_WORDS.get(part) or _UNIT_WORDS.get(part.replace("ug", "µg", 1))
    if known:
        return known
    return re.sub(r"\s", "", part)


def quantities(text: str, *, known: Sequence[Written] | None = None) -> list[Quantity]:
    """Every figure of `text`, in order.

    Dates, list counters ("2." at a line's start), citation markers ("[3]"), and digits that are
    part of a word ("HbA1c", "COVID-19", "T2DM") are left out.

    Args:
        text: Any text.
        known: The dates of the text, where the caller has them already.
    """
    if _DIGIT.search(text) is None:
        return []
    taken = [(found.start, found.end) for found in (dates(text) if known is None else known)]
    taken += [match.span() for match in _MARKER.finditer(text)]
    taken += [match.span() for match in _COUNTER.finditer(text)]
    found: list[Quantity] = []
    at = 0
    while (match := _QUANTITY.search(text, at)) is not None:
        at = match.end("low")
        start, end = match.start("low"), match.end()
        if any(a < end and start < b for a, b in taken):
            if any(a <= start < b for a, b in taken):
                continue
            end = match.end("low")  # "5 - 2024-05-01": the range would eat a date
            match = _QUANTITY.match(text[:end], start)
            if match is None:
                continue
        if _part_of_a_name(text, start, match.end("high") if match["high"] else match.end("low")):
            continue
        quantity = _quantity(text, match)
        found.append(quantity)
        at = quantity.end
    return found


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    low, high = _decimal(match["low"]), None
    joint: Literal["", "-", "/"] = ""
    end = match.end("low")
    percent_between = (
        "%" in text[match.end("low") : match.start("joint")] if match["high"] else False
    )
    if match["high"]:
        high, end = _decimal(match["high"]), match.end("high")
        joint = "/" if "/" in match["joint"] else "-"
    unit = _UNIT.match(text, end)
    number_end = end
    key = ""
    if unit is not None and _is_unit(text, unit):
        key, end = unit_key(unit["unit"]), unit.end()
    elif percent_between:
        key = "%"
    comparator, start = _comparator(text, match.start("low"))
    if not comparator:
        after = _AND_ABOVE.match(text, end)
        if after:
            up = after[1].lower() in {"above", "over", "more", "higher", "greater"}
            comparator = ">=" if up else "<="
    return Quantity(
        start=start,
        end=end,
        low=low,
        high=high,
        joint=joint,
        comparator=comparator,
        unit=key,
        number_end=number_end,
        reached=comparator == "<=" and _GOES.search(text, 0, match.start("low")) is not None,
    )


def _comparator(text: str, at: int) -> tuple[Comparator, int]:
    """The comparison written before a figure, and where it begins; else "" and the figure's."""
    before = text[max(0, at - _LOOK_BACK) : at]
    bare = before.rstrip()
    if bare.lower().endswith("range of"):  # "above its range of 3.5-5.1"
        return "", at
    if bare.endswith(" of"):  # "below an eGFR of 45"
        far = _COMPARE_FAR.search(text[max(0, at - _LOOK_FAR) : at])
        if far is not None:
            return _COMPARATORS[far[1].lower()], at
    if not bare or not (bare[-1] in _SIGNS or bare.rsplit(None, 1)[-1].lower() in _LAST_WORDS):
        return "", at
    match = _COMPARE.search(before)
    if match is None:
        return "", at
    words = " ".join(match[1].lower().split())
    return _COMPARATORS[words], at - len(before) + match.start(1)


def _is_unit(text: str, unit: re.Match[str]) -> bool:
    """A lone letter after a blank is a unit only in a unit's place ("5 g", not "5 A")."""
    word = unit["unit"]
    if len(word) > 1 or word == "%":
        return True
    if word in {"a", "A", "d", "s", "D", "S", "U", "M", "H", "L"} and text[unit.start()] == " ":
        return word in {"L", "U"}
    return True


def _decimal(written: str) -> Decimal:
    head, comma, tail = written.rpartition(",")
    if comma and len(tail) < 3:  # noqa: PLR2004 - thousands come by three
        return Decimal(f"{head}.{tail}")
    return Decimal(written.replace(",", ""))


def _part_of_a_name(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 24) : start]
    if before[-1:] in {"#", "_", "^"} or before[-2:].lower() == "0x":
        return True
    if _NAMED.search(before) and not before[:-1][-1:].isdigit():
        return True
    after = text[end : end + 1]
    return (after.isalpha() or after == "_") and _UNIT.match(text, end) is None


_PER_DAY = {
    "once": "1", "twice": "2", "one": "1", "two": "2", "three": "3", "thrice": "3", "four": "4",
    "five": "5", "six": "6", "1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6",
}  # fmt: skip
_PERIOD = {
    "daily": "day", "day": "day", "d": "day", "week": "week", "weekly": "week", "month": "month",
    "monthly": "month", "year": "year", "yearly": "year", "annually": "year", "hour": "hour",
    "hours": "hour", "fortnight": "fortnight", "night": "day", "morning": "day", "evening": "day",
    "bedtime": "day",
}  # fmt: skip
_HOURS = {"24": "1/day", "12": "2/day", "8": "3/day", "6": "4/day", "4": "6/day", "48": "1/2day"}
_FREQUENCY = re.compile(
    r"(?P<prn>\b(?:p\.?r\.?n\.?|as needed|as required|when required|if needed|if required)(?!\w))"
    r"|(?P<stat>\bstat\b|\bsingle dose\b|\bas a single dose\b)"
    r"|\b(?P<n>once|twice|thrice|one|two|three|four|five|six|[1-6])\s*(?:times?|x|×)?\s*"
    r"(?:(?:a|per|each|every|/)\s*)?(?P<period>daily|day|weekly|week|monthly|month|yearly|year|hour)\b"
    r"|\bevery\s+(?P<every>\d{1,3})(?:\s?-\s?(?P<every2>\d{1,3}))?\s*-?(?P<everyp>hours?|hrs?|h|days?|weeks?|months?)\b"
    r"|\b(?P<hourly>\d{1,2})(?:\s?-\s?(?P<hourly2>\d{1,2}))?\s*-?\s*(?:hourly|hrly)\b"
    r"|\bq\s?(?P<q>\d{1,2})(?:\s?-\s?(?P<q2>\d{1,2}))?\s?(?:h|hr|hrs|hours?)\b"
    r"|\b(?P<latin>o\.?d\.?|q\.?d\.?|b\.?i\.?d\.?|b\.?d\.?|t\.?i\.?d\.?|t\.?d\.?s\.?|q\.?i\.?d\.?|"
    r"q\.?d\.?s\.?|q\.?h\.?s\.?|nocte|mane|o\.?n\.?|o\.?m\.?|q\.?o\.?d\.?)(?![\w])"
    r"|\b(?P<alternate>(?:on\s+)?alternate days?|every other day|every second day)\b"
    r"|\b(?:every|each|per|a|in the|at)\s*(?P<each>day|week|fortnight|month|year|morning|evening|night|bedtime)\b"
    r"|(?<=\w)\s?/\s?(?P<slash>day|d|week|month)\b"
    r"|\b(?P<word>daily|nightly|weekly|fortnightly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_LATIN = {
    "od": "1/day", "qd": "1/day", "bid": "2/day", "bd": "2/day", "tid": "3/day", "tds": "3/day",
    "qid": "4/day", "qds": "4/day", "qhs": "1/day", "nocte": "1/day", "mane": "1/day",
    "on": "", "om": "1/day", "qod": "1/2day",
}  # fmt: skip
_WORD = {
    "daily": "1/day", "nightly": "1/day", "weekly": "1/week", "fortnightly": "1/2week",
    "monthly": "1/month", "yearly": "1/year", "annually": "1/year",
}  # fmt: skip


def frequencies(text: str) -> list[Frequency]:
    """How often something is done, in order: "twice daily", "b.d." and "12 hourly" are "2/day"."""
    found: list[Frequency] = []
    for match in _FREQUENCY.finditer(text):
        label = _label(match)
        if label:
            found.append(Frequency(start=match.start(), end=match.end(), label=label))
    return found


def _label(match: re.Match[str]) -> str:  # noqa: PLR0911 - one line for each way of writing it
    get = match.groupdict().get
    if get("prn"):
        return "prn"
    if get("stat"):
        return "stat"
    if period := get("period"):
        return f"{_PER_DAY[match['n'].lower()]}/{_PERIOD[period.lower()]}"
    if every := get("every"):
        unit = match["everyp"].lower()[0]
        if unit == "h":
            return _hours(every, get("every2"))
        return f"1/{every}{ {'d': 'day', 'w': 'week', 'm': 'month'}[unit] }"
    if hourly := get("hourly") or get("q"):
        return _hours(hourly, get("hourly2") or get("q2"))
    if latin := get("latin"):
        if latin in {"on", "On", "ON", "OM", "Om"}:
            return ""
        return _LATIN[latin.lower().replace(".", "")]
    if get("alternate"):
        return "1/2day"
    if each := get("each") or get("slash"):
        return "1/" + _PERIOD[each.lower()]
    return _WORD[match["word"].lower()]


def _hours(low: str, high: str | None) -> str:
    if high:
        return f"every {low}-{high}h"
    return _HOURS.get(low, f"every {low}h")
