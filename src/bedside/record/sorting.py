"""The first pass of an import: whose each resource is, and what others call it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.record.fhir.around import key_of, name_of
from bedside.record.fhir.decode import Entry, encode
from bedside.record.fhir.readers import DIRECTORY, subject_of
from bedside.record.fhir.shapes import concept, obj, reference, word
from bedside.record.files import RecordFile

__all__ = ["Located", "Sorted", "sort_file"]

_PATIENT_ID = re.compile(r"[A-Za-z0-9\-._]{1,64}")
_NAMED = {
    "CarePlan": "title",
    "Condition": "code",
    "DiagnosticReport": "code",
    "MedicationRequest": "medicationCodeableConcept",
    "MedicationStatement": "medicationCodeableConcept",
    "Observation": "code",
    "Procedure": "code",
    "ServiceRequest": "code",
}


@value
class Located:
    """One resource: where it stands, its key ("Observation/1") and whose it is ("" nobody's)."""

    file: int
    start: int
    end: int
    type: str
    key: str
    patient: str


@value
class Sorted:
    """One file, sorted. `links` maps its full URLs to keys; `visits` an Encounter to its provider."""

    located: tuple[Located, ...]
    links: Mapping[str, str]
    directory: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    visits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@value
class _Seen:
    """A resource before the file's references can be resolved."""

    start: int
    end: int
    type: str
    key: str
    subject: str


def sort_file(file: RecordFile, number: int) -> Sorted:
    """Read a whole file once, keeping names and places only.

    Raises:
        BadInput: the file cannot be read, is not FHIR, or a Patient has an unusable id.
    """
    seen: list[_Seen] = []
    links: dict[str, str] = {}
    directory: dict[str, str] = {}
    names: dict[str, str] = {}
    visits: dict[str, tuple[Any, str]] = {}
    for entry in file.entries():
        kind, key = entry.resource["resourceType"], _key(entry)
        if entry.full_url:
            links[entry.full_url] = key
        if kind == "Patient" and not _PATIENT_ID.fullmatch(key.removeprefix("Patient/")):
            raise BadInput(file.name, why="a Patient has an id that is not a FHIR id")
        if kind in DIRECTORY:
            directory[key] = name_of(entry.resource)
        elif kind in _NAMED:
            names[key] = concept(entry.resource.get(_NAMED[kind])).text
        elif kind == "Encounter":
            visits[key] = _visit(entry.resource)
        seen.append(
            _Seen(
                start=entry.start,
                end=entry.end,
                type=kind,
                key=key,
                subject=subject_of(entry.resource),
            )
        )
    providers = {
        key: (_provider(found, links, directory), group) for key, (found, group) in visits.items()
    }
    return Sorted(
        located=tuple(_placed(seen, links, number)),
        links=links,
        directory={key: name for key, name in directory.items() if name},
        names={key: name for key, name in names.items() if name},
        visits=providers,
        counts=Counter(item.type for item in seen),
    )


def _key(entry: Entry) -> str:
    """Say "Type/id"; without an id the UUID of the full URL, else a digest of the content."""
    resource = entry.resource
    ident = word(resource.get("id")) or entry.full_url.removeprefix("urn:uuid:").rsplit("/", 1)[-1]
    if not ident:
        ident = hashlib.sha256(encode(resource).encode()).hexdigest()[:32]
        resource["id"] = ident
    return f"{resource['resourceType']}/{ident}"


def _visit(resource: Mapping[str, Any]) -> tuple[Any, str]:
    return resource.get("serviceProvider"), word(obj(resource.get("class")).get("code"))


def _provider(found: object, links: Mapping[str, str], directory: Mapping[str, str]) -> str:
    """A provider's display, or its key where the name may stand in another file."""
    key = key_of(reference(found), links)
    return directory.get(key, "") or word(obj(found).get("display")) or key


def _placed(seen: Sequence[_Seen], links: Mapping[str, str], number: int) -> Iterator[Located]:
    patients = {item.key.removeprefix("Patient/") for item in seen if item.type == "Patient"}
    only = next(iter(patients)) if len(patients) == 1 else ""
    for item in seen:
        if item.type == "Patient":
            owner = item.key.removeprefix("Patient/")
        elif item.type in DIRECTORY:
            owner = ""
        else:
            key = key_of(item.subject, links)
            owner = key.removeprefix("Patient/") if key.startswith("Patient/") else ""
            if not owner and not item.subject:
                owner = only
        yield Located(
            file=number,
            start=item.start,
            end=item.end,
            type=item.type,
            key=item.key,
            patient=owner,
        )
