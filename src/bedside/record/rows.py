"""Facts as rows: the payload of an entry, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.record.needs import Fact, Person

__all__ = [
    "READER",
    "fact_of",
    "is_about_patient",
    "no_known_allergy",
    "payload_of",
    "person_of",
    "says_none_known",
]

READER = 3
"""Version of the readers: a higher one refreshes payloads at the next import, never lines."""

_DECIMALS = ("value", "low", "high")
_MOMENTS = ("when", "end", "updated")
_TUPLES = ("synonyms", "codes", "reactions", "reasons", "people")
_WORDS = (
    "name",
    "code",
    "figure",
    "unit",
    "ucum",
    "comparator",
    "text_value",
    "status",
    "verification",
    "interpretation",
    "facility",
    "method",
    "dosage",
    "severity",
    "group",
    "resource",
    "document",
    "encounter",
    "noted",
    "roughly",
)
_NEVER = {"entered-in-error", "refuted"}
_NOT_DONE = {
    "observations": {"cancelled"},
    "medications": {"cancelled"},
    "procedures": {"not-done"},
    "immunizations": {"not-done"},
    "timeline": {"cancelled"},
    "reports": {"cancelled"},
    "goals": {"rejected", "cancelled"},
    "careplans": {"revoked"},
    "documents": {"superseded"},
}
_NKA = {"716186003", "no-known-allergies"}
_NONE_OF_A_KIND = {"409137002", "428607008", "429625007", "no-known-drug-allergies"}


def _fields(fact: Fact) -> dict[str, Any]:
    found: dict[str, Any] = {name: text for name in _WORDS if (text := getattr(fact, name))}
    for name in _DECIMALS:
        if (number := getattr(fact, name)) is not None:
            found[name] = str(number)
    for name in _MOMENTS:
        if (at := getattr(fact, name)) is not None:
            found[name] = at.isoformat()
    for name in _TUPLES:
        if many := getattr(fact, name):
            found[name] = list(many)
    if fact.parts:
        found["parts"] = [{**_fields(part), "line": part.line} for part in fact.parts]
    return found


def payload_of(fact: Fact) -> str:
    """The stored form of a fact, without its line, its source and what is derived at fetch."""
    found = _fields(fact)
    found["section"] = fact.source.section
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _built(found: Mapping[str, Any], *, source: Source, category: Any, line: str) -> Fact:
    fields: dict[str, Any] = {name: found[name] for name in _WORDS if name in found}
    for name in _DECIMALS:
        if name in found:
            fields[name] = Decimal(found[name])
    for name in _MOMENTS:
        if name in found:
            fields[name] = datetime.fromisoformat(found[name])
    for name in _TUPLES:
        if name in found:
            fields[name] = tuple(found[name])
    if "parts" in found:
        fields["parts"] = tuple(
            _built(part, source=source, category=category, line=part["line"])
            for part in found["parts"]
        )
    fields.setdefault("name", "")
    return Fact(source=source, category=category, line=line, **fields)


def fact_of(row: Mapping[Any, Any]) -> Fact:
    """A fact from the columns of `record_entry` joined with the title, date and text of its source."""
    found = json.loads(row["payload"])
    source = Source(
        id=SourceId(row["source"]),
        revision=row["revision"],
        kind="record",
        title=row["title"],
        section=found.get("section", ""),
        dated=row["dated"],
    )
    return _built(found, source=source, category=row["category"], line=row["text"])


def person_of(row: Mapping[Any, Any]) -> Person:
    """A person from a row of `patient`."""
    written = row["deceased"]
    deceased: date | bool | None = None
    if written is not None:
        deceased = written == "yes" if written in {"yes", "no"} else date.fromisoformat(written)
    return Person(
        id=row["id"],
        name=row["name"],
        birth_date=row["birth_date"],
        sex=row["sex"],
        deceased=deceased,
        identifiers=tuple(json.loads(row["identifiers"])),
    )


def is_about_patient(fact: Fact) -> bool:
    """False for what must never be said of the patient: wrong, refuted, cancelled, not done."""
    if _NEVER & {fact.status, fact.verification}:
        return False
    if fact.verification == "do-not-perform" and fact.category == "medications":
        return False
    return fact.status not in _NOT_DONE.get(fact.category, set())


def no_known_allergy(fact: Fact) -> bool:
    """True for a positive statement that no allergy of any kind is known.

    "No known drug allergy" says less and does not count.
    """
    if fact.category != "allergies" or not is_about_patient(fact) or fact.status == "inactive":
        return False
    codes = {code.split("|", 1)[1] for code in fact.codes}
    name = fact.name.casefold().strip(" .")
    return bool(codes & _NKA) or name in {
        "no known allergies",
        "no known allergy",
        "nka",
        "no known allergy (situation)",
    }


def says_none_known(fact: Fact) -> bool:
    """True for any statement of absence, "no known drug allergy" included."""
    codes = {code.split("|", 1)[1] for code in fact.codes}
    if fact.name.casefold().strip(" .") in {"nka", "nkda"}:
        return True
    return bool(codes & (_NKA | _NONE_OF_A_KIND)) or fact.name.casefold().startswith("no known ")
