"""What the cited text must hold for a sentence to stand."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.grounding.support import Evidence, judge


def against(said: str, context: str, **fields) -> tuple[str, str]:
    evidence = Evidence(
        n=1, kind=fields.pop("kind", "record"), quote=context, context=context, **fields
    )
    result = judge(said, [evidence])
    return result.level, result.why


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize(
    ("said", "context", "why"),
    [
        ("HbA1c was 8.3 %", "HbA1c 8.2 %", "figure_not_in_source"),
        ("HbA1c was 8 %", "HbA1c 8.2 %", "figure_not_in_source"),
        ("HbA1c was 8.20 %", "HbA1c 8.2 %", "figure_not_in_source"),
        ("Glucose was 5.6 mg/dL", "Glucose 5.6 mmol/L", "unit_mismatch"),
        ("CRP was 5 mg/L", "CRP < 5 mg/L", "figure_not_in_source"),
        ("HbA1c was 8.2 % in May 2023", "HbA1c 8.2 %, 2024-11-02", "date_not_in_source"),
        ("CKD stage 3b", "CKD stage 3a", "figure_not_in_source"),
        ("Creatinine was 8.2", "HbA1c 8.2 %", "analyte_not_in_source"),
        (
            "Lisinopril was stopped for cough",
            "Amlodipine was stopped for cough",
            "drug_not_in_source",
        ),
    ],
)
def test_a_figure_unit_date_or_name_that_differs_is_not_supported(said, context, why):
    assert against(said, context) == ("none", why)


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize(
    ("said", "context", "why"),
    [
        ("She has chest pain", "Denies chest pain and fever.", "negation_mismatch"),
        ("She has no chest pain", "Complains of chest pain.", "negation_mismatch"),
        ("Pneumonia was found", "Possible pneumonia.", "uncertainty_mismatch"),
        ("She had breast cancer", "Mother had breast cancer.", "subject_mismatch"),
        ("Her mother had breast cancer", "Breast cancer, treated 2011.", "subject_mismatch"),
        ("Pain in the left knee", "Pain in the right knee", "laterality_mismatch"),
        ("Bilateral knee pain", "Pain in the right knee", "laterality_mismatch"),
        ("Warfarin is contraindicated", "Warfarin is recommended", "negation_mismatch"),
    ],
)
def test_negation_doubt_subject_and_side_must_agree(said, context, why):
    assert against(said, context, kind="document") == ("none", why)


@pytest.mark.requirement("RELIABILITY-25")
@pytest.mark.parametrize("status", ["refuted", "entered-in-error", "cancelled", "not-taken"])
def test_what_was_refuted_or_cancelled_never_becomes_a_fact(status):
    assert against("Penicillin allergy", f"Allergy: penicillin ({status})")[0] == "none"


def test_a_family_history_section_makes_its_entries_the_familys():
    assert against(
        "Has diabetes", "Diabetes, type 2", kind="document", heading="Letter > Family history"
    ) == (
        "none",
        "subject_mismatch",
    )


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("HbA1c was 8.2 % on 2 Nov 2024", "HbA1c 8.2 %, 2024-11-02"),
        ("BP 120/80 mmHg", "Blood pressure: systolic 120 mm[Hg], diastolic 80 mm[Hg]"),
        ("eGFR is 38 mL/min/1.73 m²", "eGFR 38 mL/min/{1.73_m2}"),
        ("Denies chest pain", "No chest pain."),
        ("Right knee pain", "Pain in the right knee"),
        ("Her mother had breast cancer", "Mother had breast cancer at 50."),
        ("Possible pneumonia", "?pneumonia on the film"),
        ("She has hypertension", "HTN, active"),
    ],
)
def test_the_same_fact_in_other_words_is_supported(said, context):
    assert against(said, context, kind="document")[0] in {"full", "partial"}


def test_the_date_of_the_source_counts_as_written():
    assert (
        against(
            "Haemoglobin was 9.1 g/dL on 3 May 2024", "Haemoglobin 9.1 g/dL", dated=date(2024, 5, 3)
        )[0]
        == "full"
    )


def test_derived_notes_lend_their_figures():
    assert (
        against("HbA1c 8.2 %, 3 years old", "HbA1c 8.2 %", notes="3 years old, stale")[0] == "full"
    )


def test_a_sentence_of_which_the_source_says_little_is_not_supported():
    assert against(
        "The patient should see a cardiologist about palpitations",
        "Palpitations since May",
        kind="document",
    ) == (
        "none",
        "no_support",
    )


def test_a_threshold_from_the_question_may_be_repeated_if_it_is_true():
    evidence = Evidence(n=1, kind="record", quote="", context="Potassium 5.2 mmol/L, 2024-05-01")
    asked = "Was potassium ever above 5?"
    assert judge("Potassium was above 5: 5.2 mmol/L", [evidence], asked=asked).level == "full"
    assert judge("Potassium was above 6: 5.2 mmol/L", [evidence], asked=asked).level == "none"
    assert judge("Potassium was below 5: 5.2 mmol/L", [evidence], asked=asked).level == "none"


def test_without_evidence_nothing_is_supported():
    assert judge("HbA1c was 8.2 %", []).level == "none"
