"""What a question does not say: other allergies, persons, units, times and children than it names."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from bedside.flows.copilot import COPILOT

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
passage, turn = cases.passage, cases.turn


def told(text: str, facts, **more) -> str:
    view = turn(text, facts, **more)
    return (COPILOT.answer(view) or COPILOT.next(view).unaided(view)).text


def allergic(record, name: str) -> None:
    record.add(
        "allergies", f"{name}: allergy, active", name, day="2001-01-01", status="active"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("Nystatin", "allergic to statins?"),
        ("Shellfish", "is she allergic to fish?"),
        ("Coconut", "allergic to nuts?"),
    ],
)
def test_an_allergy_is_not_to_what_its_name_merely_ends_in(record, recorded, asked):
    allergic(record, recorded)
    text = told(asked, record.build())
    assert text.startswith("Not recorded: an allergy to ")
    assert "Yes" not in text


@pytest.mark.parametrize(
    ("recorded", "asked"), [("Statins", "allergic to statins?"), ("Tree nuts", "allergic to nut?")]
)
def test_an_allergy_is_found_in_the_plural(record, recorded, asked):
    allergic(record, recorded)
    assert told(asked, record.build()).startswith(f"Yes: {recorded}")


def test_a_statement_of_absence_is_no_allergy(record):
    for name in ("No known latex allergy", "Peanut"):
        allergic(record, name)
    facts = record.build()
    assert told("allergic to latex?", facts).startswith("Not recorded: an allergy to ")
    assert "positively states: No known latex allergy" in told("allergic to latex?", facts)
    assert told("allergic to peanuts?", facts).startswith("Yes: Peanut")
    assert told("allergies?", facts).startswith("1 allergy recorded:\n- Peanut")


def test_of_two_statements_of_absence_the_whole_one_speaks(record):
    for name in ("No known food allergies", "No known allergies"):
        allergic(record, name)
    facts = replace(record.build(), no_known_allergies=True)
    for asked in ("allergies?", "allergic to statins?"):
        assert "positively" in told(asked, facts)
        assert "food" not in told(asked, facts)


def test_a_statement_of_absence_that_is_over_counts_as_no_allergy(record):
    record.add("allergies", "No known allergies: allergy, inactive", "No known allergies",
               day="2001-01-01", status="inactive")  # fmt: skip
    assert "recorded:" not in told("allergies?", record.build())


@pytest.mark.parametrize("asked", ["is she on a statin?", "start a statin for her risk?"])
def test_nystatin_is_no_warning_beside_a_statin(record, asked):
    allergic(record, "Nystatin")
    assert "intolerance recorded: Nystatin" not in told(asked, record.build())


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "text",
    [
        "What are Asha Patel's allergies?",
        "john smith's hba1c",
        "does asha patel's metformin need a change",
        "HbA1c of Asha Patel",
        "Ravi Jones's HbA1c",
        "What are Asha Reddy's allergies?",
        "Allen Rao's hba1c",
        "HbA1c Asha Patel",
        "Asha Patel: HbA1c?",
        "ASHA PATEL's HbA1c",
        "HbA1c for ASHA PATEL",
        "hba1c for mary smith",
        "what's José García's HbA1c",
        "HbA1c for José García",
        "her husband's HbA1c",
        "her mother's latest potassium?",
        "HbA1c of her husband",
        "O'Brien's HbA1c",
        "Patel's allergies",
        "jenny's hba1c",
        "HbA1c of Miguel",
    ],
)
def test_one_foreign_word_in_a_name_makes_it_somebody_elses(full, text):
    answer = told(text, full.build())
    assert answer.startswith("The question names somebody else.")
    assert "8.6" not in answer
    assert "Penicillin" not in answer


@pytest.mark.parametrize(
    "text",
    [
        "concern for Addisonian Crisis?",
        "signs of Necrotizing Fasciitis",
        "risk of Serotonin Syndrome with tramadol",
        "is Non-Hodgkin's Lymphoma recorded?",
        "signs of Guillain Barre's syndrome",
        "Is Asha Rao's HbA1c rising",
        "what did Dr. Karen Smith's letter say about HbA1c?",
        "Asha's HbA1c",
        "HbA1c for asha",
        "patient's HbA1c",
        "today's BP",
        "HbA1c for diabetes",
        "Dr Patel's HbA1c target",
        "is Ringer's lactate safe with her potassium",
        "is she on Yasmin",
        "her husband's worry about her HbA1c",
        "does her mother's diabetes matter",
        "St John's wort and her HbA1c",
        "Sjogren's and her HbA1c",
        "mother's BP",
    ],
)
def test_capitalised_illnesses_are_nobody(full, text):
    assert "somebody else" not in told(text, full.build())


def group(record, name: str, loinc: str, said: str, day: str) -> None:
    record.add(
        "observations", f"{name}: {said} ({day}, final)", name, day=day, text_value=said,
        code=f"http://loinc.org|{loinc}", group="laboratory", status="final",
    )  # fmt: skip


@pytest.mark.parametrize(
    "asked", ["blood type?", "blood group", "rh status?", "blood group and Rh"]
)
def test_abo_and_rhesus_are_two_results_told_together(record, asked):
    group(record, "ABO group [Type] in Blood", "883-9", "A", "2019-03-01")
    group(record, "Rh [Type] in Blood", "10331-7", "Negative", "2020-03-01")
    text = told(asked, record.build())
    assert "Blood group (ABO): A, 1 Mar 2019" in text
    assert "Blood group (Rh): Negative, 1 Mar 2020" in text
    assert "before" not in text.lower()
    assert "Not found" not in text


def test_a_group_that_says_both_leaves_nothing_missing(record):
    group(record, "ABO and Rh group [Type] in Blood", "882-1", "A Rh negative", "2019-03-01")
    text = told("blood group", record.build())
    assert "Blood group (ABO and Rh): A Rh negative, 1 Mar 2019" in text
    assert "Not found" not in text


def test_half_of_a_blood_group_says_what_is_missing(record):
    group(record, "Blood ABO", "883-9", "A", "2019-03-01")
    text = told("blood group", record.build())
    assert "Not found in the record: Blood group (Rh)." in text
    assert "Not recorded: Blood group." in told(
        "her blood group before surgery matters", cases.Record().build()
    )


def test_a_level_does_not_stand_for_the_medicine(record):
    record.lab("Digoxin [Mass/volume]", "10535-3", "0.9", "ng/mL", "2026-10-05")
    text = told("digoxin level, and should I adjust digoxin?", record.build())
    assert "Digoxin level: 0.9 ng/mL" in text
    assert "Not recorded among the medicines: digoxin." in text


def test_smoking_is_still_told_once(record):
    record.add(
        "observations", "Tobacco smoking status: Never smoker (5 Nov 2026)", "Smoking status",
        day="2026-11-05", code="http://loinc.org|72166-2", text_value="Never smoker",
        group="social-history", status="final",
    )  # fmt: skip
    assert "Not recorded: smoking" not in told("does smoking matter for her wound?", record.build())


ADULT = "Amoxicillin 500 mg to 1 g three times daily."


@pytest.mark.parametrize(
    "asked",
    [
        "amoxicillin dose in Child-Pugh B?",
        "amoxicillin dose for a woman of child-bearing age?",
        "amoxicillin dose beside baby aspirin?",
        "amoxicillin dose for a mother of two children?",
    ],
)
def test_an_adults_question_keeps_its_guideline(asked):
    hit = passage("Pneumonia in adults", 0, ADULT, kind="guideline", prefix="[Pneumonia > Dose]")
    assert "500 mg to 1 g" in told(asked, None, knowledge=(hit,))
    assert "500 mg to 1 g" not in told(
        "amoxicillin dose for a child?", None, knowledge=(hit,)
    )  # fmt: skip


@pytest.mark.parametrize("word", ["Child-Pugh B", "women of child-bearing age"])
def test_a_childs_dose_comes_from_no_passage_with_a_childs_word_in_it(full, word):
    adult = full.build()
    child = replace(adult, person=replace(adult.person, birth_date=date(2020, 10, 23)))
    text = f"In {word}: amoxicillin 500 mg to 1 g three times daily."
    hit = passage("Liver disease", 0, text, kind="guideline", prefix="[Liver disease > Dose]")
    asked = "amoxicillin dose for her liver disease?"
    assert "500 mg to 1 g" in told(asked, adult, knowledge=(hit,))
    assert "500 mg to 1 g" not in told(asked, child, knowledge=(hit,))


def test_feet_swell_and_are_no_unit_of_weight(record):
    record.lab("Body weight", "29463-7", "80", "kg", "2026-11-05")
    record.lab("Body height", "8302-2", "183", "cm", "2026-11-05")
    for asked in ("weight gain and swollen feet since last visit?", "weight, oedema in feet?"):
        text = told(asked, record.build())
        assert "80 kg" in text
        assert "cannot be given" not in text
    # 183 cm / 30.48 = 6.004 ft
    assert "183 cm is about 6.00 feet" in told("height in feet", record.build())


@pytest.fixture
def potassium(record):
    bounds = {"low": Decimal("3.5"), "high": Decimal("5.1")}
    record.lab("Potassium", "2823-3", "6.1", "mmol/L", "2019-05-05", **bounds)
    record.lab("Potassium", "2823-3", "5.9", "mmol/L", "2026-05-05", **bounds)
    return record.build()


def test_abnormal_results_are_those_of_the_time_asked_for(potassium):
    text = told("any abnormal labs in 2019?", potassium)
    assert "6.1 mmol/L on 5 May 2019" in text
    assert "5.9" not in text


def test_a_time_without_abnormal_results_says_so(potassium):
    text = told("any abnormal labs in 2018?", potassium)
    assert text.startswith("No rule finds a newest result in 2018 outside its range.")
    assert "mmol/L" not in text


def test_a_car_crash_is_no_carvedilol(record):
    record.add(
        "medications", "Carvedilol 6.25 mg oral tablet: active, ordered 1 Mar 2019",
        "Carvedilol 6.25 mg oral tablet", day="2019-03-01", status="active",
    )  # fmt: skip
    text = told("ever in a car crash?", record.build())
    assert "Carvedilol" not in text
    assert text.startswith('Nothing in the record was matched to "car" and "crash".')


def test_pcp_is_the_doctor_only_where_a_person_is_asked_for(record):
    assert "primary care" not in told("treated for PCP?", record.build())
    for asked in ("who is her pcp?", "who's the PCP", "whose pcp"):
        assert told(asked, record.build()) == "No primary care doctor is recorded."
