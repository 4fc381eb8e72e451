"""Row 24: sixty hand-made cases; every contradiction found, both sides named, nothing invented."""

from __future__ import annotations

import pytest

PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"text": "Ada Example"}],
    "gender": "female",
    "birthDate": "1960-03-04",
}


def state(code):
    return {"coding": [{"code": code}]}


def allergy(ident, name, status="active"):
    return {
        "resourceType": "AllergyIntolerance",
        "id": ident,
        "patient": {"reference": "Patient/p1"},
        "code": {"text": name},
        "clinicalStatus": state(status),
    }


def drug(ident, name, status="active", end=None):
    found = {
        "resourceType": "MedicationStatement",
        "id": ident,
        "subject": {"reference": "Patient/p1"},
        "status": status,
        "medicationCodeableConcept": {"text": name},
        "effectivePeriod": {"start": "2026-01-01"},
    }
    if end:
        found["effectivePeriod"]["end"] = end
    return found


def problem(ident, name, status, start=None, end=None, code=None):
    found = {
        "resourceType": "Condition",
        "id": ident,
        "subject": {"reference": "Patient/p1"},
        "code": {"text": name},
        "clinicalStatus": state(status),
    }
    if code:
        found["code"]["coding"] = [{"system": "http://snomed.info/sct", "code": code}]
    if start:
        found["onsetDateTime"] = start
    if end:
        found["abatementDateTime"] = end
    return found


def lab(
    ident,
    name,
    figure=None,
    unit="mmol/L",
    at="2026-11-02T08:00:00Z",
    text=None,
    status="final",
    comparator=None,
):
    found = {
        "resourceType": "Observation",
        "id": ident,
        "status": status,
        "subject": {"reference": "Patient/p1"},
        "code": {"text": name},
        "effectiveDateTime": at,
    }
    if text is not None:
        found["valueString"] = text
    else:
        found["valueQuantity"] = {"value": figure, "unit": unit}
        if comparator:
            found["valueQuantity"]["comparator"] = comparator
    return found


def blood_group(ident, text, at):
    return {
        **lab(ident, "ABO group", text=text, at=at),
        "code": {"text": "ABO group", "coding": [{"system": "http://loinc.org", "code": "883-9"}]},
    }


def pressure(ident, systolic, at="2026-11-02T08:00:00Z"):
    return {
        "resourceType": "Observation",
        "id": ident,
        "status": "final",
        "subject": {"reference": "Patient/p1"},
        "code": {"text": "Blood pressure"},
        "effectiveDateTime": at,
        "component": [
            {"code": {"text": "Systolic"}, "valueQuantity": {"value": systolic, "unit": "mmHg"}}
        ],
    }


