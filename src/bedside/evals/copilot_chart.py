"""A patient's raw FHIR JSON as plain entries: the independent side of the copilot's measure.

Only the `json` module reads here, and nothing of `bedside.record`: a fault in the record room
must not be able to hide in the gold. Figures stay the text that stands in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["CLINICAL", "Chart", "Entry", "read_chart"]

CLINICAL = (
    "AllergyIntolerance",
    "CarePlan",
    "Condition",
    "DiagnosticReport",
    "DocumentReference",
    "Encounter",
    "Flag",
    "Goal",
    "ImagingStudy",
    "Immunization",
    "MedicationRequest",
    "MedicationStatement",
    "Observation",
    "Procedure",
    "ServiceRequest",
)
"""The resource types that hold clinical facts; bills and directories are left out."""

_NAMED_BY = {
    "AllergyIntolerance": "code",
    "CarePlan": "category",
    "Condition": "code",
    "DiagnosticReport": "code",
    "DocumentReference": "type",
    "Encounter": "type",
    "Flag": "code",
    "Goal": "description",
    "Immunization": "vaccineCode",
    "MedicationRequest": "medicationCodeableConcept",
    "MedicationStatement": "medicationCodeableConcept",
    "Observation": "code",
    "Procedure": "code",
    "ServiceRequest": "code",
}
_DATED_BY = (
    "effectiveDateTime",
    "onsetDateTime",
    "authoredOn",
    "performedPeriod",
    "performedDateTime",
    "occurrenceDateTime",
    "period",
    "started",
    "recordedDate",
    "date",
)
_DROP = re.compile(
    r"\s*\((?:disorder|finding|situation|procedure|record artifact|regime/therapy|observable entity)\)"
)


@value
class Entry:
    """One clinical entry of a bundle.

    `day` and `end` are the calendar dates as written (ISO, "" when the entry has none) and `stamp`
    the whole moment as written, for order. `figure` is the number as written, "" when there is none;
    a blood pressure has its two figures in `parts` (systolic first). `words` is a coded or string
    value. `active` is True for a medicine, problem, allergy or plan that stands at present.
    """

    ref: str
    resource: str
    name: str
    names: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    group: str = ""
    status: str = ""
    active: bool = False
    stamp: str = ""
    day: str = ""
    end: str = ""
    figure: str = ""
    unit: str = ""
    words: str = ""
    parts: tuple[Entry, ...] = ()

    @property
    def amount(self) -> Decimal | None:
        """The figure as a number, `None` when the entry has none."""
        return Decimal(self.figure) if self.figure else None


@value
class Chart:
    """One patient: the Patient resource as read, and the clinical entries, oldest first."""

    patient: Mapping[str, Any]
    entries: tuple[Entry, ...]

    @property
    def as_of(self) -> str:
        """The newest date of any entry (ISO), "" for an empty chart."""
        return max((max(entry.day, entry.end) for entry in self.entries), default="")


def read_chart(path: Path) -> Chart:
    """Read one bundle.

    Raises:
        BadInput: The file holds no Patient.
    """
    with path.open(encoding="utf-8") as file:
        bundle = json.load(file, parse_float=str, parse_int=str)
    resources = [row["resource"] for row in bundle.get("entry", [])]
    patients = [found for found in resources if found["resourceType"] == "Patient"]
    if not patients:
        raise BadInput(path.name, why="the bundle holds no Patient")
    entries = [_entry(found) for found in resources if found["resourceType"] in CLINICAL]
    entries.sort(key=lambda entry: (entry.stamp, entry.ref))
    return Chart(patient=patients[0], entries=tuple(entries))


def _entry(resource: Mapping[str, Any]) -> Entry:
    kind = resource["resourceType"]
    concept = _concept(resource, _NAMED_BY.get(kind, ""))
    names, codes = _names(concept)
    if kind == "ImagingStudy":
        names, codes = _imaging(resource)
    stamp, end = _moments(resource)
    status = _status(resource)
    amount = resource.get("valueQuantity", {})
    coded = _names(resource.get("valueCodeableConcept", {}))[0]
    return Entry(
        ref=f"{kind}/{resource.get('id', '')}",
        resource=kind,
        name=_DROP.sub("", names[0]) if names else "",
        names=names,
        codes=codes,
        group=_group(resource),
        status=status,
        active=_active(kind, status, end),
        stamp=stamp,
        day=stamp[:10],
        end=end[:10],
        figure=str(amount.get("value", "")),
        unit=amount.get("unit", ""),
        words=resource.get("valueString", "") or (coded[0] if coded else ""),
        parts=tuple(_part(part, stamp) for part in resource.get("component", [])),
    )


def _part(component: Mapping[str, Any], stamp: str) -> Entry:
    names, codes = _names(component["code"])
    amount = component.get("valueQuantity", {})
    return Entry(
        ref="",
        resource="component",
        name=names[0] if names else "",
        names=names,
        codes=codes,
        stamp=stamp,
        day=stamp[:10],
        figure=str(amount.get("value", "")),
        unit=amount.get("unit", ""),
    )


def _concept(resource: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = resource.get(key, {})
    if isinstance(found, list):
        found = found[0] if found else {}
    return found


def _names(concept: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    codings: Sequence[Mapping[str, Any]] = concept.get("coding", [])
    names = [concept.get("text", ""), *(coding.get("display", "") for coding in codings)]
    # Synthea puts zero-width spaces into some LOINC names; nobody types or prints them.
    clean = dict.fromkeys(name.replace("\u200b", "") for name in names if name)
    return tuple(clean), tuple(coding["code"] for coding in codings if "code" in coding)


def _imaging(resource: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: list[str] = []
    codes: list[str] = []
    for series in resource.get("series", []):
        for key in ("modality", "bodySite"):
            names.append(series.get(key, {}).get("display", ""))
            codes.append(series.get(key, {}).get("code", ""))
    joined = " ".join(dict.fromkeys(name for name in names if name))
    return (joined,) if joined else (), tuple(code for code in codes if code)


def _moments(resource: Mapping[str, Any]) -> tuple[str, str]:
    end = resource.get("abatementDateTime", "")
    for key in _DATED_BY:
        found = resource.get(key)
        if isinstance(found, str):
            return found, end
        if isinstance(found, dict):
            return found.get("start", ""), end or found.get("end", "")
    return "", end


def _status(resource: Mapping[str, Any]) -> str:
    clinical = resource.get("clinicalStatus", {})
    for coding in clinical.get("coding", []) if isinstance(clinical, dict) else []:
        return coding.get("code", "")
    return resource.get("status", "")


def _group(resource: Mapping[str, Any]) -> str:
    if resource["resourceType"] == "Encounter":
        return resource.get("class", {}).get("code", "")
    for concept in _concepts(resource.get("category", [])):
        for coding in concept.get("coding", []):
            return coding.get("code", "")
    return ""


def _concepts(found: object) -> Iterator[Mapping[str, Any]]:
    for concept in found if isinstance(found, list) else [found]:
        if isinstance(concept, dict):
            yield concept


def _active(kind: str, status: str, end: str) -> bool:
    if kind == "Condition":
        return status in {"active", "recurrence", "relapse"} and not end
    if kind in {"MedicationRequest", "MedicationStatement", "AllergyIntolerance", "CarePlan"}:
        return status == "active"
    return False
