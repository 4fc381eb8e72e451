"""The words that carry a sentence: stems, drugs, analytes, names with digits. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import Stemmer

from bedside.clinical.analytes import find_analytes
from bedside.clinical.drugs import find_drugs
from bedside.core.value import value

__all__ = ["POINTING", "Term", "analytes", "codes", "drugs", "stem_of", "stems"]


@value
class Term:
    """A word or name at `text[start:end]`, and the one key of all its spellings."""

    start: int
    end: int
    key: str


_WORD = re.compile(r"[^\W\d_]{2,}(?:'[a-z]+)?")
_CODE = re.compile(
    r"(?<![\w.,/+-])(?:\d{1,2}\+\d{1,2}(?!\+)|[^\W\d_]{1,8}-?\d{1,4}(?:-\d{1,3})?[^\W\d_]{0,4}|\d{1,3}(?:[a-eA-E]|st|nd|rd|th))(?![\w%]|[.,/-]\d)"
)
_STOP_WORDS = (
    "a an and any are as at be been being by for from had has have he her hers him his how i if in "
    "into is it its me my of off on onto or our out she so some such than that the their them then "
    "there these they this those to too up upon us was we were what when where which while who whom "
    "why will with within would you your about above after again all also although am among because "
    "before below between both but can could did do does done down during each else ever every few "
    "further here however itself just let may might more most much must nor now only other over own "
    "per same shall should since still through thus under until very via whether yet according "
    "patient patients record recorded records documented noted note notes shows show showed shown "
    "states stated reported reports value values result results level levels measured most recent "
    "latest last date dated found finding findings year years old yr yrs month months day days week "
    "weeks hour hours mg ml kg mcg mmol dl one two three four five six current currently present "
    "presents including include includes included see listed list entry entries active status "
    "reading readings give gives given take takes taking taken use used using well no not never none without "
    "denies denied deny denying neither nor absent negative "
    "yes first earlier earliest newest oldest stale sex gender name since possible possibly "
    "probable probably likely suspected"
)
_STOP = frozenset(_STOP_WORDS.split())


@cache
def _stemmer() -> Callable[[str], str]:
    made: Any = Stemmer  # no type stubs
    stem: Callable[[str], str] = made.Stemmer("english").stemWord
    return stem


@lru_cache(maxsize=8_192)
def stem_of(word: str) -> str:
    """The stem of one word, in lower case, British spelling brought to American."""
    low = word.lower().split("'")[0]
    low = low.replace("aemia", "emia").replace("haem", "hem").replace("oedema", "edema")
    low = low.replace("oestr", "estr").replace("diarrhoea", "diarrhea").replace("paed", "ped")
    return _stemmer()(low)


_POINTING_WORDS = "guideline guidance chart document letter report source pharmacy"
POINTING = frozenset(stem_of(word) for word in _POINTING_WORDS.split())
"""Stems of words that name the source of a statement: they are no content of it."""


def stems(text: str) -> list[Term]:
    """The content words of `text` in order: no stop words, no words of record-keeping."""
    return [
        Term(start=match.start(), end=match.end(), key=stem_of(match.group()))
        for match in _WORD.finditer(text)
        if match.group().lower() not in _STOP
    ]


def codes(text: str) -> list[Term]:
    """Names that hold digits ("HbA1c", "B12", "3b", "COVID-19"), in order, keys in lower case."""
    return [
        Term(start=match.start(), end=match.end(), key=match.group().lower().replace("-", ""))
        for match in _CODE.finditer(text)
        if not match.group().isdigit()
    ]


def drugs(text: str) -> list[Term]:
    """Drug names that the vocabulary knows, in order; the key is the generic name."""
    return [Term(start=found.start, end=found.end, key=found.generic) for found in find_drugs(text)]


def analytes(text: str) -> list[Term]:
    """Single measurements that the vocabulary knows, in order; panels and vague words are none."""
    return [
        Term(start=found.start, end=found.end, key=found.keys[0])
        for found in find_analytes(text)
        if not found.weak and not found.panel
    ]