FOUND = [
    # a medicine that matches an allergy, by itself, by class, by brand, by combination
    ("allergy-medicine", allergy("a", "Penicillin"), drug("b", "Amoxicillin 500 mg capsule")),
    (
        "allergy-medicine",
        allergy("a", "Penicillin V"),
        drug("b", "Penicillin V Potassium 500 MG Oral Tablet"),
    ),
    ("allergy-medicine", allergy("a", "Allergy to penicillin"), drug("b", "Augmentin 625 mg")),
    ("allergy-medicine", allergy("a", "Amoxicillin"), drug("b", "Ampicillin 1 g injection")),
    ("allergy-medicine", allergy("a", "Aspirin"), drug("b", "Aspirin 81 MG Oral Tablet")),
    ("allergy-medicine", allergy("a", "Aspirin"), drug("b", "Ibuprofen 400 mg tablet")),
    ("allergy-medicine", allergy("a", "NSAIDs"), drug("b", "Naproxen sodium 220 MG Oral Tablet")),
    ("allergy-medicine", allergy("a", "Ibuprofen"), drug("b", "Diclofenac 50 mg")),
    ("allergy-medicine", allergy("a", "Codeine"), drug("b", "Codeine 30 mg")),
    ("allergy-medicine", allergy("a", "Warfarin"), drug("b", "Warfarin 5 mg", "on-hold")),
    ("allergy-medicine", allergy("a", "Simvastatin"), drug("b", "Simvastatin 20 MG Oral Tablet")),
    (
        "allergy-medicine",
        allergy("a", "Metformin"),
        drug("b", "24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet"),
    ),
    ("allergy-medicine", allergy("a", "Ciprofloxacin"), drug("b", "Levofloxacin 500 mg")),
    ("allergy-medicine", allergy("a", "Erythromycin"), drug("b", "Azithromycin 250 mg")),
    ("allergy-medicine", allergy("a", "Cephalexin"), drug("b", "Cefuroxime 250 MG Oral Tablet")),
    ("allergy-medicine", allergy("a", "Lisinopril"), drug("b", "Lisinopril 10 MG Oral Tablet")),
    ("allergy-medicine", allergy("a", "Vancomycin"), drug("b", "Vancomycin 1 g")),
    # positive statement of none, beside a real one
    ("no-known-allergies", allergy("a", "No known allergies"), allergy("b", "Latex")),
    ("no-known-allergies", allergy("a", "NKA"), allergy("b", "Peanut")),
    # two values for one moment, over units too
    ("two-values", lab("a", "Potassium", 4.1), lab("b", "Potassium", 5.9)),
    ("two-values", lab("a", "Glucose", 100, "mg/dL"), lab("b", "Glucose", 9.9, "mmol/L")),
    ("two-values", lab("a", "Body Weight", 70, "kg"), lab("b", "Body Weight", 70, "lb")),
    (
        "two-values",
        lab("a", "Sodium", 139, at="2026-11-02T08:00:00Z"),
        lab("b", "Sodium", 129, at="2026-11-02T09:00:00+01:00"),
    ),
    (
        "two-values",
        lab("a", "Smoking", text="Never smoker"),
        lab("b", "Smoking", text="Current smoker"),
    ),
    ("two-values", pressure("a", 120), pressure("b", 180)),
    ("constant-changed", blood_group("a", "A", "2020-01-01"), blood_group("b", "B", "2024-01-01")),
    ("constant-changed", blood_group("a", "O", "1999-01-01"), blood_group("b", "AB", "2024-01-01")),
    # active here, over there
    (
        "active-and-resolved",
        problem("a", "Asthma", "active", "2010-01-01"),
        problem("b", "Asthma", "resolved", "2010-01-01", "2012-01-01"),
    ),
    (
        "active-and-resolved",
        problem("a", "Asthma", "active", "2010-01-01"),
        problem("b", "asthma", "inactive", "2015-01-01"),
    ),
    ("active-and-resolved", problem("a", "Gout", "active"), problem("b", "Gout", "resolved")),
    (
        "active-and-resolved",
        problem("a", "T2DM", "active", "2010", code="44054006"),
        problem("b", "Diabetes type 2", "resolved", "2011", "2020", code="44054006"),
    ),
    (
        "active-and-resolved",
        problem("a", "Anaemia", "relapse", "2019"),
        problem("b", "Anaemia", "remission", "2020"),
    ),
    ("active-past-end", problem("a", "Pneumonia", "active", "2024-01-01", "2024-02-01"), None),
    ("active-past-end", drug("a", "Prednisolone 5 mg", "active", "2026-02-01"), None),
    # the same medicine twice
    ("medicine-twice", drug("a", "Metformin 500 mg tablet"), drug("b", "Metformin 1 g tablet")),
    ("medicine-twice", drug("a", "Lasix 40mg"), drug("b", "Furosemide 40 mg tablet")),
    ("medicine-twice", drug("a", "Warfarin 3 mg"), drug("b", "Warfarin 5 mg")),
    ("medicine-twice", drug("a", "Some unheard-of drug"), drug("b", "some unheard-of drug")),
]

FOUND += [
    ("class-twice", drug("a", "Warfarin 3 mg"), drug("b", "Apixaban 5 mg")),
    ("class-twice", drug("a", "Lisinopril 10 mg"), drug("b", "Losartan 50 mg")),
    ("class-twice", drug("a", "Simvastatin 20 mg"), drug("b", "Atorvastatin 40 mg")),
    ("class-twice", drug("a", "Ibuprofen 400 mg"), drug("b", "Naproxen 250 mg")),
]

