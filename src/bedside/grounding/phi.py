"""Identifiers of people in text, by form. Pure.

For two uses: an identifier in an answer that stands nowhere in its context is forged or somebody
else's; and a text that must not carry any can be scanned. Names are found only beside a title.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from bedside.core.value import value
from bedside.language.dates import dates

__all__ = ["Identifier", "identifiers", "key_of", "names_in"]

Kind = Literal[
    "email", "phone", "ssn", "record_number", "birth_date", "address", "card", "ip", "person", "national_id"
]  # fmt: skip


@value
class Identifier:
    """An identifier at `text[start:end]`; `key` is what to compare: letters and digits, lower case."""

    kind: Kind
    start: int
    end: int
    key: str


_NUMBERED = (
    r"(?:mrn|medical record (?:number|no\.?)|hospital (?:number|no\.?)|patient (?:id|number|no\.?)|"
    r"record (?:number|no\.?)|nhs (?:number|no\.?)|uhid|abha|aadhaar|passport(?: (?:number|no\.?))?|"
    r"account (?:number|no\.?)|policy (?:number|no\.?)|licen[cs]e (?:number|no\.?)|member id|insurance id)"
)
_FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("record_number", re.compile(_NUMBERED + r"\s*(?:is|:|#|=)?\s*#?(?P<id>[A-Z0-9][A-Z0-9-]{3,})", re.IGNORECASE)),
    ("ssn", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")),
    ("national_id", re.compile(r"(?<![\d-])\d{4}\s\d{4}\s\d{4}(?![\d-])|(?<!\d)\d{3}\s\d{3}\s\d{4}(?!\d)")),
    ("card", re.compile(r"(?<![\d-])(?:\d{4}[ -]){3}\d{4}(?![\d-])")),
    (
        "phone",
        re.compile(
            r"(?<![\w.-])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)[\s.-]?|\d{3,4}[\s.-])\d{3,4}[\s.-]\d{3,4}(?![\w-])"
            r"|(?<![\w.])\+\d{10,14}(?!\w)"
        ),
    ),
    ("ip", re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")),
    (
        "address",
        re.compile(
            r"(?<![\w.])\d{1,5}\s+(?:[A-Z][\w'-]*\s+){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|"
            r"Court|Ct|Way|Place|Pl|Terrace|Close)\b"
        ),
    ),
    (
        "person",
        re.compile(
            r"\b(?:[Pp]atient(?: named| called|'s name is|:)?|[Mm]r|[Mm]rs|[Mm]s|[Mm]iss|[Nn]ame(?: is|:))\.?\s+"
            r"(?P<id>[A-Z][a-z]+(?:[ -][A-Z][\w'-]+){0,3})"
        ),
    ),
)  # fmt: skip
_BORN = re.compile(r"\b(?:born(?: on)?|d\.?o\.?b\.?|date of birth|birth ?date)", re.IGNORECASE)
_BIRTH = re.compile(_BORN.pattern + r"\W{0,4}$", re.IGNORECASE)
_NOT_NAME_WORDS = (
    "has is was had should may can will does did not and or with the a an in on of education "
    "information history summary record safety data care reports denies presents"
)
_NOT_NAMES = frozenset(_NOT_NAME_WORDS.split())
_DIGIT = re.compile(r"\d")
_LONG = re.compile(
    r"(?:\d[\s().+-]{0,2}){7}|\d\.\d{1,3}\.\d"
)  # phones, cards, addresses of machines
_KEY = re.compile(r"[^a-z0-9]")


def identifiers(text: str) -> list[Identifier]:
    """Every identifier of `text`, in order, never overlapping."""
    found: list[Identifier] = []
    has = {
        "email": "@" in text,
        "person": True,
        "record_number": _DIGIT.search(text) is not None,
        "address": _DIGIT.search(text) is not None,
    }
    long = _LONG.search(text) is not None
    for kind, form in _FORMS:
        if not has.get(kind, long):
            continue
        for match in form.finditer(text):
            name = "id" if "id" in form.groupindex else 0
            start, end = match.span(name)
            if kind == "record_number" and not any(c.isdigit() for c in text[start:end]):
                continue
            if kind == "person" and text[start:end].split(maxsplit=1)[0].lower() in _NOT_NAMES:
                continue
            if not any(one.start < end and start < one.end for one in found):
                found.append(_identifier(kind, text, start, end))
    if _BORN.search(text):
        found += [
            _identifier("birth_date", text, when.start, when.end)
            for when in dates(text)
            if _BIRTH.search(text[max(0, when.start - 24) : when.start])
        ]
    return sorted(found, key=lambda one: one.start)


def _identifier(kind: Kind, text: str, start: int, end: int) -> Identifier:
    return Identifier(kind=kind, start=start, end=end, key=key_of(text[start:end]))


def key_of(text: str) -> str:
    """Letters and digits only, lower case: how identifiers are compared."""
    return _KEY.sub("", text.lower())


_WORDS = re.compile(r"[^\W_]+")
_LONGEST_NAME = 8  # words


@lru_cache(maxsize=8)
def _phrases(names: tuple[str, ...]) -> tuple[frozenset[tuple[str, ...]], dict[str, set[int]]]:
    """Names as tuples of words, and how many words the names have that begin with a word.

    Kept, because a tenant's list is long and asked for at every turn.
    """
    found = (tuple(_WORDS.findall(name.lower())) for name in names)
    phrases = frozenset(words for words in found if 0 < len(words) <= _LONGEST_NAME)
    sizes: dict[str, set[int]] = {}
    for words in phrases:
        sizes.setdefault(words[0], set()).add(len(words))
    return phrases, sizes


def names_in(text: str, names: tuple[str, ...]) -> set[str]:
    """Which of the names (or numbers) stand in `text` as whole words, whatever the case.

    Args:
        text: Any text.
        names: Any number of names; the time taken does not grow with them.

    Returns:
        The names found, in lower case, their words joined by single blanks.
    """
    wanted, sizes = _phrases(names)
    if not wanted:
        return set()
    words = _WORDS.findall(text.lower())
    runs = (
        tuple(words[at : at + size])
        for at, first in enumerate(words)
        for size in sizes.get(first, ())
    )
    return {" ".join(run) for run in runs if run in wanted}
