"""Numbers as people write them: digits, words, ages, heights. Pure."""

from __future__ import annotations

import re

from bedside.core.value import value
from bedside.flows.intake.lexicon import RELATIVE
from bedside.language.number_words import ONES, TENS

__all__ = ["Number", "age_in", "ages_in", "numbers_in", "to_come"]

_TENS = {**TENS, "fourty": 40}
_SMALL = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(_TENS)
_WORDS = re.compile(
    rf"(?<![\w-])(?:(?P<hundreds>{_SMALL}|a)\s+hundred(?:\s+and)?\s*)?"
    rf"(?:(?P<tens>{_TEN})(?:[\s-]+(?P<ones>{_SMALL}))?|(?P<small>{_SMALL}))?(?![\w])",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.,])\d+(?:\.\d+)?")
_INDIC = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९", "0123456789" * 3)
_NO_NUMBER = re.compile(
    r"\b(?:no one|one (?:of|more|thing|question|day|that|is|in)|another one|this one|that one|the one|"
    r"(?:left|right|first|second|any|some|every|each|which|good|bad|new|old) one|one another)\b",
    re.IGNORECASE,
)


@value
class Number:
    """A number at `[start, end)`."""

    value: float
    start: int
    end: int

    @property
    def plain(self) -> int | float:
        """An integer where it is one."""
        return int(self.value) if self.value == int(self.value) else self.value


def numbers_in(text: str) -> tuple[Number, ...]:
    """Every number of the text in its order, digits (also Arabic and Indic ones) and words."""
    plain = text.translate(_INDIC)
    found = [
        Number(value=float(match.group().replace(",", "")), start=match.start(), end=match.end())
        for match in _DIGITS.finditer(plain)
    ]
    barred = [match.span() for match in _NO_NUMBER.finditer(plain)]
    for match in _WORDS.finditer(plain):
        if not match.group().strip() or any(a <= match.start() < b for a, b in barred):
            continue
        total = 0
        if (hundreds := match["hundreds"]) is not None:
            total += 100 * (1 if hundreds.lower() == "a" else ONES[hundreds.lower()])
        if match["tens"]:
            total += _TENS[match["tens"].lower()]
        if match["ones"]:
            total += ONES[match["ones"].lower()]
        if match["small"]:
            total += ONES[match["small"].lower()]
        end = match.start() + len(match.group().rstrip())
        found.append(Number(value=float(total), start=match.start(), end=end))
    return tuple(sorted(found, key=lambda one: one.start))


