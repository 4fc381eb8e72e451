"""Medicines, problems and results together: each case by hand, its outcome from the label it names."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.record.insights import priorities

from .entries import PATIENT as SOMEBODY
from .entries import about, lab, state

PATIENT = {**SOMEBODY, "birthDate": "1990-03-04"}
PAIRS = {"drug_drug", "drug_condition", "combination"}


def drug(ident, name, since="2026-10-01", status="active"):
    return about("MedicationRequest", ident, name, status=status, authoredOn=since)


def problem(ident, name, since="2026-06-01", status="active"):
    return about("Condition", ident, name, clinicalStatus=state(status), onsetDateTime=since)


def reading(ident, name, loinc, figure, unit, day="2026-11-16"):
    return lab(ident, name, figure, unit, day=day, loinc=loinc)


@pytest.fixture
def together(take, ask):
    def run(*resources, patient=PATIENT):
        take(patient, *resources)
        return ask("p1", "insights", as_of=date(2026, 11, 22))

    return run


def shown(record):
    return [(one.severity, one.kind, one.title) for one in record.insights if one.kind in PAIRS]


METHOTREXATE = drug("m", "Methotrexate 2.5 mg oral tablet")
TRIMETHOPRIM = drug("t", "Trimethoprim 200 mg oral tablet", since="2026-11-07")


@pytest.mark.requirement("CO-13")
@pytest.mark.requirement("CO-16")
def test_two_current_medicines_that_a_label_warns_of_head_the_opening(together):
    # methotrexate's label: trimethoprim adds to suppression of the marrow
    record = together(
        METHOTREXATE, TRIMETHOPRIM, reading("k", "Potassium", "6298-4", 5.5, "mmol/L")
    )
    first = priorities(record)[0]
    assert (first.severity, first.kind) == ("critical", "drug_drug")
    assert {fact.resource for fact in first.facts} == {
        "MedicationRequest/m",
        "MedicationRequest/t",
    }
    assert first.reference is not None
    assert "not clinically reviewed" in first.reference.text
    assert first.text.endswith("; not clinically reviewed).")


@pytest.mark.parametrize(
    "other",
    [
        drug("t", "Trimethoprim 200 mg oral tablet", status="stopped"),
        drug("t", "Trimethoprim 1 % eye drops"),
        drug("t", "Paracetamol 500 mg oral tablet"),
        drug("t", "Methotrexate 10 mg oral tablet"),
    ],
    ids=["stopped", "local", "harmless", "the same"],
)
def test_a_pair_that_no_label_warns_of_says_nothing(together, other):
    assert shown(together(METHOTREXATE, other)) == []


def test_two_of_a_kind_are_told_once_with_both(together):
    record = together(
        drug("a", "Apixaban 5 mg oral tablet"), drug("w", "Warfarin 3 mg oral tablet")
    )
    kinds = [one for one in record.insights if one.rule.startswith("duplicate")]
    assert len(kinds) == 1
    assert {fact.name for fact in kinds[0].facts} == {
        "Apixaban 5 mg oral tablet",
        "Warfarin 3 mg oral tablet",
    }


@pytest.mark.parametrize(
    ("status", "told"), [("active", True), ("resolved", False)], ids=["open", "over"]
)
def test_a_medicine_in_an_open_problem_is_told(together, status, told):
    # NSAID class label, warnings: heart failure
    record = together(
        drug("n", "Naproxen 250 mg oral tablet"), problem("h", "Heart failure", status=status)
    )
    assert any(one.kind == "drug_condition" for one in record.insights) is told


@pytest.mark.parametrize(
    "name", ["Family history of heart failure (situation)", "FH: heart failure"]
)
def test_a_relatives_problem_is_no_problem_of_the_patient(together, name):
    medicines = (drug("n", "Naproxen 250 mg oral tablet"), drug("l", "Lisinopril 10 mg tablet"))
    expecting = problem("p", "Pregnancy with family history of heart failure")
    told = shown(together(*medicines, problem("h", name), expecting))
    assert {title for _, kind, title in told if kind == "drug_condition"} == {
        "Naproxen 250 mg oral tablet and Pregnancy with family history of heart failure",
        "Lisinopril 10 mg tablet and Pregnancy with family history of heart failure",
    }


PRESSURE = (
    reading("s", "Systolic blood pressure", "8480-6", 158, "mmHg"),
    reading("d", "Diastolic blood pressure", "8462-4", 102, "mmHg"),
)
PROTEIN = reading("u", "Protein/Creatinine [Mass Ratio] in Urine", "2890-2", 420, "mg/g")


@pytest.mark.requirement("CO-16")
@pytest.mark.parametrize(
    ("entries", "patient", "told"),
    [
        ((problem("p", "Pregnancy"), *PRESSURE, PROTEIN), PATIENT, True),
        ((*PRESSURE, PROTEIN), PATIENT, False),
        ((problem("p", "Pregnancy"), *PRESSURE), PATIENT, False),
        (
            (problem("p", "Pregnancy"), *PRESSURE, PROTEIN),
            {**PATIENT, "birthDate": "2012-03-04"},
            False,
        ),
    ],
    ids=["all", "not pregnant", "no protein", "no adult"],
)
def test_pressure_and_protein_in_pregnancy_are_told_together(together, entries, patient, told):
    # ACOG bulletin 222: 140/90 or more with 300 mg/g or more, from 20 weeks
    found = [one.kind for one in priorities(together(*entries, patient=patient))]
    assert ("combination" in found) is told


def test_the_dead_take_nothing(together):
    record = together(METHOTREXATE, TRIMETHOPRIM, patient={**PATIENT, "deceasedBoolean": True})
    assert shown(record) == []
