"""Small turns of phrase that the flags share. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

__all__ = ["called", "inside", "joined", "opening", "readable"]

_LONG = re.compile(r"(?<![\w.])\d+\.\d{4,}(?![\w.])")
_DIGITS = 4
_EPONYM = re.compile(
    r"(?:Addison|Alzheimer|Barrett|Bell|Beh\u00e7et|Crohn|Cushing|Down|Ebstein|Fabry|Gaucher|Gilbert"
    r"|Graves|Guillain|Hashimoto|Hodgkin|Huntington|Kaposi|Kawasaki|Klinefelter|Lewy|Lyme|Marfan"
    r"|M\u00e9ni\u00e8re|Paget|Parkinson|Raynaud|Reye|Sj\u00f6gren|Takayasu|Tourette|Turner|Wilson)\b"
)
_CAPITALS = re.compile(r"[^\W\d_](?:[^\s-]*[A-Z]|[.-])")
"""A first word with a capital inside it ("HbA1c", "PaO2"), or a letter by itself ("C-reactive")."""
_PRODUCT = re.compile(r"[A-Za-z][A-Za-z-]{3,}")
_FORMS = frozenset(
    (
        "ampoule", "caplet", "caplets", "caps", "capsule", "capsules", "chewable", "coated",
        "cream", "dispersible", "drop", "drops", "effervescent", "elixir", "enteric",
        "enteric-coated", "extended", "extended-release", "film", "film-coated", "generic",
        "inhaled", "inhaler", "injectable", "injection", "intramuscular", "intravenous", "liquid",
        "lozenge", "modified", "modified-release", "nasal", "nebuliser", "nebulizer", "ointment",
        "oral", "patch", "powder", "prefilled", "prolonged", "prolonged-release", "release",
        "respules", "sachet", "slow-release", "soln", "solution", "spray", "subcutaneous",
        "sublingual", "suppository", "suspension", "sustained", "sustained-release", "syringe",
        "syrup", "tablet", "tablets", "tabs", "topical", "transdermal", "vial",
    )
)  # fmt: skip
"""Words for how a medicine is made or given, which name no product."""
_UNITS = (
    (re.compile(r"\bmm\[Hg\]"), "mmHg"),
    (re.compile(r"(?<=\d )Cel\b"), "\u00b0C"),
    (re.compile(r"\{(1\.73)_?m2\}"), r"\1 m2"),
    (re.compile(r"(?<=\d )10\*3/uL\b"), "10\u00b3/\u00b5L"),
    (re.compile(r"(?<=\d )10\*6/uL\b"), "10\u2076/\u00b5L"),
)


def opening(text: str) -> str:
    """As a sentence or a title begins: "Naproxen"."""
    return text[:1].upper() + text[1:]


def inside(text: str) -> str:
    """As it stands inside a sentence; abbreviations and people's names keep their capitals."""
    if text[:2].isupper() or _EPONYM.match(text) or _CAPITALS.match(text):
        return text
    return text[:1].lower() + text[1:]


def called(entry: str, generic: str) -> str:
    """A medicine by the record's own word: "glibenclamide" where a table says "glyburide".

    The generic stands where the entry holds it; else the entry's first word does that is no form.
    """
    if any(part in entry.casefold() for part in generic.casefold().split("/")):
        return generic
    words = (found.group().casefold() for found in _PRODUCT.finditer(entry))
    return next((word for word in words if word not in _FORMS), generic)


def joined(parts: Iterable[str]) -> str:
    """Each part once, in order: "a, b and c"; "" for none."""
    some = list(dict.fromkeys(parts))
    if len(some) <= 1:
        return "".join(some)
    return ", ".join(some[:-1]) + " and " + some[-1]


def readable(text: str) -> str:
    """The text as a person reads it: long figures at four digits, units without their codes.

    A figure keeps what stands before its point. The entry that is quoted beside the text holds it
    as recorded.
    """
    said = _LONG.sub(lambda found: _rounded(found.group()), text)
    for unit, shown in _UNITS:
        said = unit.sub(shown, said)
    return said


def _rounded(figure: str) -> str:
    value = Decimal(figure)
    places = max(0, _DIGITS - 1 - value.adjusted())
    if places >= len(figure.partition(".")[2]):
        return figure
    return str(round(value, places)) if places else str(round(value))