NOT_FOUND = [
    (drug("a", "Warfarin 3 mg", "stopped"), drug("b", "Apixaban 5 mg")),
    (drug("a", "Aspirin 81 mg"), drug("b", "Ibuprofen 400 mg")),
    (drug("a", "Metformin 500 mg"), drug("b", "Gliclazide 80 mg")),
    (allergy("a", "Penicillin", "resolved"), drug("b", "Amoxicillin 500 mg")),
    (allergy("a", "Penicillin", "inactive"), drug("b", "Amoxicillin 500 mg")),
    (allergy("a", "Penicillin"), drug("b", "Amoxicillin 500 mg", "stopped")),
    (allergy("a", "Penicillin"), drug("b", "Amoxicillin 500 mg", "completed")),
    (allergy("a", "Penicillin"), drug("b", "Metformin 500 mg")),
    (allergy("a", "Latex"), drug("b", "Amoxicillin 500 mg")),
    (allergy("a", "No known drug allergy"), allergy("b", "Peanut")),
    (allergy("a", "No known allergies"), allergy("b", "Peanut", "resolved")),
    (lab("a", "Potassium", 4.1), lab("b", "Potassium", 4.10)),
    (lab("a", "Potassium", 4.1, "mmol/L"), lab("b", "Potassium", 4.1, "meq/L")),
    (lab("a", "Potassium", 4.1), lab("b", "Potassium", 5.9, at="2026-11-03T08:00:00Z")),
    (lab("a", "Potassium", 4.1), lab("b", "Sodium", 140)),
    (lab("a", "Score", 4.1, "bananas"), lab("b", "Score", 5.9, "apples")),
    (lab("a", "Troponin", 4, comparator="<"), lab("b", "Troponin", 3)),
    (
        lab("a", "Culture", text="pending", status="preliminary"),
        lab("b", "Culture", text="no growth"),
    ),
    (pressure("a", 120), pressure("b", 180, at="2026-11-02T08:10:00Z")),
    (blood_group("a", "A", "2020-01-01"), blood_group("b", "a", "2024-01-01")),
    (
        problem("a", "Sinusitis", "active", "2026-01-01"),
        problem("b", "Sinusitis", "resolved", "2020-01-01", "2020-02-01"),
    ),
    (problem("a", "Asthma", "active"), problem("b", "Eczema", "resolved")),
    (
        problem("a", "Asthma", "resolved", "2010", "2012"),
        problem("b", "Asthma", "resolved", "2014", "2015"),
    ),
    (drug("a", "Metformin 500 mg"), drug("b", "Metformin 500 mg", "stopped")),
    (drug("a", "Metformin 500 mg", "active", "2031-01-01"), drug("b", "Insulin glargine")),
    (drug("a", "Prednisolone 5 mg", "completed", "2026-02-01"), None),
]


@pytest.mark.requirement("EN-R4")
def test_there_are_sixty_cases():
    assert len(FOUND) + len(NOT_FOUND) >= 60


@pytest.mark.requirement("RELIABILITY-24")
@pytest.mark.requirement("EN-R4")
@pytest.mark.parametrize(("rule", "one", "other"), FOUND)
def test_a_contradiction_is_found_and_names_both_sides(take, ask, rule, one, other):
    resources = [item for item in (one, other) if item]
    take(PATIENT, *resources)

    found = ask("p1", "observations").contradictions

    assert [item.rule for item in found] == [rule]
    assert {fact.resource for fact in found[0].facts} == {
        f"{item['resourceType']}/{item['id']}" for item in resources
    }
    assert found[0].text


@pytest.mark.requirement("EN-R4")
@pytest.mark.parametrize(("one", "other"), NOT_FOUND)
def test_what_can_both_be_right_is_no_contradiction(take, ask, one, other):
    take(PATIENT, *[item for item in (one, other) if item])

    assert ask("p1", "observations").contradictions == ()


def test_an_entry_in_error_contradicts_nothing(take, ask):
    wrong = {**allergy("a", "Penicillin"), "verificationStatus": state("entered-in-error")}
    take(PATIENT, wrong, drug("b", "Amoxicillin 500 mg"))

    assert ask().contradictions == ()


def test_contradictions_come_along_whatever_was_asked(take, ask):
    take(PATIENT, allergy("a", "Penicillin"), drug("b", "Amoxicillin 500 mg"))

    assert [item.rule for item in ask("p1", "goals").contradictions] == ["allergy-medicine"]
