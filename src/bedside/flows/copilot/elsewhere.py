"""A question about somebody else than the patient whose record is open. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bedside.flows.copilot.query import Parsed
from bedside.record.needs import RecordFacts

__all__ = ["names_another"]

_PERSON = r"[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+"
_FORMS = (
    re.compile(rf"\b({_PERSON})['’]s\b"),
    re.compile(rf"\b(?:of|for|about|on) ({_PERSON})\b"),
    re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Sr|Sra)\.? ([A-Z][a-z]+)\b"),
)
_TITLES = {"dr", "doctor", "prof", "professor", "nurse", "sister", "midwife", "st", "saint"}
"""Who writes letters, and places: a name after one of these is no patient's."""


def names_another(text: str, parsed: Parsed, record: RecordFacts) -> bool:
    """True when the question names a person who is not this patient and whom the record never names.

    A name is two capitalised words, or one after a title, none of which means anything else: words
    of medicine, the patient's own name and those of the record's clinicians and places do.
    """
    unknown = {word for said in parsed.unknown for word in said.lower().split()}
    return any(
        all(word in unknown for word in name) and not _recorded(name, record)
        for name in _names(text)
    )


def _names(text: str) -> Iterator[tuple[str, ...]]:
    for form in _FORMS:
        for found in form.finditer(text):
            name = tuple(re.split(r"[ -]", found[1].lower()))
            if name[0] not in _TITLES:
                yield name


def _recorded(name: tuple[str, ...], record: RecordFacts) -> bool:
    lines = " ".join(fact.line.lower() for fact in record.facts)
    return any(re.search(rf"\b{word}\b", lines) for word in name)
