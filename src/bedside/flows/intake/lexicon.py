"""Words that rules read: countries, illnesses, people, refusals. Data files, compiled once. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from bedside.core.value import value

__all__ = [
    "NO",
    "RELATIVE",
    "YES",
    "Found",
    "conditions",
    "countries",
    "country_code",
    "country_words",
    "data",
    "phrase_pattern",
    "towns",
]

RELATIVE = (
    r"(?:(?:grand|step)?(?:mother|father|mom|mum|dad|son|daughter)|mummy|daddy|wife|husband|spouse|"
    r"hubby|missus|boy|girl|abbu|ammu|ammi|abba|amma|appa|baba|walida?(?: sahab)?|partner|parents?|brother|sister|uncle|aunt|aunty|auntie|cousin|friend|child|kid|baby|"
    r"grandma|grandpa|granny|grandad|granddad|nan|nana|niece|nephew|mother-in-law|father-in-law|papa|mama|"
    r"old man|old lady|fiancée?|fiancee|boyfriend|girlfriend|"
    r"ل?(?:والدتي|والدي|أمي|امي|أبي|ابي|زوجتي|زوجي|ابني|ابنتي|أختي|أخي|جدتي|جدي|طفلي|ابوي|أبوي|بنتي|ولدي|اختي|اخي))"
)
"""Words for somebody else, as a pattern."""

YES = r"yes|opo|ايوة|أيوه|أيوة|yess+|yeah|yep|yup|yea|ya|aye|ji(?! nahi)|ja|si|sí|oui|ndiyo|haa?n(?: ?ji)?|ji haa?n|aiwa|naam|نعم|أجل|ايوه|हाँ|हां|जी(?! नहीं)"
"""Words that say yes, as people of many tongues write them in an English chat; a pattern."""
NO = r"no|wala|hindi po|nutten|nuttin|nuffin|mafi|ma fi|nope|nop|nah|naw|nay|never|none|zero|مافي|ما في|ماكو|مفيش|ما عندي|ما عنده|ما عندها|non(?! ?-)|nein|nee|hapana|(?:koi |kuch |ji )?nahi+n?|nahee+n?|لا|كلا|नहीं|जी नहीं|ना"
"""Words that say no, in the same way."""


@value
class Found:
    """A value and the words at [start, end) that say it."""

    value: str
    start: int
    end: int


@functools.cache
def data(name: str) -> Any:
    """A data file of this flow, as YAML gives it."""
    path = resources.files("bedside.flows.intake") / "data" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def phrase_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the phrases as whole words, the longest first, whatever their case and blanks."""
    return _compiled(tuple(words))


@functools.lru_cache(maxsize=2_048)
def _compiled(words: tuple[str, ...]) -> re.Pattern[str]:
    parts = [
        r"\s+".join(re.escape(bit) for bit in word.split())
        for word in sorted(set(words), key=len, reverse=True)
    ]
    return re.compile(r"(?<![\w-])(?:(?<!\w)و)?(?:" + "|".join(parts) + r")(?![\w])", re.IGNORECASE)


class _Index:
    def __init__(self, table: Mapping[str, Sequence[str] | None]) -> None:
        self._values = {
            " ".join(word.casefold().split()): name
            for name, others in table.items()
            for word in (name, *(others or ()))
        }
        self._pattern = phrase_pattern(tuple(self._values))

    def find(self, text: str) -> tuple[Found, ...]:
        """Every value that the text names, in its order."""
        return tuple(
            Found(
                value=self._values[_key(match.group(), self._values)],
                start=match.start(),
                end=match.end(),
            )
            for match in self._pattern.finditer(text)
        )


def _key(words: str, known: Mapping[str, str]) -> str:
    """The entry that the words stand for; an Arabic "and" written on to them is taken off."""
    flat = " ".join(words.casefold().split())
    return flat if flat in known else flat.removeprefix("و")


@functools.cache
def _index(name: str) -> _Index:
    return _Index(data(name))


_SPEECH = re.compile(
    r"\b(?:my|speak|speaks|speaking|good|bad|poor|broken|write|little) $", re.IGNORECASE
)


