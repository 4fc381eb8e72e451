"""Tolerant reading of FHIR's data types: a wrong shape reads as absent, never as a crash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from bedside.core.value import value
from bedside.record.fhir.dates import Moment, moment
from bedside.record.fhir.decode import Written

__all__ = [
    "Concept",
    "Quantity",
    "brief",
    "coded",
    "concept",
    "concepts",
    "first_moment",
    "human_name",
    "notes",
    "number",
    "obj",
    "objects",
    "quantity",
    "reference",
    "tidy",
    "unit_shown",
    "untagged",
    "word",
]

_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_SPACE = re.compile(r"\s+")
_TAG = re.compile(
    r"\s+\((?:disorder|finding|procedure|situation|event|substance|product|regime/therapy|"
    r"observable entity|morphologic abnormality|qualifier value|person|environment|"
    r"physical object|medicinal product|clinical drug|body structure|organism|record artifact)\)$"
)
_LONG = re.compile(
    r"\s*\[[^\]]*\]|\s+in (?:Serum or Plasma|Serum, Plasma or Blood|Serum|Plasma|Blood)\b|"
    r"\s+(?:of|by) (?:Blood|Automated count|calculation)\b.*|/1\.73 sq M\.predicted"
)
_ANNOTATION = re.compile(r"[{(]([^{}()]*)[})]")


def obj(found: object) -> Mapping[str, Any]:
    """A JSON object, or an empty one where something else stands."""
    return found if isinstance(found, dict) else {}


def objects(found: object) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of an array; a lone object counts as an array of one."""
    if isinstance(found, dict):
        yield found
    elif isinstance(found, list):
        yield from (item for item in found if isinstance(item, dict))


def tidy(text: str) -> str:
    """One line: invisible characters removed, white space collapsed."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()


def untagged(name: str) -> str:
    """A name without SNOMED CT's semantic tag, such as " (disorder)"."""
    return _TAG.sub("", name)


def brief(name: str) -> str:
    """A LOINC long name without property, specimen and method, for listings."""
    return _LONG.sub("", name) or name


def word(found: object) -> str:
    """A string on one line, or "" where something else stands."""
    return tidy(found) if isinstance(found, str) else ""


def number(found: object) -> tuple[Decimal, str] | None:
    """A JSON number as a Decimal and as written; `None` where something else stands."""
    if isinstance(found, bool):
        return None
    if isinstance(found, Written):
        return Decimal(found), found.text
    if isinstance(found, int | Decimal):
        return Decimal(found), str(found)
    return None


@value
class Concept:
    """A CodeableConcept: what to show, its codings, and its other displays."""

    text: str
    code: str = ""
    codes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


_NOTHING = Concept(text="")


def concept(found: object) -> Concept:
    """Read a CodeableConcept (or a Coding); an empty `text` means that nothing was said.

    A SNOMED CT semantic tag such as " (disorder)" is left out of the text and kept as a synonym.
    """
    if not isinstance(found, dict):
        return _NOTHING
    source = obj(found)
    codings = list(objects(source.get("coding"))) or ([source] if source.get("code") else [])
    codes = tuple(
        f"{word(coding.get('system'))}|{word(coding.get('code'))}"
        for coding in codings
        if word(coding.get("code"))
    )
    shown = [word(source.get("text")), *(word(coding.get("display")) for coding in codings)]
    names = [name for name in shown if name] or [code.split("|", 1)[1] for code in codes]
    if not names:
        return Concept(text="", codes=codes)
    text = untagged(names[0])
    others = dict.fromkeys(name for name in names if name != text)
    return Concept(text=text, code=codes[0] if codes else "", codes=codes, synonyms=tuple(others))


def concepts(found: object) -> tuple[Concept, ...]:
    """Every CodeableConcept of an array that says something."""
    read = (concept(item) for item in objects(found))
    return tuple(item for item in read if item.text)


def coded(found: object) -> str:
    """The bare code of a CodeableConcept or Coding, or the string itself; "" when absent."""
    if isinstance(found, str):
        return tidy(found)
    read = concept(found)
    return read.code.split("|", 1)[1] if read.code else read.text.casefold()


def unit_shown(unit: str) -> str:
    """A unit as written; one that is only a UCUM remark ("{score}") without its braces."""
    remark = _ANNOTATION.fullmatch(unit)
    return remark[1].replace("_", " ") if remark else unit


@value
class Quantity:
    """A Quantity as written. `figure` is the very digits of the source."""

    value: Decimal | None
    figure: str
    unit: str
    ucum: str
    comparator: str = ""

    @property
    def shown(self) -> str:
        """Say "8.2 %": comparator, figure and unit. A unit that is only a UCUM remark loses its braces."""
        return f"{self.comparator}{self.figure} {unit_shown(self.unit)}".strip()


def quantity(found: object) -> Quantity | None:
    """Read a Quantity; `None` when it holds no number."""
    source = obj(found)
    read = number(source.get("value"))
    if read is None:
        return None
    code = word(source.get("code"))
    comparator = word(source.get("comparator"))
    return Quantity(
        value=read[0],
        figure=read[1],
        unit=word(source.get("unit")) or code,
        ucum=code if word(source.get("system")).endswith("unitsofmeasure.org") else "",
        comparator=comparator if comparator in {"<", "<=", ">", ">=", "ad"} else "",
    )


def reference(found: object) -> str:
    """The literal reference of a Reference, or ""."""
    return word(obj(found).get("reference"))


def first_moment(source: Mapping[str, Any], *names: str) -> Moment | None:
    """The first of these elements that holds a date, dateTime, instant or Period start."""
    for name in names:
        found = source.get(name)
        read = moment(obj(found).get("start")) if isinstance(found, dict) else moment(found)
        if read is not None:
            return read
    return None


def human_name(found: object) -> str:
    """The official (else usual, else first) of a HumanName array, as a person would write it."""
    names = sorted(
        objects(found),
        key=lambda name: {"official": 0, "usual": 1}.get(word(name.get("use")), 2),
    )
    for name in names:
        if text := word(name.get("text")):
            return text
        given = name.get("given")
        parts = [*(given if isinstance(given, list) else []), name.get("family")]
        if text := " ".join(word(part) for part in parts if word(part)):
            return text
    return ""


def notes(found: object) -> str:
    """The texts of an Annotation array, joined."""
    return " ".join(word(note.get("text")) for note in objects(found) if word(note.get("text")))
