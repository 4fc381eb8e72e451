"""Figures written as words: "two readings", "half a tablet", "three weeks". Pure.

Only a number word that counts something is a figure: it stands before a unit, a form of a medicine
or a thing that charts count. "One of the", "a second reading" and "first-line" are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from bedside.language.dates import Written
from bedside.language.number_words import ONES, TENS
from bedside.language.quantities import Frequency, Quantity, quantities, unit_key

__all__ = ["has_number_words", "spelled", "worded"]

_COUNTS = tuple(word for word, number in ONES.items() if number)
_VALUES: dict[str, Decimal] = {
    **{word: Decimal(number) for word, number in {**ONES, **TENS}.items() if number},
    "hundred": Decimal(100),
    "half": Decimal("0.5"),
    "quarter": Decimal("0.25"),
    "dozen": Decimal(12),
    "½": Decimal("0.5"),
    "¼": Decimal("0.25"),
    "¾": Decimal("0.75"),
}
_SIMPLE = rf"(?:(?:{'|'.join(TENS)})(?:[\s-](?:{'|'.join(_COUNTS[:9])}))?|{'|'.join(_COUNTS)})"
_FORMS = (
    "tablets? tabs? capsules? caps? puffs? drops? doses? units? sachets? patch(?:es)? vials? ampoules? "
    "spoonfuls? teaspoons? tablespoons? sprays? injections? suppositor(?:y|ies) pills? inhalations?"
)
_TIMES = "minutes? hours? days? weeks? months? years? weeks-long"
_MEASURES = (
    "mg milligrams? mcg micrograms? grams? kg kilograms? ml millilit(?:re|er)s? lit(?:re|er)s? cm mm percent pounds? lbs? "
    "centimet(?:re|er)s? millimet(?:re|er)s? inches points?"
)
_COUNTED = (
    "readings? measurements? values? results? episodes? attacks? seizures? falls? admissions? "
    "hospitali[sz]ations? visits? encounters? prescriptions? medications? medicines? drugs? allerg(?:y|ies) "
    "problems? conditions? procedures? operations? surger(?:y|ies) cycles? courses? sessions? transfusions? "
    "stents? vessels? lesions? nodules? stones? fractures? pregnanc(?:y|ies) miscarriages? deliver(?:y|ies) "
    "children sons? daughters? brothers? sisters? siblings? cigarettes? packs? pack-years? drinks? beers? "
    "glasses pillows? stairs? flights? blocks? miles? exacerbations? relapses? infections? times occasions? "
    "vaccinations? immuni[sz]ations? tests? samples? biops(?:y|ies) scans? polyps? joints? lymph\\s+nodes?"
)
_NOUNS = "|".join(
    word.replace("\\s+", r"\s+") for word in f"{_FORMS} {_TIMES} {_MEASURES} {_COUNTED}".split()
)
_ADJECTIVE = (
    r"(?:(?:more|further|separate|earlier|later|previous|prior|recent|consecutive|recorded|documented|active|"
    r"abnormal|raised|elevated|high|low|normal|blood|pressure|bp|glucose|hba1c|a1c|potassium|creatinine|egfr|"
    r"fasting|clinic|home|hospital|emergency|daily|oral|small|large|full|whole|live|living|adult|young|drug|"
    r"sugar|lipid|lab|laboratory|heart|rate|white|red|metered|coronary|febrile|asthma|migraine)\s+){0,3}"
)
_WORDED = re.compile(
    rf"(?<![\w.-])(?:(?P<half>half|a half|one[\s-]half|(?:a )?quarter|½|¼|¾|1/2|1/4|3/4)(?:\s+of)?(?:\s+an?)?(?=[\s-])"
    rf"|(?P<and>{_SIMPLE}|\d{{1,2}})(?:\s+and\s+(?:a|one)[\s-]half|\s?½)"
    rf"|(?P<low>{_SIMPLE})(?:\s*(?:to|or|-|–)\s*(?P<high>{_SIMPLE}|\d{{1,3}}))?"
    rf"|(?P<low2>\d{{1,3}})\s*(?:to|or|-|–)\s*(?P<high2>{_SIMPLE})"
    rf"|(?P<dozen>a dozen))"
    rf"(?P<gap>[\s-]+)(?P<adjective>{_ADJECTIVE})(?P<noun>{_NOUNS})(?![\w])",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf"(?<![^\W\d_])(?:{'|'.join((*_COUNTS, *TENS))}|half|quarter|dozen)\b|[½¼¾]|\b[13]/[24]\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:type|stage|grade|class|phase|level|category|vitamin|number|no\.?|question|step|option|part)\s+$",
    re.IGNORECASE,
)
_VAGUE_ONE = re.compile(
    r"^(?:day|time|times|point|points|problem|test|result|value|year|month|week|hour|minute)s?$",
    re.IGNORECASE,
)
_BEFORE = 30
Comparator = Literal["", "<", "<=", ">", ">=", "~"]
_AS_UNIT = {
    "pill": "tablet", "pills": "tablet", "inhalation": "puff", "inhalations": "puff",
    "point": "", "points": "",
}  # fmt: skip


def has_number_words(text: str) -> bool:
    """May there be a figure in words? Cheap to ask."""
    return _HINT.search(text) is not None


def worded(
    text: str, *, rhythms: Sequence[Frequency] = (), days: Sequence[Written] = ()
) -> list[Quantity]:
    """The figures of `text` that are written as words, in order.

    "half a tablet" and "1/2 tablet" are 0.5 with the unit "tablet"; "two readings" is 2 without a
    unit. Those inside a frequency ("three times a day") or a date are left out.
    """
    taken = [(one.start, one.end) for one in (*rhythms, *days)]
    found: list[Quantity] = []
    for match in _WORDED.finditer(text):
        start, noun = match.start(), match["noun"].lower()
        if any(a < match.start("gap") and start < b for a, b in taken):
            continue
        if _NAME.search(text[max(0, start - 12) : start]):
            continue
        low, high = _value(match)
        if low == 1 and high is None and not match["half"] and _VAGUE_ONE.match(noun):
            continue
        unit = (
            _unit(noun)
            if not match["adjective"] or noun.rstrip("s") in {"tablet", "capsule"}
            else ""
        )
        comparator, start = _comparator(text, start)
        found.append(
            Quantity(
                start=start,
                end=match.end("noun"),
                low=low,
                high=high,
                joint="" if high is None else "-",
                comparator=comparator,
                unit=unit,
                number_end=match.start("gap"),
            )
        )
    return found


def spelled(figure: str) -> str:
    """The word for the digits of a small whole number, "" where there is none."""
    return next((word for word, n in _VALUES.items() if str(n) == figure), "")


def _comparator(text: str, start: int) -> tuple[Comparator, int]:
    """The comparison before the word, read as it is before a digit, and where it begins."""
    base = max(0, start - _BEFORE)
    found = quantities(text[base:start] + "1")
    if not found or base + found[-1].number_end != start + 1:
        return "", start
    return found[-1].comparator, base + found[-1].start


def _value(match: re.Match[str]) -> tuple[Decimal, Decimal | None]:
    if match["half"]:
        word = match["half"].lower()
        if "/" in word:
            return {"1/2": Decimal("0.5"), "1/4": Decimal("0.25"), "3/4": Decimal("0.75")}[
                word
            ], None
        if word in {"½", "¼", "¾"}:
            return _VALUES[word], None
        return (_VALUES["quarter"] if "quarter" in word else _VALUES["half"]), None
    if match["dozen"]:
        return _VALUES["dozen"], None
    if match["and"]:
        return _number(match["and"]) + _VALUES["half"], None
    high = match["high"] or match["high2"]
    return _number(match["low"] or match["low2"]), None if high is None else _number(high)


def _number(words: str) -> Decimal:
    if words.isdigit():
        return Decimal(words)
    return sum((_VALUES[word] for word in re.split(r"[\s-]+", words.lower())), Decimal(0))


def _unit(noun: str) -> str:
    """The unit's one spelling, "" for what is counted without a unit."""
    if noun in _AS_UNIT:
        return _AS_UNIT[noun]
    if re.fullmatch(rf"(?:{'|'.join(f'{_FORMS} {_TIMES} {_MEASURES}'.split())})", noun):
        return unit_key(noun)
    return ""