_N = rf"(?:\d{{1,3}}|(?:{_TEN})(?:[\s-]+(?:{_SMALL}))?|{_SMALL})"
_AGE = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\w-])(?P<n>{_N})[\s-]*(?:years?|yrs?|yr)[\s-]*(?:old|of age)\b",
        r"(?<![\w-])(?P<n>\d{1,3})\s*(?:y/?o|yo|y\.o\.)\b",
        rf"\bage(?:d)?(?:\s+is|\s*[:=]|\s+of)?\s+(?P<n>{_N})\b",
        r"(?<![\w-])(?P<n>\d{2})\s?(?:/\s?)?(?:[MF]|male|female|man|woman)(?![\w])",
        rf"\b{RELATIVE},?\s+(?P<n>\d{{2,3}})\s*(?:yrs?|years?|saal)(?=\s*(?:[.,;]|$|k[aei]\b))",
        rf"\b(?:my|our)\s+(?:\w+\s+)?{RELATIVE}(?:,|\s*\()\s*(?P<n>\d{{1,3}})(?=\s*[,)])",
        rf"\b{RELATIVE}(?:'s|’s| is| has just turned| just turned| turned)\s+(?:now |about |almost |nearly |only )?(?P<n>\d{{2,3}})(?=\s*(?:$|[.,;!?)]|and\b|but\b|now\b|years?\b))",
        r"(?:^|(?<=\s))(?:im|i am)\s+(?P<n>\d{2})(?=\s+(?:btw|by the way)\b)",
        (
            rf"\b(?:i am|i'm|im|i’m|she is|she's|he is|he's|they are|just turned|turned|turning)\s+"
            rf"(?:now |about |almost |nearly |only |around )?(?P<n>\d{{2,3}}|(?:{_TEN})(?:[\s-]+(?:{_SMALL}))?)"
            r"(?=\s*(?:$|[.,;!?\n)]|and\b|but\b|actually\b|already\b|btw\b|by the way\b|so\b|female\b|male\b|years?\b|yrs?\b|now\b|from\b|living\b|this\b|last\b|next\b|with\b|in [A-Z]))"
        ),
        rf"(?<![\w-])(?P<n>{_N})\s+years?\s+(?:young)\b",
        rf"\b(?:my|our|for)\s+(?:\w+\s+)?{RELATIVE},?\s+(?P<n>\d{{2}})(?![\w.,]*\d)(?!\s*(?:%|kgs?\b|k\b|lakh|usd\b|dollars?|pounds?|days?\b|weeks?\b|months?\b|years? (?:ago|back)\b|times\b))\b",
        r"(?:^|(?<=[.!?,;]\s))am\s+(?P<n>\d{2})(?=\s*(?:[.,;!\n]|$))",
        r"\b(?:i|he|she) (?:have|has|got)\s+(?P<n>\d{2})\s+(?:years?|yrs?)(?=\s*(?:$|[.,;!?\n]|and\b|old\b))",
        r"\bnow at (?P<n>\d{2})(?=\s+(?:the|my|i|she|he|and|with)\b|\s*[,.!?])",
        r"\b(?:shes|hes|i'm a|im a)\s+(?P<n>\d{2})(?!\d|\s*(?:%|kg|km))",
        r"(?:عمري|عمرها|عمره)\s+(?P<n>[\d٠-٩]{1,3})",
        r"(?P<n>[\d०-९]{1,3})\s*(?:साल|वर्ष)",
        r"\b(?:male|female|man|woman)\W{1,3}(?P<n>\d{2})\s*(?:yrs?|years?|y)\b",
        r"(?<![\w.,-])(?P<n>\d{2})\s*(?:yrs?|years?|y)\W{1,3}(?:male|female|man|woman|m|f)\b",
        rf"(?:^|[.!?]\s+|,\s*|\b{RELATIVE}\b[^.!?]{{0,60}}[.!?]?\s)(?:she|he|me a|i)\s+(?P<n>\d{{2}})(?=\s+(?:and|now|yrs?|years?|has|with)\b|\s*[.,!?]|$)",
        r"(?:उम्र|आयु)\s*(?:है\s*)?(?P<n>\d{1,3})(?!\d)",
        r"(?:^|(?<=[.!?]\s))(?P<n>\d{2}) and (?=walk|can|on|has|have|in|still|need)",
        r"(?P<n>[\d٠-٩]{1,3})\s*(?:سنة|عاما|عامًا|سنوات)",
    )
)
_SINCE = re.compile(
    r"^\s*(?:ago|back|since|history|experience|with (?:this|the|my)|of (?:pain|trying|marriage|ivf)|से(?=\s|$))",
    re.IGNORECASE,
)


_FROM = re.compile(r"(?:منذ|من|قبل|متزوج\S*|متجوز\S*|صار\S*)\s+(?:من\s+)?$")


_TO_COME = re.compile(
    r"(?:\b(?:will|shall|going to|about to|gonna) (?:be|turn)|'ll (?:be|turn)|’ll (?:be|turn)|\bturn(?:s|ing)?|\bnearly|\balmost)\s+$"
    r"|,\s*$",
    re.IGNORECASE,
)
_LATER = re.compile(r"\s*(?:in|next|this|on|come)\b", re.IGNORECASE)


def to_come(text: str, one: Number) -> bool:
    """Is it an age that somebody will be: "he'll be 70 in May", "38, 39 in April"?"""
    return (
        _TO_COME.search(text[: one.start]) is not None and _LATER.match(text, one.end) is not None
    )


def age_in(text: str) -> Number | None:
    """The first age that `ages_in` finds; `None` where the text states none."""
    return next(iter(ages_in(text)), None)


def ages_in(text: str) -> tuple[Number, ...]:
    """The ages that the text states of somebody, by its own words, the surest first.

    "62 years old", "aged 62", "I'm 62", "sixty-two years old"; "for 10 years" is a duration.
    """
    out: dict[int, Number] = {}
    plain = text.translate(_INDIC)
    for form in _AGE:
        for match in form.finditer(plain):
            if _SINCE.match(plain[match.end() :]) or _FROM.search(plain[: match.start()]):
                continue
            inside = numbers_in(match["n"])
            if inside and 0 <= inside[0].value <= 120:  # noqa: PLR2004 - the oldest anybody was
                one = Number(value=inside[0].value, start=match.start("n"), end=match.end("n"))
                if not to_come(plain, one):
                    out.setdefault(one.start, one)
    return tuple(out.values())
