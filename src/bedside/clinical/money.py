"""Sums of money as people say them: kept as said, with ISO 4217 and a US dollar equivalent. Pure.

"5 lakh INR", "₹5,00,000", "2.5 crore", "12k euros", "between 8 and 10 thousand dollars". A word that
names several currencies ("rupees", "$") is settled by the country, or left open.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from pydantic import BaseModel

from bedside.clinical.packs import PackFile, load_pack
from bedside.core.value import value
from bedside.language.number_words import ONES, TENS

__all__ = ["Money", "Rates", "amounts", "currency_of", "rates", "shown", "usd"]


class _Currency(BaseModel):
    code: str
    per_usd: Decimal
    words: tuple[str, ...]


class _Ambiguous(BaseModel):
    words: tuple[str, ...]
    default: str
    codes: tuple[str, ...]


class _Currencies(PackFile):
    as_of: date
    currencies: tuple[_Currency, ...]
    ambiguous: tuple[_Ambiguous, ...]
    countries: dict[str, tuple[str, ...]]


@value
class Money:
    """A sum at [start, end) of a text (code points, half-open).

    `amount` is in whole units of the currency; `most` is the upper end of a range, `None` for one
    sum. `currency` is an ISO 4217 code, "" where it is open; `candidates` are then the codes that
    the words allow, none where nothing was said. `said` is the text itself. `assumed` is true
    where the code rests on the country or on a default and not on the words alone.
    """

    amount: Decimal
    most: Decimal | None = None
    currency: str = ""
    candidates: tuple[str, ...] = ()
    said: str
    start: int
    end: int
    assumed: bool = False

    def as_value(self, table: Rates | None = None) -> dict[str, Any]:
        """The sum as a state keeps it, by the names of its parts; `amount`, `most`, `usd` as digits.

        `most` is `None` for one sum, `currency` "" and `usd` `None` where the currency is open.
        """
        dollars = usd(self, table)
        return {
            "amount": f"{self.amount.normalize():f}",
            "most": None if self.most is None else f"{self.most.normalize():f}",
            "currency": self.currency,
            "usd": None if dollars is None else f"{dollars:.2f}",
            "said": self.said,
            "assumed": self.assumed,
            "shown": shown(self, table),
        }


@value
class Rates:
    """Units of each currency for one US dollar, on a date. `source` says whose figures."""

    per_usd: Mapping[str, Decimal]
    as_of: date
    source: str


def _table() -> _Currencies:
    return load_pack(_Currencies, "bedside.clinical", "data/currencies.yaml")


@functools.cache
def rates() -> Rates:
    """The shipped rates: yearly averages, for orientation."""
    table = _table()
    return Rates(
        per_usd={one.code: one.per_usd for one in table.currencies},
        as_of=table.as_of,
        source=table.pack.source,
    )


@functools.cache
def _words() -> dict[str, tuple[tuple[str, ...], str]]:
    """Word or sign -> (codes that it may mean, the default among them or "")."""
    table = _table()
    found = {
        word.casefold(): ((one.code,), one.code) for one in table.currencies for word in one.words
    }
    for many in table.ambiguous:
        found |= {word.casefold(): (many.codes, many.default) for word in many.words}
    return found


def currency_of(country: str) -> str:
    """The currency of a country by name or ISO 3166 code; "" where it is not known."""
    asked = " ".join(country.casefold().replace("the ", "").split())
    return next((code for code, names in _table().countries.items() if asked in names), "")


_TIMES = {
    "k": 1_000, "thousand": 1_000, "hazar": 1_000, "hazaar": 1_000, "grand": 1_000, "हज़ार": 1_000,
    "हजार": 1_000, "ألف": 1_000, "آلاف": 1_000, "الف": 1_000,
    "hundred": 100,
    "lakh": 100_000, "lakhs": 100_000, "lac": 100_000, "lacs": 100_000, "lkh": 100_000,
    "l": 100_000, "लाख": 100_000,
    "crore": 10_000_000, "crores": 10_000_000, "cr": 10_000_000, "करोड़": 10_000_000, "करोड": 10_000_000,
    "m": 1_000_000, "mn": 1_000_000, "mil": 1_000_000, "million": 1_000_000, "millions": 1_000_000,
    "مليون": 1_000_000, "billion": 1_000_000_000, "bn": 1_000_000_000,
}  # fmt: skip
_INDIAN = frozenset(
    {"lakh", "lakhs", "lac", "lacs", "lkh", "l", "लाख", "crore", "crores", "cr", "करोड़", "करोड"}
)
_ALSO_WORDS = frozenset(
    {"try", "mad", "le", "rm", "re", "won", "all", "sr", "cad", "kr", "rand", "php"}
)
"""Codes and signs that are words, too: they count only where they are written in capitals."""
_SOUTH_ASIAN = ("INR", "PKR", "NPR", "LKR", "BDT")
_HALVES = {"a": Decimal(1), "an": Decimal(1), "half": Decimal("0.5"), "half a": Decimal("0.5"), "a half": Decimal("0.5"), "quarter": Decimal("0.25"), "a quarter": Decimal("0.25"), "couple": Decimal(2), "a couple of": Decimal(2), "a couple": Decimal(2)}  # fmt: skip
_SPELT = {
    "एक": 1, "दो": 2, "तीन": 3, "चार": 4, "पाँच": 5, "पांच": 5, "छह": 6, "सात": 7, "आठ": 8, "नौ": 9,
    "दस": 10, "बीस": 20, "خمسة": 5, "عشرة": 10, "ثلاثة": 3, "أربعة": 4, "ستة": 6, "سبعة": 7,
    "ثمانية": 8, "تسعة": 9,
}  # fmt: skip


def _alternatives(words: Any) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@functools.cache
def _form() -> re.Pattern[str]:
    simple = _alternatives([*ONES, *TENS, *_SPELT, *_HALVES])
    tens = _alternatives(TENS)
    ones = _alternatives(ONES)
    digits = r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?(?![\d.])|\d{1,3}(?:[,٬' \u00a0\u202f]\d{2,3})+(?:\.\d+)?|\d+(?:[.٫]\d+)?(?:,\d{1,2}(?!\d))?"
    number = rf"(?:{digits}|(?:{tens})[- ](?:{ones})|{simple})"
    times = _alternatives(_TIMES)
    money = _alternatives(_words())
    edge = r"(?![^\W\d_])"
    return re.compile(
        rf"(?<![\w.,])(?P<pre>{money})?\s?(?P<n1>{number})\s?(?:(?P<x1>{times}){edge})?"
        rf"(?:\s?(?P<mid>{money}){edge})?"
        rf"(?:\s?(?:-|–|—|to|or|and|से)\s?(?:{money})?\s?(?P<n2>{number})\s?(?:(?P<x2>{times}){edge})?)?"
        rf"\s?-?(?:(?P<x3>{times}){edge}\s?)?(?:of\s|,\s)?(?:(?P<post>{money}){edge})?",
        re.IGNORECASE,
    )


_ABOUT_TIME_OR_BODY = re.compile(
    r"\s?(?:years?|yrs?|months?|weeks?|days?|hours?|minutes?|kgs?|kilos?|km|kms|cm|mm|mg|ml|met(?:er|re)s?|steps?|"
    r"miles?|percent|%|times|people|beds?|bpm|mmhg|lbs?|stone|साल|سنة|سنوات)\b",
    re.IGNORECASE,
)


def amounts(text: str, *, country: str = "", asked: bool = False) -> tuple[Money, ...]:
    """The sums that a text names, in their order.

    Args:
        text: What was said.
        country: Name or code of the person's country; settles "rupees", "dirhams", "$".
        asked: The text answers a question about money: a bare number of 100 or more counts too.

    Returns:
        One `Money` a sum. A bare number is none unless `asked`; nor is one with another unit.
    """
    plain = "".join(
        str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() and unicodedata.digit(char, -1) >= 0 else char
        for char in text
    )  # fmt: skip
    found: list[Money] = []
    for match in _form().finditer(plain):
        made = _money(text, match, country=country, asked=asked)
        if made is not None:
            found.append(made)
    return tuple(found)


def _money(text: str, match: re.Match[str], *, country: str, asked: bool) -> Money | None:
    words = [
        match[name]
        for name in ("pre", "mid", "post")
        if match[name] and not (match[name].casefold() in _ALSO_WORDS and match[name].islower())
    ]
    scales = [match[name].casefold() for name in ("x1", "x2", "x3") if match[name]]
    first, second = _number(match["n1"]), _number(match["n2"]) if match["n2"] else None
    if not words:
        bare = not [one for one in scales if one in _INDIAN and one != "l"]
        if _ABOUT_TIME_OR_BODY.match(text, match.end()):
            return None
        if bare and not (asked and first * _scale(match, "x1") >= 100):  # noqa: PLR2004 - no price is lower
            return None
        if bare and not scales and _A_YEAR.search(text[: match.end("n1")]):
            return None
    low, most = _range(match, first, second)
    if low <= 0 or (match["n1"].casefold() in _HALVES and not any(len(one) > 1 for one in scales)):
        return None
    said = text[match.start() : match.end()].strip(" -,")
    start = match.start() + text[match.start() : match.end()].index(said)
    code, candidates, assumed = _code(words, scales, country)
    return Money(
        amount=low, most=most, currency=code, candidates=candidates, said=said, start=start,
        end=start + len(said), assumed=assumed,
    )  # fmt: skip


_A_YEAR = re.compile(r"\b(?:in|since|from|until|by|of|year)\s+(?:19|20)\d\d$", re.IGNORECASE)


def _scale(match: re.Match[str], *names: str) -> int:
    """The first scale of these; "two hundred thousand" has two, and both count."""
    found = [_TIMES[match[name].casefold()] for name in names if match[name]]
    if len(found) > 1 and found[0] == _TIMES["hundred"]:
        return found[0] * found[1]
    return found[0] if found else 1


def _range(
    match: re.Match[str], first: Decimal, second: Decimal | None
) -> tuple[Decimal, Decimal | None]:
    """("8 to 10 thousand": the scale of the second serves the first where it has none)."""
    if second is None:
        return first * _scale(match, "x1", "x3"), None
    upper = second * _scale(match, "x2", "x3", "x1")
    lower = first * _scale(match, "x1", "x2", "x3")
    return (lower, upper) if lower < upper else (upper, lower) if upper < lower else (lower, None)


def _number(text: str) -> Decimal:
    plain = text.casefold().strip()
    if plain in _HALVES:
        return _HALVES[plain]
    for table in (ONES, TENS, _SPELT):
        if plain in table:
            return Decimal(table[plain])
    parts = re.split(r"[- ]", plain)
    if len(parts) == 2 and parts[0] in TENS and parts[1] in ONES:  # noqa: PLR2004 - "twenty five"
        return Decimal(TENS[parts[0]] + ONES[parts[1]])
    digits = "".join(
        str(unicodedata.digit(char)) if char.isdigit() else "." if char == "٫" else char
        for char in plain
    )
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?", digits):
        return Decimal(digits.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d+,\d{1,2}", digits):
        return Decimal(digits.replace(",", "."))
    return Decimal(re.sub(r"[,٬'\s]", "", digits))


def _code(words: list[str], scales: list[str], country: str) -> tuple[str, tuple[str, ...], bool]:
    """(code, candidates, assumed) for the words of one sum."""
    home = currency_of(country) if country else ""
    allowed: tuple[str, ...] = ()
    default = ""
    for word in words:
        codes, usual = _words()[word.casefold()]
        if len(codes) == 1:
            return codes[0], (), False
        allowed, default = codes, usual
    if not words:
        if not scales or not set(scales) & _INDIAN:
            return (home, (), True) if home else ("", (), False)
        allowed, default = _SOUTH_ASIAN, "INR"
    if home in allowed:
        return home, (), True
    if default and (not home or default != "USD" or len(allowed) > 1):
        return default, (), True
    if set(scales) & _INDIAN and "INR" in allowed:
        return "INR", (), True
    return "", allowed, False


def usd(money: Money, table: Rates | None = None) -> Decimal | None:
    """The sum in US dollars, unrounded; `None` where the currency is open or has no rate."""
    per = (table or rates()).per_usd.get(money.currency)
    return None if not per else money.amount / per


def shown(money: Money, table: Rates | None = None) -> str:
    """The sum as said, with its code, and in US dollars rounded to two figures.

    "5 lakh INR (~$6,000)". A sum in US dollars stands alone; one whose currency is open says so.
    """
    said = " ".join(money.said.split())
    if not money.currency:
        if not money.candidates:
            return f"{said} (currency not stated)"
        return f"{said} (currency open: {' or '.join(money.candidates)})"
    named = said if money.currency.casefold() in said.casefold() else _with_code(said, money)
    low = usd(money, table)
    if money.currency == "USD" or low is None:
        return named
    about = f"~${_rounded(low)}"
    if money.most is not None:
        per = (table or rates()).per_usd[money.currency]
        about += f" to ${_rounded(money.most / per)}"
    return f"{named} ({about})"


def _with_code(said: str, money: Money) -> str:
    """The code stands after the number and scale, in place of a bare local word."""
    return f"{said} {money.currency}"


def _rounded(amount: Decimal) -> str:
    """Two significant figures; below 100 whole dollars."""
    step = Decimal(10) ** max(0, amount.adjusted() - 1)
    return f"{(amount / step).quantize(Decimal(1), ROUND_HALF_UP) * step:,.0f}"
