"""A question about somebody else than the patient whose record is open. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from itertools import takewhile

from bedside.core.value import value
from bedside.flows.copilot.query import Parsed
from bedside.flows.copilot.question import Piece, is_misread, read
from bedside.models.given_names import given_names
from bedside.models.name_words import PARTICLES
from bedside.record.needs import RecordFacts

__all__ = ["names_another"]

_CAPITAL = r"(?:[OD]['’])?[A-ZÀ-ÖØ-Þ][^\W\d_]+"
_PERSON = rf"{_CAPITAL}(?:[ -](?:[a-z]{{2,3}} )?{_CAPITAL})+"
_OWNED = re.compile(rf"\b({_PERSON})['’]s\b")
_OWNED_SMALL = re.compile(r"\b([a-z]+(?:[ -][a-z]+){1,5})['’]s\b")
_SAID = re.compile(rf"\b({_PERSON})\b")
_SAID_SMALL = re.compile(r"\b(?:of|for|about|on) ([a-z]+ [a-z]+)\b")
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Sr|Sra)\.? ([A-Z][a-z]+)\b")
_TITLES = {"dr", "doctor", "prof", "professor", "nurse", "sister", "midwife", "st", "saint"}
"""Who writes letters, and places: a name after one of these is no patient's."""
_SEEN = {"by", "with", "to", "from", "see", "sees", "seen", "saw", "via"}
"""Behind these a name is whoever treats the patient."""
_LAST_WORD = re.compile(r"(\w+)\.?\s*\Z")
_ILLNESS = re.compile(
    r"\s*\b(?:disease|syndrome|crisis|palsy|disorder|tumou?r|lymphoma|anaemia|anemia|o?edema|ulcer|sign|fracture|h(?:a)?ematoma)"
)

_NEAR = "husband|wife|spouse|partner|boyfriend|girlfriend|neighbou?r"
_KIN = f"{_NEAR}|mother|mum|mom|father|dad|parent|sister|brother|son|daughter|aunt|uncle|cousin"
_OF_KIN = re.compile(
    rf"\b(?:(?:her|his|their) (?:{_KIN})|{_NEAR})['’]?s\b|\b(?:of|for) (?:her|his|their) (?:{_KIN})\b",
    re.IGNORECASE,
)
_ONE_OWNED = re.compile(rf"(?<![\w-])({_CAPITAL}|[a-z]+)['’]s\b")
_ONE_SAID = re.compile(r"\b(?:of|for) ([^\W\d_]+)\b")
_MEASURED = {"analyte", "panel"}
_NO_PERSON = {"ringer"}
"""Whose solution is called as a result is: Ringer's lactate."""


def names_another(text: str, parsed: Parsed, record: RecordFacts) -> bool:
    """True when the question names a person who is not this patient and whom the record never names.

    Two words are a person's name before a possessive, or where the first is a usual given name or
    the patient's own; one word is, after a title. It is somebody else's as soon as one of its words
    stands neither in the patient's name nor in the record: "Asha Patel" is not Asha Rao. One word,
    or a relative, is also a person to whom a result belongs: "O'Brien's HbA1c", "HbA1c of Miguel".
    """
    words = _Words(
        strange=frozenset(word for said in parsed.unknown for word in said.lower().split()),
        own=frozenset(re.findall(r"[^\W\d_]+", (record.person.name or "").lower())),
        recorded=frozenset(
            word for fact in record.facts for word in re.findall(r"\w+", fact.line.lower())
        ),
    )
    if any(words.foreign(name) for name in _names(text, words)):
        return True
    if any(_owns(text, found) or _has(text, found) for found in _OF_KIN.finditer(text)):
        return True
    owners = [found for found in _ONE_OWNED.finditer(text) if _owns(text, found, data=True)]
    owners += [
        found
        for found in _ONE_SAID.finditer(text)
        if words.given(found[1].lower()) and _has(text, found)
    ]
    return any(
        words.foreign(tuple(re.findall(r"[^\W\d_]{2,}", found[1].lower())))
        for found in owners
        if found[1].lower() not in _NO_PERSON and _before(text, found) not in _TITLES
    )


