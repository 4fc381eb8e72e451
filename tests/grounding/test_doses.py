"""A dose may only be repeated: drug, number, unit and frequency as they stand together."""

from __future__ import annotations

import pytest

from bedside.evals.grounding_doses import doses as measure
from bedside.grounding.doses import doses, unsupported

TEXT = "Amoxicillin 500 mg 8 hourly for 5 days, or doxycycline 100 mg twice daily."


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize(
    "said",
    [
        "amoxicillin 5000 mg three times daily",
        "amoxicillin 50 mg three times daily",
        "amoxicillin 500 mcg three times daily",
        "amoxicillin 500 g three times daily",
        "amoxicillin 500 mg twice daily",
        "amoxicillin 500 mg weekly",
        "amoxicillin 100 mg twice daily",
        "doxycycline 500 mg three times daily",
        "azithromycin 500 mg three times daily",
    ],
)
def test_a_dose_with_any_part_changed_is_unsupported(said):
    assert unsupported(said, [TEXT])


@pytest.mark.parametrize(
    "said",
    [
        "amoxicillin 500 mg three times daily",
        "500 mg of amoxicillin every 8 hours",
        "Amoxil 500 mg tds",
        "doxycycline 100 mg b.d.",
        "doxycycline 100 mg",
    ],
)
def test_the_same_dose_in_other_words_is_supported(said):
    assert not unsupported(said, [TEXT])


def test_laboratory_figures_are_no_doses():
    assert doses("Glucose 95 mg/dL, creatinine 80 umol/L, weight 70 kg") == []


def test_a_dose_of_a_medicine_the_vocabulary_does_not_know_needs_its_name_beside_it():
    assert not unsupported("zzyzxamab 30 mg", ["Zzyzxamab 30 mg once"])
    assert unsupported("qwertinib 30 mg", ["Zzyzxamab 30 mg once"])


@pytest.mark.slow
@pytest.mark.requirement("EN-G3")
@pytest.mark.requirement("RELIABILITY-21")
def test_of_falsified_doses_none_passes_and_of_true_ones_nearly_all(shared_data):
    figures = measure(shared_data, count=200)
    assert figures["n_mutants"] == 200
    assert figures["mutants_passed"] == 0, figures["passed_examples"]
    assert figures["valid_passed"] >= 0.98, figures["refused_for"]
