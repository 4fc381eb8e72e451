"""The summary without a model: verbatim, complete, cited."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.flows.notes.composed import Summarised, _contradictions
from bedside.flows.notes.extractive import extract
from bedside.flows.notes.note import Note, StoredNote
from bedside.flows.notes.statements import entries, statements

ACI = Path(__file__).parents[3] / "../shared/data/notes/aci_bench/valid.csv"

NOTE = """CC:
Chest pain.

HPI: Mr. Cole is a 70-year-old man with chest pain. His mother had a stroke. BP at home was 150/90.

MEDICATIONS
- Aspirin 81 mg daily
- Metoprolol 25 mg twice daily, atorvastatin 40 mg nightly

ALLERGIES
Penicillin (rash).

RESULTS
Troponin 0.01 ng/mL.

ASSESSMENT
1. Stable angina.

PLAN
Follow up in 3 months. Start nitroglycerin 0.4 mg as needed. Go to the emergency department at once if pain recurs.
"""


def note(text: str) -> Note:
    source = Source(id=SourceId("n"), revision=1, kind="note", title="n")
    return Note(StoredNote(source=source, text=text))


def parts(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in extract(note(text))[0]:
        found.setdefault(one.part, []).append(one.text)
    return found


@pytest.mark.requirement("NO-11")
def test_facts_go_to_the_part_that_their_section_and_words_name():
    found = parts(NOTE)
    assert found["key_problems"] == ["Chest pain.", "Stable angina."]
    assert found["patient_snapshot"] == ["Mr. Cole is a 70-year-old man with chest pain."]
    assert found["pertinent_history"] == ["His mother had a stroke."]
    assert found["objective_findings"] == ["BP at home was 150/90."]
    assert found["medicines_allergies"] == [
        "Aspirin 81 mg daily",
        "Metoprolol 25 mg twice daily",
        "atorvastatin 40 mg nightly",
        "ALLERGIES Penicillin (rash).",
    ]
    assert found["labs_imaging"] == ["Troponin 0.01 ng/mL."]


def test_the_plan_is_what_the_note_orders_most_urgent_first():
    _, plan = extract(note(NOTE))
    assert [(one.number, one.text) for one in plan] == [
        (1, "Go to the emergency department at once if pain recurs."),
        (2, "Start nitroglycerin 0.4 mg as needed."),
        (3, "Follow up in 3 months."),
    ]
    assert all((one.confidence < 0.8) == (one.guard is not None) for one in plan)


@pytest.mark.requirement("NO-04")
def test_a_note_that_says_nothing_of_a_part_gives_an_empty_part():
    assert parts("PLAN\n\nRest.\n") == {}


def test_a_list_of_medicines_is_parted_but_the_numbers_of_one_are_not():
    text = (
        "Insulin glargine 10 units nightly, metformin 1,000 mg (500 mg, twice) daily and aspirin."
    )
    found = [text[a:b] for a, b in entries(text, 0, len(text))]
    assert found == [
        "Insulin glargine 10 units nightly",
        "metformin 1,000 mg (500 mg, twice) daily",
        "aspirin.",
    ]


def test_an_export_that_lost_its_line_breaks_is_cut_at_them():
    text = "1.  Mild stenosis.,2.  Normal ventricle.,3.  No effusion."
    assert [text[a:b] for a, b in statements(text, 0, len(text))] == [
        "Mild stenosis.",
        "Normal ventricle.",
        "No effusion.",
    ]


@pytest.mark.requirement("NO-06")
@pytest.mark.skipif(not ACI.exists(), reason="the measuring data is not here")
def test_on_real_notes_every_item_is_verbatim_and_its_citation_holds():
    with ACI.open(encoding="utf-8", newline="") as file:
        texts = [row["note"].replace("\r\n", "\n") for row in csv.DictReader(file)]
    for text in texts:
        read = note(text)
        summary, plan = extract(read)
        chunks = {chunk.id: chunk for chunk in read.chunks}
        for one in (*summary, *plan):
            assert " ".join(text[one.start : one.end].split()) == one.text
            section, rest = one.source.rsplit(" section, ", 1)
            ident, span = rest.split(":")
            assert [int(at) for at in span.split("-")] == [one.start, one.end]
            chunk = chunks[ident]
            assert chunk.section == section
            assert chunk.start <= one.start < one.end <= chunk.end


def plan_of(text: str) -> list[str]:
    return [one.text for one in extract(note(text))[1]]


def test_an_allergy_and_a_relatives_illness_carry_their_heading():
    found = parts(
        "MEDICATIONS\n\nWarfarin 5 mg daily.\n\nALLERGIES\n- Penicillin\n- Sulfa\n\n"
        "FAMILY HISTORY\nDiabetes, hypertension.\n\nSOCIAL HISTORY\nDrinks wine.\n"
    )
    assert found["medicines_allergies"] == [
        "Warfarin 5 mg daily.",
        "ALLERGIES - Penicillin - Sulfa",
    ]
    assert found["pertinent_history"] == ["FAMILY HISTORY Diabetes, hypertension.", "Drinks wine."]


def test_a_section_of_allergies_that_speaks_for_itself_stays_in_statements():
    found = parts("ALLERGIES\n\nAllergic to penicillin. No known food allergies.\n")
    assert found["medicines_allergies"] == ["Allergic to penicillin.", "No known food allergies."]


def test_what_stands_under_a_problem_says_which():
    text = (
        "ASSESSMENT AND PLAN\n\nDepression.\n• Medical Reasoning: He is doing well.\n\n"
        "Hypertension.\n• Medical Reasoning: This is uncontrolled.\n• Medical Treatment: Increase Norvasc "
        "to 10 mg daily.\n\nThe patient understands and agrees with this plan.\n"
    )
    summary, plan = extract(note(text))
    about = {one.text: one.about for one in (*summary, *plan)}
    assert about["Medical Reasoning: He is doing well."] == "Depression"
    assert about["Medical Reasoning: This is uncontrolled."] == "Hypertension"
    assert about["Medical Treatment: Increase Norvasc to 10 mg daily."] == "Hypertension"
    assert about["The patient understands and agrees with this plan."] is None
    assert [one.part for one in summary].count("key_problems") == 2


@pytest.mark.parametrize(
    "text",
    [
        "We discussed treatment options today.",
        "He presents for a follow-up of his chronic problems.",
        "Patient Education and Counseling: We discussed the nature of the diagnosis.",
        "The patient understands and agrees with the recommended plan.",
        "Pap smear done.",
    ],
)
def test_what_is_no_order_is_not_in_the_plan(text):
    assert plan_of(f"ASSESSMENT AND PLAN\n\nCough.\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "Prescription for lisinopril 40 mg once a day is also provided.",
        "Actos 45 mg a day.",
        "IV Protonix 40 mg q.12h.",
        "PT and OT to evaluate and treat.",
        "Thallium scintigraphy in approximately six weeks.",
        "We will send urine for culture, and without infection she will be placed on Keflex, and she understands and agrees with this.",
    ],
)
def test_an_order_without_a_usual_verb_is_in_the_plan(text):
    assert plan_of(f"PLAN\n\n1. {text}\n2. Return in 2 weeks.\n")[-2:] != []
    assert text in plan_of(f"PLAN\n\n1. {text}\n2. Return in 2 weeks.\n")


def test_instructions_at_the_end_of_an_operation_are_orders_and_its_indications_are_not():
    text = (
        "INDICATION FOR PROCEDURE: Her dentist told her to return for extraction.\n"
        "PROCEDURE IN DETAIL: The sac was closed. Plan was to follow up in about 2 months.\n"
    )
    assert plan_of(text) == ["Plan was to follow up in about 2 months."]


def test_what_leans_on_an_order_stays_behind_it():
    text = (
        "PLAN\n\nI advised her to keep the leg elevated for a week. At that point, she can start bearing weight. "
        "Start ibuprofen 400 mg today.\n"
    )
    assert plan_of(text) == [
        "Start ibuprofen 400 mg today.",
        "I advised her to keep the leg elevated for a week.",
        "At that point, she can start bearing weight.",
    ]


def test_a_review_of_systems_is_what_the_patient_says():
    text = (
        "REVIEW OF SYSTEMS\n\nCARDIOVASCULAR: No chest pain.\nRESPIRATORY: Denies cough.\n\n"
        "PHYSICAL EXAMINATION\n\nCARDIOVASCULAR: Regular rhythm.\nRESPIRATORY: Lungs clear.\n"
    )
    found = parts(text)
    assert found["pertinent_history"] == [
        "CARDIOVASCULAR: No chest pain.",
        "RESPIRATORY: Denies cough.",
    ]
    assert found["objective_findings"] == [
        "CARDIOVASCULAR: Regular rhythm.",
        "RESPIRATORY: Lungs clear.",
    ]


def test_the_same_finding_on_both_sides_is_given_twice():
    text = "PHYSICAL EXAM\n\nRight knee: Warm. No effusion.\nLeft knee: Cool. No effusion.\n"
    assert parts(text)["objective_findings"].count("No effusion.") == 2


def test_index_terms_at_the_end_of_an_export_are_no_fact():
    text = (
        "IMPRESSION: ,No acute abnormality.radiology, axial ct images, parotid glands, epiglottis"
    )
    assert parts(text)["key_problems"] == ["No acute abnormality."]
    assert parts("PLAN: ,Return in a week.nan") == {}
    assert plan_of("PLAN: ,Return in a week.nan") == ["Return in a week."]


def test_a_line_over_a_list_goes_with_it_and_a_list_of_medicines_is_parted_by_its_doses():
    text = "PHYSICAL EXAM\n\nHead and Face\n- Examination: No pain.\n"
    assert parts(text)["objective_findings"] == [
        "Head and Face - Examination: No pain.",
    ]
    line = "Crestor 20 mg daily, Veramist spray 27.5 mcg daily, Restasis twice a day and ibuprofen as needed."
    assert [line[a:b] for a, b in entries(line, 0, len(line))] == [
        "Crestor 20 mg daily",
        "Veramist spray 27.5 mcg daily",
        "Restasis twice a day",
        "ibuprofen as needed.",
    ]
    other = "prednisone 20 mg daily, then 10 mg daily, as needed"
    assert entries(other, 0, len(other)) == [(0, len(other))]


def test_a_list_mark_without_a_blank_is_no_part_of_its_entry():
    assert parts("PHYSICAL EXAM\n\n-Some effusion of the knee.\n-No redness.\n") == {
        "objective_findings": ["Some effusion of the knee.", "No redness."]
    }
    text = "1.Normal appendix.,2.Moderate stool throughout the colon.,3.No stones."
    assert [text[a:b] for a, b in statements(text, 0, len(text))] == [
        "Normal appendix.",
        "Moderate stool throughout the colon.",
        "No stones.",
    ]


def test_a_score_of_pain_is_no_laboratory_result():
    assert parts("HPI\n\nShe rates her pain level as a 6 out of 10.\n") == {
        "pertinent_history": ["She rates her pain level as a 6 out of 10."]
    }


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("HPI: Cough. Penicillin allergy, no anaphylaxis.\n\nALLERGIES: NKDA\n", True),
        (
            "HPI\nCough. No known drug allergies.\n\nALLERGIES\nPenicillin (hives). No known food allergies.\n",
            True,
        ),
        ("HPI\nNo known allergies.\n\nALLERGIES\nNKDA, latex: rash.\n", True),
        ("HPI\nNo known allergies.\n\nALLERGIES\nNo known allergies except codeine.\n", True),
        (
            "HPI\nNo known allergies.\n\nALLERGIES\nNo known drug, food, or latex allergies.\n",
            False,
        ),
        ("HPI\nNo known allergies.\n\nALLERGIES\nNo known drug allergies. Reviewed.\n", False),
        ("HPI\nNo known drug allergies.\n\nALLERGIES\nNone.\n", False),
    ],
)
def test_a_denied_and_a_named_allergy_are_flagged_however_they_are_joined(text, flagged):
    found = Summarised(statements=extract(note(text))[0])
    assert [one.id for one in _contradictions(found)] == (["G8"] if flagged else [])


def test_a_list_of_medicines_or_allergies_behind_a_lost_break_is_no_index():
    text = "MEDICATIONS: Reviewed.warfarin 5 mg, metformin 500 mg, aspirin 81 mg, lisinopril 10 mg"
    assert parts(text)["medicines_allergies"] == [
        "Reviewed.warfarin 5 mg",
        "metformin 500 mg",
        "aspirin 81 mg",
        "lisinopril 10 mg",
    ]
    said = parts("HPI: Cough.\n\nALLERGIES: Reviewed.latex, peanuts, eggs, shellfish")
    assert "latex, peanuts, eggs, shellfish" in said["medicines_allergies"][0]
    for tail in ("warfarin, metformin, aspirin, lisinopril", "one, two, 3 doses, four"):
        said = parts(f"HPI: Cough.{tail}")
        assert tail in " ".join(text for texts in said.values() for text in texts)


def test_a_problem_does_not_stand_under_a_problem_and_is_no_order():
    summary, plan = extract(note("ASSESSMENT AND PLAN\nHypertension\nDiabetes\n"))
    assert [(one.about, one.text) for one in summary] == [
        (None, "Hypertension"),
        (None, "Diabetes"),
    ]
    text = "PLAN\n1. Pneumonia\n2. Sepsis\n- Start ceftriaxone 1 g daily\n- Blood cultures\n3. Low-salt diet\n"
    summary, plan = extract(note(text))
    assert [(one.part, one.about, one.text) for one in summary] == [
        ("key_problems", None, "Pneumonia"),
        ("key_problems", None, "Sepsis"),
    ]
    assert [(one.about, one.text) for one in plan] == [
        ("Sepsis", "Start ceftriaxone 1 g daily"),
        ("Sepsis", "Blood cultures"),
        (None, "Low-salt diet"),
    ]


def test_a_medicine_under_a_problem_says_which_and_the_next_problem_begins_anew():
    _, plan = extract(note("PLAN\nCAD\nAspirin 81 mg\nMetoprolol 25 mg\n"))
    assert [(one.about, one.text) for one in plan][-2:] == [
        ("CAD", "Aspirin 81 mg"),
        ("CAD", "Metoprolol 25 mg"),
    ]
    text = "ASSESSMENT AND PLAN\nHypertension\n- Exercise\nDiabetes\n- Metformin 500 mg\n"
    about = {one.text: one.about for one in extract(note(text))[0]}
    assert about["Diabetes"] is None
    assert about["Metformin 500 mg"] == "Diabetes"


def test_why_somebody_came_does_not_hide_what_is_ordered_in_the_same_sentence():
    said = "She presented with pneumonia and should continue azithromycin."
    assert plan_of(f"ASSESSMENT AND PLAN\n\nCough.\n{said}\n") == [said]
    came = "The patient returns today for follow-up of diabetes."
    assert plan_of(f"ASSESSMENT AND PLAN\n\nCough.\n{came}\n") == []
