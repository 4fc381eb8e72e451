"""A question about somebody else than the patient whose record is open. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import takewhile

from bedside.core.value import value
from bedside.flows.copilot.query import Parsed
from bedside.flows.copilot.question import is_misread
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


def names_another(text: str, parsed: Parsed, record: RecordFacts) -> bool:
    """True when the question names a person who is not this patient and whom the record never names.

    Two words are a person's name before a possessive, or where the first is a usual given name or
    the patient's own; one word is, after a title. It is somebody else's as soon as one of its words
    stands neither in the patient's name nor in the record: "Asha Patel" is not Asha Rao.
    """
    words = _Words(
        strange=frozenset(word for said in parsed.unknown for word in said.lower().split()),
        own=frozenset(re.findall(r"[^\W\d_]+", (record.person.name or "").lower())),
        recorded=frozenset(
            word for fact in record.facts for word in re.findall(r"\w+", fact.line.lower())
        ),
    )
    return any(words.foreign(name) for name in _names(text, words))


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
            before = _LAST_WORD.search(text[: found.start()])
            parts = re.split(r"[ -]", found[1].lower())
            owned = form in {_OWNED, _OWNED_SMALL}
            if form is _OWNED_SMALL:
                # The sentence before the name is in small letters, too.
                starts = [at for at, part in enumerate(parts) if words.given(part)]
                ahead = parts[starts[0] - 1] if starts and starts[0] else ""
                parts = parts[starts[0] :] if starts else []
            else:
                ahead = before[1].lower() if before is not None else ""
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


def _a_name(parts: list[str], words: _Words, *, possessive: bool) -> bool:
    """True of two words or more that a person may be called, and no illness is."""
    if not parts[1:] or parts[0] in _TITLES or not all(words.fits(part) for part in parts[1:]):
        return False
    if parts[0] == "non" or any(_ILLNESS.match(part) for part in parts):
        return False
    return possessive or words.given(parts[0])
