"""The first pass of an import: whose each resource is, and what others call it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from bedside.core.errors import BadInput
from bedside.record.desk import Desk, Seen
from bedside.record.fhir.around import name_of
from bedside.record.fhir.decode import Entry, encode
from bedside.record.fhir.readers import DIRECTORY, subject_of
from bedside.record.fhir.shapes import concept, obj, reference, word
from bedside.record.files import RecordFile

__all__ = ["sort_file"]

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


def sort_file(file: RecordFile, number: int, desk: Desk) -> Counter[str]:
    """Read a whole file once, keeping names and places only, and count its resources by type.

    Raises:
        BadInput: the file cannot be read, is not FHIR, or a Patient has an unusable id. Nothing of
            it is kept.
    """
    return desk.take(number, (_seen(entry, file) for entry in file.entries()), directory=DIRECTORY)


def _seen(entry: Entry, file: RecordFile) -> tuple[str, Seen]:
    resource = entry.resource
    kind, key = resource["resourceType"], _key(entry)
    if kind == "Patient" and not _PATIENT_ID.fullmatch(key.removeprefix("Patient/")):
        raise BadInput(file.name, why="a Patient has an id that is not a FHIR id")
    visit: dict[str, str] = {}
    name = ""
    if kind in DIRECTORY:
        name = name_of(resource)
    elif kind in _NAMED:
        name = concept(resource.get(_NAMED[kind])).text
    elif kind == "Encounter":
        provider = resource.get("serviceProvider")
        visit = {
            "provider": reference(provider),
            "shown": word(obj(provider).get("display")),
            "group": word(obj(resource.get("class")).get("code")),
        }
    return entry.full_url, Seen(
        start=entry.start,
        end=entry.end,
        type=kind,
        key=key,
        subject=subject_of(resource),
        name=name,
        **visit,
    )


def _key(entry: Entry) -> str:
    """Say "Type/id"; without an id the UUID of the full URL, else a digest of the content."""
    resource = entry.resource
    ident = word(resource.get("id")) or entry.full_url.removeprefix("urn:uuid:").rsplit("/", 1)[-1]
    if not ident:
        ident = hashlib.sha256(encode(resource).encode()).hexdigest()[:32]
        resource["id"] = ident
    return f"{resource['resourceType']}/{ident}"
