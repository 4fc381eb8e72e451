"""Which reader reads which resource, and who a resource belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bedside.record.fhir.around import Around
from bedside.record.fhir.course import (
    read_care_plan,
    read_document,
    read_encounter,
    read_goal,
    read_imaging,
    read_order,
    read_procedure,
    read_report,
)
from bedside.record.fhir.medicine import read_immunization, read_medication
from bedside.record.fhir.observation import read_observation
from bedside.record.fhir.person import read_patient
from bedside.record.fhir.problem import read_allergy, read_condition, read_family, read_flag
from bedside.record.fhir.shapes import objects, reference
from bedside.record.needs import Fact

__all__ = ["DIRECTORY", "READERS", "read", "subject_of"]

READERS: Mapping[str, Callable[[Mapping[str, Any], Around], tuple[Fact, ...]]] = {
    "Patient": read_patient,
    "AllergyIntolerance": read_allergy,
    "CarePlan": read_care_plan,
    "Condition": read_condition,
    "DiagnosticReport": read_report,
    "DocumentReference": read_document,
    "Encounter": read_encounter,
    "FamilyMemberHistory": read_family,
    "Flag": read_flag,
    "Goal": read_goal,
    "ImagingStudy": read_imaging,
    "Immunization": read_immunization,
    "MedicationRequest": read_medication,
    "MedicationStatement": read_medication,
    "Observation": read_observation,
    "Procedure": read_procedure,
    "ServiceRequest": read_order,
}

DIRECTORY = frozenset(
    {
        "Device",
        "Location",
        "Medication",
        "Organization",
        "Practitioner",
        "PractitionerRole",
        "RelatedPerson",
    }
)
"""Resources that others point at: their names are read, they are nobody's facts."""

_OWNERS = ("subject", "patient", "beneficiary", "individual", "for", "candidate", "policyHolder")


def subject_of(resource: Mapping[str, Any]) -> str:
    """The literal reference to the patient that a resource is about, "" when it names none."""
    for name in _OWNERS:
        for item in objects(resource.get(name)):
            if written := reference(item):
                return written
    return ""


def read(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...] | None:
    """The facts of a resource; `None` for a type that has no reader."""
    reader = READERS.get(str(resource.get("resourceType")))
    return None if reader is None else reader(resource, around)
