"""What may be said of the patient, what is derived beside it, and what must never be said."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .entries import PATIENT, about, lab, state

NEVER = [
    about("AllergyIntolerance", "x", "Penicillin", verificationStatus=state("refuted")),
    about("AllergyIntolerance", "x", "Penicillin", verificationStatus=state("entered-in-error")),
    about("Condition", "x", "Diabetes", verificationStatus=state("refuted")),
    about("Condition", "x", "Diabetes", verificationStatus=state("entered-in-error")),
    about("Observation", "x", "Potassium", status="entered-in-error", valueQuantity={"value": 9}),
    about("Observation", "x", "Potassium", status="cancelled"),
    about("MedicationRequest", "x", "Warfarin", status="entered-in-error"),
    about("MedicationRequest", "x", "Warfarin", status="cancelled"),
    about("MedicationRequest", "x", "Warfarin", status="completed", doNotPerform=True),
    about("MedicationStatement", "x", "Warfarin", status="entered-in-error"),
    about("Procedure", "x", "Appendectomy", status="not-done"),
    about("Procedure", "x", "Appendectomy", status="entered-in-error"),
    about("Immunization", "x", "Tetanus", status="not-done"),
    about("Immunization", "x", "Tetanus", status="entered-in-error"),
    about("Flag", "x", "Falls risk", status="entered-in-error"),
    about("ServiceRequest", "x", "MRI", status="entered-in-error"),
    about("DiagnosticReport", "x", "CT", status="entered-in-error"),
    about("DiagnosticReport", "x", "CT", status="cancelled"),
    about("FamilyMemberHistory", "x", "mother", status="entered-in-error"),
    {
        "resourceType": "Encounter",
        "id": "x",
        "status": "cancelled",
        "subject": {"reference": "Patient/p1"},
        "period": {"start": "2026-01-01"},
    },
    {
        "resourceType": "DocumentReference",
        "id": "x",
        "status": "entered-in-error",
        "subject": {"reference": "Patient/p1"},
        "type": {"text": "Letter"},
    },
]


@pytest.mark.requirement("EN-R3")
@pytest.mark.parametrize(
    "resource", NEVER, ids=lambda r: f"{r['resourceType']} {r.get('status') or 'refuted'}"
)
def test_what_is_wrong_refuted_cancelled_or_not_done_is_no_fact(take, ask, resource):
    report = take(PATIENT, resource)

    found = ask()
    assert [fact.category for fact in found.facts] == ["demographics"]
    assert dict(found.total)["conditions"] == 0
    assert dict(report.resources)[resource["resourceType"]] == 1


@pytest.mark.requirement("EN-R3")
def test_family_history_is_never_a_condition_of_the_patient(take, ask):
    take(
        PATIENT,
        {
            "resourceType": "FamilyMemberHistory",
            "id": "f",
            "status": "completed",
            "patient": {"reference": "Patient/p1"},
            "relationship": {"text": "mother"},
            "condition": [
                {"code": {"text": "Breast cancer"}, "onsetAge": {"value": 45, "unit": "a"}}
            ],
        },
    )

    found = ask()
    assert found.of("conditions") == ()
    fact = found.of("family_history")[0]
    assert (
        fact.line
        == "Family history, mother: Breast cancer (onset age 45 a) (date unknown, completed)"
    )
    assert "cancer" not in fact.name.casefold()


NKA = {
    "coding": [
        {"system": "http://snomed.info/sct", "code": "716186003", "display": "No known allergy"}
    ]
}
NKDA = {
    "coding": [
        {
            "system": "http://snomed.info/sct",
            "code": "409137002",
            "display": "No known drug allergy",
        }
    ]
}


@pytest.mark.requirement("EN-R3")
@pytest.mark.parametrize(
    ("allergies", "said"),
    [
        ([], False),
        ([{"code": NKA, "clinicalStatus": state("active")}], True),
        ([{"code": {"text": "No known allergies"}}], True),
        ([{"code": {"text": "NKA"}, "verificationStatus": state("confirmed")}], True),
        ([{"code": NKDA}], False),
        ([{"code": {"text": "No known drug allergies"}}], False),
        ([{"code": NKA, "verificationStatus": state("entered-in-error")}], False),
        ([{"code": NKA, "verificationStatus": state("refuted")}], False),
        ([{"code": NKA, "clinicalStatus": state("inactive")}], False),
        ([{"code": NKA}, {"code": NKDA}], True),
        (
            [{"code": NKA}, {"code": {"text": "Penicillin"}, "clinicalStatus": state("active")}],
            False,
        ),
        ([{"code": {"text": "Penicillin"}, "verificationStatus": state("refuted")}], False),
    ],
)
def test_no_known_allergies_is_said_only_where_it_was_recorded(take, ask, allergies, said):
    entries = [
        {
            "resourceType": "AllergyIntolerance",
            "id": f"a{n}",
            "patient": {"reference": "Patient/p1"},
            **item,
        }
        for n, item in enumerate(allergies)
    ]
    take(PATIENT, *entries)

    assert ask().no_known_allergies is said


def test_lines_read_as_a_clinician_would_write_them(take, ask):
    take(
        PATIENT,
        lab(
            "o1",
            "Hemoglobin A1c/Hemoglobin.total in Blood",
            8.2,
            "%",
            low=4.0,
            high=5.6,
            interpretation=[state("H")],
            method={"text": "HPLC"},
            performer=[{"reference": "Organization/x", "display": "City Lab"}],
            note=[{"text": "haemolysed"}],
        ),
        about(
            "Observation",
            "o2",
            "Blood Pressure",
            status="final",
            effectiveDateTime="2026-11-02T09:30:00-05:00",
            component=[
                {
                    "code": {
                        "coding": [
                            {
                                "system": "http://loinc.org",
                                "code": "8462-4",
                                "display": "Diastolic Blood Pressure",
                            }
                        ]
                    },
                    "valueQuantity": {"value": 78, "unit": "mmHg"},
                },
                {
                    "code": {
                        "coding": [
                            {
                                "system": "http://loinc.org",
                                "code": "8480-6",
                                "display": "Systolic Blood Pressure",
                            }
                        ]
                    },
                    "valueQuantity": {"value": 120, "unit": "mmHg"},
                },
            ],
        ),
        about(
            "Observation",
            "o3",
            "Troponin",
            status="final",
            effectiveDateTime="2026-11",
            valueQuantity={"value": 0.01, "comparator": "<", "unit": "ng/mL"},
        ),
        about(
            "Observation",
            "o4",
            "Culture",
            status="preliminary",
            effectiveDateTime="2026",
            dataAbsentReason={"text": "specimen lost"},
        ),
        about(
            "MedicationRequest",
            "m1",
            "Metformin 500 mg oral tablet",
            status="active",
            authoredOn="2019-03-03",
            dosageInstruction=[
                {
                    "timing": {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}},
                    "doseAndRate": [{"doseQuantity": {"value": 1, "unit": "tablet"}}],
                    "route": {"text": "by mouth"},
                }
            ],
            reasonCode=[{"text": "Type 2 diabetes"}],
        ),
        about(
            "AllergyIntolerance",
            "a1",
            "Penicillin V",
            type="allergy",
            criticality="high",
            category=["medication"],
            clinicalStatus=state("active"),
            verificationStatus=state("confirmed"),
            recordedDate="2018-05-01",
            reaction=[{"manifestation": [{"text": "hives"}], "severity": "severe"}],
        ),
        about(
            "Condition",
            "c1",
            "Asthma (disorder)",
            clinicalStatus=state("active"),
            severity={"text": "moderate"},
            onsetDateTime="2001-06",
        ),
    )

    lines = {fact.resource: fact.line for fact in ask().facts}
    assert lines["Observation/o1"] == (
        "Hemoglobin A1c/Hemoglobin.total in Blood: 8.2 % (2 Nov 2026, final; range 4.0-5.6; high; "
        "method HPLC; City Lab; comment: haemolysed)"
    )
    assert (
        lines["Observation/o2"]
        == "Blood Pressure: systolic 120 mmHg, diastolic 78 mmHg (2 Nov 2026, final)"
    )
    assert lines["Observation/o3"] == "Troponin: <0.01 ng/mL (Nov 2026, final)"
    assert lines["Observation/o4"] == "Culture: no value (specimen lost) (2026, preliminary)"
    assert lines["MedicationRequest/m1"] == (
        "Metformin 500 mg oral tablet: active, ordered 3 Mar 2019; dose 1 tablet, by mouth, "
        "twice daily; for Type 2 diabetes"
    )
    assert lines["AllergyIntolerance/a1"] == (
        "Penicillin V: allergy, active, confirmed; criticality high; medication; "
        "reaction: hives (severe); recorded 1 May 2018"
    )
    assert lines["Condition/c1"] == "Asthma: active; moderate; since Jun 2001"


@pytest.mark.requirement("RELIABILITY-24")
@pytest.mark.requirement("EN-R3")
@pytest.mark.parametrize(
    ("day", "age"),
    [
        ("2026-11-22", "today"),
        ("2026-11-21", "1 day old"),
        ("2026-11-01", "3 weeks old"),
        ("2026-08-01", "3 months old"),
        ("2026-05-30", "5 months old"),
        ("2026-05-20", "6 months old; stale"),
        ("2025-11-02", "12 months old; stale"),
        ("2020-11-02", "6 years old; stale"),
        ("1999-01-01", "27 years old; stale"),
    ],
)
def test_every_value_carries_its_age_and_a_stale_one_says_so(take, ask, day, age):
    take(PATIENT, lab("o1", "HbA1c", 7.1, "%", day=day, loinc="4548-4"))

    fact = ask().of("observations")[0]
    assert fact.note.startswith(age + "; ")
    assert fact.stale is ("stale" in age)


def test_a_value_without_a_date_says_that_its_age_is_unknown(take, ask):
    found = lab("o1", "Sodium", 140)
    del found["effectiveDateTime"]
    take(PATIENT, found)

    fact = ask().of("observations")[0]
    assert fact.when is None
    assert "date unknown" in fact.line
    assert fact.note.startswith("age unknown")
    assert fact.stale is False


@pytest.mark.requirement("EN-R3")
@pytest.mark.parametrize(
    ("figure", "low", "high", "borderline", "said"),
    [
        (4.9, 3.5, 5.0, True, ""),  # within 0.15 of 5.0
        (5.1, 3.5, 5.0, True, "above its range"),
        (4.2, 3.5, 5.0, False, ""),
        (6.4, 3.5, 5.0, False, "above its range"),
        (3.4, 3.5, 5.0, True, "below its range"),
        (2.0, 3.5, 5.0, False, "below its range"),
        (88, 90, None, True, "below its range"),
        (60, 90, None, False, "below its range"),
        (5.0, None, None, False, ""),
    ],
)
def test_a_value_near_a_limit_is_borderline(take, ask, figure, low, high, borderline, said):
    take(PATIENT, lab("o1", "Potassium", figure, low=low, high=high))

    fact = ask().of("observations")[0]
    assert fact.borderline is borderline
    assert ("borderline" in fact.note) is borderline
    assert [part for part in ("above its range", "below its range") if part in fact.note] == (
        [said] if said else []
    )


def test_a_range_in_another_unit_is_shown_and_never_compared(take, ask):
    found = lab("o1", "Glucose", 100, "mg/dL")
    found["referenceRange"] = [
        {"low": {"value": 3.9, "unit": "mmol/L"}, "high": {"value": 5.5, "unit": "mmol/L"}}
    ]
    take(PATIENT, found)

    fact = ask().of("observations")[0]
    assert (fact.low, fact.high) == (None, None)
    assert "range 3.9-5.5 mmol/L" in fact.line


def test_a_range_in_words_is_read_where_it_is_plain(take, ask):
    take(PATIENT, lab("o1", "Sodium", 140, referenceRange=[{"text": "135 - 145 mmol/L"}]))

    fact = ask().of("observations")[0]
    assert (fact.low, fact.high) == (Decimal(135), Decimal(145))


def test_who_did_it_and_what_was_noted_stand_apart_and_in_the_line(take, ask):
    take(
        PATIENT,
        about(
            "Procedure", "p", "Colonoscopy", status="completed", performedDateTime="2018",
            performer=[{"actor": {"display": "Dr Lim"}}], outcome={"text": "Two polyps"},
        ),
        about(
            "MedicationRequest", "m", "Ramipril", status="stopped", authoredOn="2024-03",
            statusReason={"text": "Angioedema"}, requester={"display": "Dr Okafor"},
        ),
        about("MedicationRequest", "n", "Apixaban", status="active", intent="proposal"),
    )  # fmt: skip

    done, *_ = ask().of("procedures")
    assert (done.people, done.noted, done.roughly) == (("Dr Lim",), "outcome Two polyps", "2018")
    assert all(said in done.line for said in ("Dr Lim", "outcome Two polyps", "2018"))
    stopped, proposed = sorted(ask().of("medications"), key=lambda fact: fact.name, reverse=True)
    assert (stopped.people, stopped.noted, stopped.roughly) == (
        ("Dr Okafor",),
        "Angioedema",
        "Mar 2024",
    )
    assert proposed.status == "proposed"


def test_a_statement_of_absence_with_a_code_alone_is_called_by_its_name(take, ask):
    code = {"coding": [{"system": "http://snomed.info/sct", "code": "716186003"}]}
    take(PATIENT, {**about("AllergyIntolerance", "n", "x"), "code": code})
    assert ask().of("allergies")[0].line.startswith("No known allergy: ")


@pytest.mark.requirement("EN-R3")
@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (about("MedicationRequest", "x", "Warfarin", status="active", doNotPerform=True),
         "Warfarin: DO NOT GIVE"),
        (about("ServiceRequest", "x", "MRI", status="active", doNotPerform=True),
         "MRI: DO NOT PERFORM"),
    ],
)  # fmt: skip
def test_a_standing_order_not_to_do_something_is_an_alert(take, ask, resource, words):
    take(PATIENT, resource)

    (alert,) = ask().of("alerts")
    assert alert.line.startswith(words)


def test_why_a_medicine_is_not_taken_stands_beside_it(take, ask):
    take(
        PATIENT,
        about("MedicationStatement", "x", "Atorvastatin", status="not-taken",
              effectiveDateTime="2025-02-02", statusReason=[{"text": "declined"}]),
    )  # fmt: skip

    (told,) = ask().of("medications")
    assert told.line == "Atorvastatin: not-taken (declined), stated 2 Feb 2025"