def countries(text: str) -> tuple[Found, ...]:
    """The countries that the text names, by name, people or large city.

    "us" counts in capitals alone, since it is a pronoun first; "my English" is a language.
    """
    return tuple(
        one
        for one in _index("countries").find(text)
        if text[one.start : one.end] not in {"us", "Us"}
        and not _SPEECH.search(text[max(0, one.start - 20) : one.start])
    )


@functools.cache
def _codes() -> Mapping[str, str]:
    rows = (line.rpartition(" ") for line in _lines("country_codes") if not line.startswith("#"))
    return {code: country for country, _, codes in rows for code in codes.split("|")}


_CODE = re.compile(
    r"\W*(?:i(?:'m| am) )?(?:in |from |the )?(?:the )?(?P<c>[A-Za-z]{2,4}|[A-Za-z](?:\.[A-Za-z]){1,2}\.?)\W*$",
    re.IGNORECASE,
)


_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_FLAG_A = 0x1F1E6


def country_code(text: str) -> Found | None:
    """The country whose code (ISO 3166, or a common short form) is all that an answer says."""
    flag = _FLAG.search(text)
    if flag is not None:
        letters = "".join(chr(ord(one) - _FLAG_A + ord("A")) for one in flag.group())
        named = _codes().get(letters)
        return Found(value=named, start=flag.start(), end=flag.end()) if named else None
    match = _CODE.match(text)
    country = _codes().get(match["c"].replace(".", "").upper()) if match else None
    if match is None or country is None:
        return None
    return Found(value=country, start=match.start("c"), end=match.end("c"))


def _lines(name: str) -> list[str]:
    path = resources.files("bedside.flows.intake") / "data" / f"{name}.txt"
    return path.read_text(encoding="utf-8").splitlines()


@functools.cache
def _towns() -> Mapping[str, str]:
    rows = (line.split(": ", 1) for line in _lines("towns") if not line.startswith("#"))
    return {town: country for country, names in rows for town in names.split("|")}


_MOST_WORDS = 3


def towns(text: str) -> tuple[Found, ...]:
    """The countries of the towns that the text names, the longest names first at each place.

    Many a town is a name or a word as well: only for words that say where somebody lives.
    """
    words = list(re.finditer(r"[^\W\d_][^\s,.;:!?()\"/]*", text))
    out: list[Found] = []
    at = 0
    while at < len(words):
        for many in range(min(_MOST_WORDS, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + many - 1].end()
            country = _towns().get(_plainly(text[start:end]))
            if country is not None:
                out.append(Found(value=country, start=start, end=end))
                at += many - 1
                break
        at += 1
    return tuple(out)


def _plainly(text: str) -> str:
    """The letters without their marks, in lower case, with single blanks."""
    bare = "".join(
        one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)
    )
    return " ".join(bare.casefold().split())


_SCRIPT = {"ar": re.compile(r"[\u0600-\u06ff]"), "hi": re.compile(r"[\u0900-\u097f]")}


def country_words(name: str, language: str) -> str:
    """The country as the language writes it; in English where no word for it is known here."""
    script = _SCRIPT.get(language)
    others: Sequence[str] = data("countries").get(name) or ()
    return next((one for one in others if script is not None and script.match(one)), name)


def conditions(text: str) -> tuple[Found, ...]:
    """The illnesses that the text names, whether affirmed or denied; overlapping names once."""
    return tuple(
        one
        for one in _index("conditions").find(text)
        if not (_OTHER_TYPE.match(text, one.start) or _SOUND.match(text, one.start))
    )


_SOUND = re.compile(
    r"(?:prostate|kidneys?)(?:,? (?:is|are|was|were|checked|tests?|all|both|quite|perfectly))*,? (?:fine|ok(?:ay)?|normal|good|healthy)\b",
    re.IGNORECASE,
)
"""An organ that stands for its illness, and is well."""


_OTHER_TYPE = re.compile(
    r"type (?:1|2|i|ii|one|two)\s+(?!(?:and|or|but|since|for|with|on|from|now|as|is|in|at|diab\w*|dm|sugar|patient|the|my|controlled|well|i|he|she|we|also|only|years?)\b)[^\W\d_]",
    re.IGNORECASE,
)
"""A type of something else: "a type 2 fracture"."""