@value
class _Words:
    """What is known of words: which nobody understood, the patient's names, those of the record."""

    strange: frozenset[str]
    own: frozenset[str]
    recorded: frozenset[str]

    def unknown(self, word: str) -> bool:
        """True of a word that means nothing else, one read as another by a slip among them."""
        return word in self.strange or not word.isascii() or is_misread(word)

    def given(self, word: str) -> bool:
        """True of a usual given name that means nothing else, or of the patient's own names."""
        plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode()
        return word in self.own or (plain in given_names() and self.unknown(word))

    def fits(self, word: str) -> bool:
        """True of a word that may be part of a name."""
        return self.given(word) or self.unknown(word) or word in PARTICLES

    def foreign(self, name: tuple[str, ...]) -> bool:
        """True when a word of the name is neither the patient's nor the record's."""
        return any(
            self.unknown(word) and word not in self.own | self.recorded | PARTICLES for word in name
        )


def _names(text: str, words: _Words) -> Iterator[tuple[str, ...]]:
    for found in _TITLED.finditer(text):
        yield (found[1].lower(),)
    for form in (_OWNED, _OWNED_SMALL, _SAID, _SAID_SMALL):
        for found in form.finditer(text):
            parts = re.split(r"[ -]", found[1].lower())
            owned = form in {_OWNED, _OWNED_SMALL}
            if form is _OWNED_SMALL:
                # The sentence before the name is in small letters, too.
                starts = [at for at, part in enumerate(parts) if words.given(part)]
                ahead = parts[starts[0] - 1] if starts and starts[0] else ""
                parts = parts[starts[0] :] if starts else []
            else:
                ahead = _before(text, found)
                while parts and not (words.fits(parts[0]) or parts[0] in _TITLES):
                    parts = parts[1:]  # "Does Asha Rao's"
            if not owned:
                parts = list(takewhile(words.fits, parts))  # "Asha Rao HbA1c"
            if ahead in (_TITLES if owned else _TITLES | _SEEN):
                continue
            if not _a_name(parts, words, possessive=owned):
                continue
            if _ILLNESS.match(text[found.end() :].lower()) and not words.given(parts[0]):
                continue  # "Non-Hodgkin's Lymphoma"
            yield tuple(parts)


def _owns(text: str, found: re.Match[str], *, data: bool = False) -> bool:
    """True where a result, results or medicines follow at once: whose they are was said.

    With `data` so do a name, a sex, an age: "the baby's name".
    """
    pieces = (one for one in read(text[found.end() :], today=date.max) if one.means("op") is None)
    first = next(pieces, None)
    topics = {"labs", "vitals", "medications", "allergies"}
    if first is not None and data and (first.means("person") or first.means("about") == "name"):
        return True
    return first is not None and (_is_result(first) or first.means("topic") in topics)


def _has(text: str, found: re.Match[str]) -> bool:
    """True where a result stands just before: "HbA1c of"."""
    pieces = read(text[: found.start()], today=date.max)
    return bool(pieces) and _is_result(pieces[-1])


def _is_result(piece: Piece) -> bool:
    return any(one.kind in _MEASURED for one in piece.meanings)


def _before(text: str, found: re.Match[str]) -> str:
    """The word before, in small letters; "" at the beginning."""
    before = _LAST_WORD.search(text[: found.start()])
    return before[1].lower() if before is not None else ""


def _a_name(parts: list[str], words: _Words, *, possessive: bool) -> bool:
    """True of two words or more that a person may be called, and no illness is."""
    if not parts[1:] or parts[0] in _TITLES or not all(words.fits(part) for part in parts[1:]):
        return False
    if parts[0] == "non" or any(_ILLNESS.match(part) for part in parts):
        return False
    return possessive or words.given(parts[0])
