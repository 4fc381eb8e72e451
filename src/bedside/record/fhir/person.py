"""The patient: who the record is about, and what it says of the person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from bedside.record.fhir.around import Around, joined, made
from bedside.record.fhir.dates import moment
from bedside.record.fhir.shapes import Concept, coded, concept, human_name, objects, word
from bedside.record.needs import Fact, Person

__all__ = ["read_patient", "read_person"]

_SHOWN_IDENTIFIERS = {"MR", "PI", "MRN", "NH", "NHS"}
_RACE = "us-core-race"
_ETHNICITY = "us-core-ethnicity"


def read_person(resource: Mapping[str, Any], *, ident: str) -> Person:
    """Who the record is about. Identifiers are hospital numbers only, never national ones."""
    born = moment(resource.get("birthDate"))
    died: date | bool | None = None
    if (when := moment(resource.get("deceasedDateTime"))) is not None:
        died = when.at.date()
    elif isinstance(resource.get("deceasedBoolean"), bool):
        died = resource["deceasedBoolean"]
    return Person(
        id=ident,
        name=human_name(resource.get("name")) or "Name not recorded",
        birth_date=born.at.date() if born else None,
        sex=word(resource.get("gender")),
        deceased=died,
        identifiers=_numbers(resource),
    )


def _numbers(resource: Mapping[str, Any]) -> tuple[str, ...]:
    found = []
    for item in objects(resource.get("identifier")):
        kind = coded(item.get("type")).upper()
        if kind in _SHOWN_IDENTIFIERS and (number := word(item.get("value"))):
            found.append(number)
    return tuple(found)


def _extension(resource: Mapping[str, Any], ending: str) -> str:
    for item in objects(resource.get("extension")):
        if word(item.get("url")).endswith(ending):
            for inner in objects(item.get("extension")):
                if word(inner.get("url")) == "text":
                    return word(inner.get("valueString"))
    return ""


def _address(resource: Mapping[str, Any]) -> str:
    for item in objects(resource.get("address")):
        if text := word(item.get("text")):
            return text
        lines = item.get("line")
        parts = [*(lines if isinstance(lines, list) else [])]
        parts += [item.get(key) for key in ("city", "state", "postalCode", "country")]
        if said := joined((word(part) for part in parts), by=", "):
            return said
    return ""


def read_patient(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """Up to three facts: identity; contact; language, marital status and origin.

    They are apart so that a question about age does not carry an address into the context.
    """
    person = read_person(resource, ident=around.patient)
    born = moment(resource.get("birthDate"))
    died = moment(resource.get("deceasedDateTime"))
    gone = f"died {died.shown}" if died else ("deceased" if person.deceased is True else "")
    identity = joined(
        (
            person.sex or "sex not recorded",
            f"born {born.shown}" if born else "birth date not recorded",
            gone,
            f"record number {', '.join(person.identifiers)}" if person.identifiers else "",
        )
    )
    facts = [
        made(
            resource,
            around,
            category="demographics",
            line=f"{person.name}: {identity}",
            what=Concept(text="Identity"),
            when=None,
            group="identity",
            text_value=identity,
        )
    ]
    phones = [
        joined((word(item.get("system")), word(item.get("value"))), by=" ")
        for item in objects(resource.get("telecom"))
        if word(item.get("value"))
    ]
    kin = [
        joined((concept(next(objects(item.get("relationship")), {})).text, _kin_name(item)), by=" ")
        for item in objects(resource.get("contact"))
    ]
    contact = joined(
        (
            f"address {address}" if (address := _address(resource)) else "",
            joined(phones, by=", "),
            f"contact: {', '.join(k for k in kin if k)}" if any(kin) else "",
        )
    )
    doctors = around.all_named(resource.get("generalPractitioner"), resource)
    tongues = [
        concept(item.get("language")).text + (" (preferred)" if item.get("preferred") else "")
        for item in objects(resource.get("communication"))
    ]
    race, ethnicity = _extension(resource, _RACE), _extension(resource, _ETHNICITY)
    origin = joined(
        (
            f"language {', '.join(t for t in tongues if t)}" if any(tongues) else "",
            f"marital status {said}" if (said := _married(resource)) else "",
            f"race {race}" if race else "",
            f"ethnicity {ethnicity}" if ethnicity else "",
            f"general practitioner {', '.join(doctors)}" if doctors else "",
        )
    )
    for part, text, title in (("contact", contact, "Contact"), ("origin", origin, "Background")):
        if text:
            facts.append(
                made(
                    resource,
                    around,
                    category="demographics",
                    line=f"{title}: {text}",
                    what=Concept(text=title),
                    when=None,
                    part=part,
                    group=part,
                    text_value=text,
                )
            )
    return tuple(facts)


def _kin_name(contact: Mapping[str, Any]) -> str:
    named = contact.get("name")
    return human_name([named]) if isinstance(named, dict) else ""


def _married(resource: Mapping[str, Any]) -> str:
    status = concept(resource.get("maritalStatus"))
    plain = {"M": "married", "S": "never married", "D": "divorced", "W": "widowed"}
    return plain.get(status.text, status.text)
