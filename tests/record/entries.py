"""Entries as a record system would send them."""

from __future__ import annotations

PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Example", "given": ["Ada"]}],
    "gender": "female",
    "birthDate": "1960-03-04",
}


def about(kind, ident, code, patient="p1", **more):
    owner = (
        "patient"
        if kind in {"AllergyIntolerance", "Immunization", "FamilyMemberHistory"}
        else "subject"
    )
    named = {
        "Immunization": "vaccineCode",
        "MedicationRequest": "medicationCodeableConcept",
        "MedicationStatement": "medicationCodeableConcept",
    }.get(kind, "code")
    return {
        "resourceType": kind,
        "id": ident,
        owner: {"reference": f"Patient/{patient}"},
        named: {"text": code},
        **more,
    }


def state(code):
    return {"coding": [{"code": code}]}


def lab(
    ident,
    name,
    figure,
    unit="mmol/L",
    day="2026-11-02",
    loinc="",
    low=None,
    high=None,
    patient="p1",
    **more,
):
    found = about(
        "Observation", ident, name, patient=patient, status="final", effectiveDateTime=day
    )
    found["category"] = [{"coding": [{"code": "laboratory"}]}]
    if loinc:
        found["code"]["coding"] = [{"system": "http://loinc.org", "code": loinc}]
    found["valueQuantity"] = {"value": figure, "unit": unit}
    limits = {k: {"value": v} for k, v in (("low", low), ("high", high)) if v is not None}
    if limits:
        found["referenceRange"] = [limits]
    return {**found, **more}
