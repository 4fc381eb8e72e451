"""Questions as they are typed: other people's names, other units, words of no entry, children."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from bedside.flows.copilot import COPILOT
from bedside.knowledge.needs import Hit
from bedside.record.needs import Insight

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
passage, turn = cases.passage, cases.turn


def answer(view):
    """By rule, or else the extractive writer's."""
    return COPILOT.answer(view) or COPILOT.next(view).unaided(view)


def told(text: str, facts, **more) -> str:
    return answer(turn(text, facts, **more)).text


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "text",
    [
        "what was John Smith's HbA1c?",
        "HbA1c of John Smith",
        "what does Mrs Garcia take?",
        "is John-Paul Smith's eGFR ok?",
    ],
)
def test_a_question_about_somebody_else_gets_no_value_of_this_patient(full, text):
    draft = answer(turn(text, full.build()))
    assert draft.text.startswith("The question names somebody else.")
    assert "Asha Rao" in draft.text
    assert "8.6" not in draft.text
    assert "Metformin" not in draft.text
    assert draft.missing == ("a record of the person named",)


@pytest.mark.parametrize(
    "text",
    [
        "what is Asha Rao's HbA1c?",
        "what did Dr Karen Smith's letter say about HbA1c?",
        "does St John's Wort matter with metformin?",
        "HbA1c for Type 2 Diabetes",
        "is Crohn's Disease recorded?",
    ],
)
def test_the_patients_own_name_clinicians_and_diseases_are_nobody_else(full, text):
    assert "somebody else" not in told(text, full.build())


def test_food_allergies_are_told_however_they_are_asked(full):
    full.add(
        "allergies",
        "Peanut: allergy, active, confirmed; criticality high; reaction: Wheeze",
        "Peanut",
        day="2001-01-01",
        status="active",
        severity="high",
        reactions=("Wheeze",),
    )
    text = told("allergic to any foods?", full.build())
    assert "Peanut, criticality high, reaction: Wheeze" in text
    assert "Nothing in the record" not in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        # 8.6 % is 10.929 * (8.6 - 2.15) = 70.49 mmol/mol (IFCC master equation)
        ("hba1c in mmol/mol", "Calculated: 8.6 % is about 70.5 mmol/mol"),
        # 80 kg / 0.45359237 = 176.37 lb
        ("weight in lbs please", "Calculated: 80 kg is about 176 lb"),
        # 99 mg/dL * 10 / 180.156 = 5.495 mmol/L
        ("her sugar in mmol/L", "Calculated: 99 mg/dL is about 5.50 mmol/L"),
    ],
)
def test_a_result_is_given_in_the_unit_asked_beside_the_one_recorded(full, text, line):
    full.lab("Body weight", "29463-7", "80", "kg", "2026-11-05")
    full.lab("Glucose", "2339-0", "99", "mg/dL", "2026-11-05")
    draft = answer(turn(text, full.build()))
    assert draft.by == "rules"
    assert line in draft.text
    recorded = line.removeprefix("Calculated: ").split(" is about")[0]
    assert f": {recorded} on 5 Nov 2026" in draft.text.splitlines()[0]
    assert line in [item.body for item in draft.items]  # its figures count as calculated


def test_a_unit_that_a_result_cannot_have_is_said_to_be_none(full):
    text = told("hba1c in lbs", full.build())
    assert "cannot be given in lb" in text
    assert "about" not in text


def test_two_things_asked_at_once_are_both_answered(full):
    full.lab("Body weight", "29463-7", "80", "kg", "2026-11-05")
    text = told("how old is she & weight in lbs", full.build())
    assert "66 years old" in text
    assert "about 176 lb" in text


def test_is_it_below_is_not_answered_by_an_old_reading_alone(full):
    full.lab("Estimated glomerular filtration rate", "33914-3", "90", "mL/min", "2026-11-20")
    text = told("is her eGFR below 60?", full.build())
    assert text.startswith("Yes at an earlier time, not at the latest:")
    assert "The latest reading is 90 mL/min on 20 Nov 2026" in text


def test_what_nobody_named_is_no_answer_to_a_look_up(full):
    full.add(
        "observations", "Tobacco smoking status: Never smoker (5 Nov 2026)", "Smoking status",
        day="2026-11-05", code="http://loinc.org|72166-2", text_value="Never smoker",
        group="social-history", status="final",
    )  # fmt: skip
    draft = answer(turn("ABPI status", full.build()))
    assert draft.text.startswith('Nothing in the record was matched to "abpi".')
    assert "smoker" not in draft.text
    assert draft.missing == ("abpi",)


def test_an_abbreviated_class_finds_the_medicine(full):
    full.add(
        "medications", "Warfarin 5 mg oral tablet: active, ordered 10 Jun 2014",
        "Warfarin 5 mg oral tablet", day="2014-06-10", status="active", stale=True,
    )  # fmt: skip
    assert told("anticoag?", full.build()).startswith("Yes, current: Warfarin 5 mg oral tablet")
    assert "ordered 10 Jun 2014, stale" in told("is she on blood thinners?", full.build())


def test_a_class_that_nobody_takes_but_a_problem_names_is_not_passed_over(full):
    full.add(
        "conditions", "Opioid abuse: active, confirmed; since 8 Apr 1985", "Opioid abuse (disorder)",
        day="1985-04-08", status="active",
    )  # fmt: skip
    text = told("opioid history pls", full.build())
    assert "Not recorded: opioid (none of the medicines" in text
    assert "Opioid abuse, active, since 8 Apr 1985" in text


def test_a_result_that_was_not_fetched_is_not_called_missing(full):
    record = replace(full.build(), total=(("medications", 2), ("allergies", 1)))
    assert "T-score" not in told("what is she taking for the bones", record)
    looked = replace(record, total=(*record.total, ("observations", 5)))
    assert "T-score" in told("what is she taking for the bones", looked)


def test_results_of_a_scan_are_its_figure_and_not_that_it_was_done(full):
    full.add("procedures", "Bone density scan: done 1 Nov 2026", "Bone density scan",
             day="2026-11-01", status="completed")  # fmt: skip
    full.lab("DXA T-score", "38265-5", "-2.8", "{score}", "2026-11-01")
    assert "-2.8" in told("DEXA results", full.build())


def test_abnormal_results_are_all_named_and_nothing_else_is(full):
    facts = full.build()
    labs = [fact for fact in facts.facts if fact.category == "observations"]
    found = tuple(
        Insight(
            kind="abnormal", severity="warning", title="Out of range", rule="range",
            text=f"{fact.line} is out of range " * 4, facts=(fact,),
        )
        for fact in labs
    )  # fmt: skip
    draft = answer(turn("any abnormal labs", replace(facts, insights=found)))
    cited = {str(item.span.source.id) for item in draft.items if item.span is not None}
    assert cited == {str(fact.source.id) for fact in labs}
    assert "Type 2 diabetes" not in draft.text


ADULT = "Amoxicillin 500 mg to 1 g three times daily."
PAEDIATRIC = "Children: amoxicillin 40 mg/kg a day in two doses."


def guideline(number: int, title: str, text: str) -> Hit:
    return passage(title, number, text, kind="guideline", prefix=f"[{title} > Dose]")


def test_a_childs_dose_comes_from_no_passage_that_does_not_speak_of_children(full):
    adult = full.build()
    child = replace(adult, person=replace(adult.person, birth_date=date(2019, 10, 23)))
    hits = [guideline(0, "Pneumonia in adults", ADULT), guideline(1, "Otitis media", PAEDIATRIC)]
    asked = "amoxicillin dose for otitis?"
    assert "500 mg to 1 g" not in told(asked, child, knowledge=hits)
    assert "40 mg/kg" in told(asked, child, knowledge=hits)
    assert "500 mg to 1 g" not in told(asked, child, knowledge=hits[:1])
    assert "500 mg to 1 g" in told(asked, adult, knowledge=hits[:1])


def test_without_a_patient_the_question_says_that_it_is_a_child():
    hits = [guideline(0, "Pneumonia in adults", ADULT)]
    asked = "dose of amoxicillin for a child of 12 kg"
    assert "500 mg" not in told(asked, None, knowledge=hits)
    assert "500 mg" in told("dose of amoxicillin for pneumonia", None, knowledge=hits)


def test_every_allergy_is_told_however_many_there_are(full):
    for number in range(9):
        full.add(
            "allergies", f"Substance {number}: allergy, active", f"Substance {number}",
            day="2001-01-01", status="active", severity="low",
        )  # fmt: skip
    for asked in ("list allergies w/ severity pls", "can she have amoxi + peanut butter?"):
        text = told(asked, full.build())
        assert all(f"Substance {number}" in text for number in range(9))
        assert "Penicillin, criticality high" in text


def test_what_a_medicine_is_for_is_not_answered_by_that_it_is_taken(full):
    draft = answer(turn("what is metformin for", full.build()))
    assert "Not recorded: what metformin is for." in draft.text
    assert not draft.text.startswith("Yes")
    full.add(
        "medications", "Amlodipine 5 mg: active, ordered 19 Jul 2021; for Hypertension",
        "Amlodipine 5 mg", day="2021-07-19", status="active",
    )  # fmt: skip
    assert "for Hypertension" in told("what is amlodipine for?", full.build())


def test_a_pair_of_medicines_is_told_once(full):
    for name in ("Warfarin 5 mg oral tablet", "Clopidogrel 75 mg oral tablet"):
        full.add(
            "medications", f"{name}: active, ordered 1 Nov 2026", name, day="2026-11-01",
            status="active",
        )  # fmt: skip
    text = told("on clopidogrel AND warfarin?? bleeding", full.build())
    assert text.count("raises the risk of bleeding") == 1


@pytest.mark.parametrize("options", [(), (("audience", "patient"),)])
def test_what_a_result_means_is_not_its_average(full, options):
    text = told("What does my HbA1c mean?", full.build(), options=options)
    assert "verage" not in text
    assert "8.6 %" in text
    assert "average" in told("mean HbA1c", full.build()).lower()


def test_a_medicine_after_an_allergy_is_a_question_of_its_own(full):
    full.add(
        "allergies", "Bee venom: allergy, active", "Allergy to bee venom", day="1993-03-20",
        status="active", severity="low",
    )  # fmt: skip
    full.add(
        "medications", "Epinephrine 1 mg/ml auto-injector: active, ordered 20 Mar 1993",
        "Epinephrine 1 mg/ml auto-injector", day="1993-03-20", status="active",
    )  # fmt: skip
    text = told("bee sting allergy, epipen?", full.build())
    assert "an allergy to epinephrine" not in text
    assert "Epinephrine 1 mg/ml auto-injector: active" in text
    both = told("is she allergic to latex or penicillin?", full.build())
    assert "Not recorded: an allergy to latex" in both
    assert "Yes: Penicillin" in both
    three = told("is she allergic to nuts, wheat and penicillin", full.build())
    assert three.count("Not recorded: an allergy to") == 2
    assert "Yes: Penicillin" in three
    assert "none of the medicines" not in three


def test_an_allergy_to_a_class_by_its_own_name_is_a_yes(full):
    full.add(
        "allergies", "Sulfonamide antibiotics: allergy, active", "Sulfonamide antibiotics",
        day="2010-01-01", status="active", severity="high",
    )  # fmt: skip
    assert told("allergic to sulfa?", full.build()).startswith("Yes: Sulfonamide antibiotics")


def test_of_what_is_not_answered_by_that(full):
    full.add(
        "conditions", "Drug overdose: active; since 4 Mar 2001", "Drug overdose", day="2001-03-04",
        status="active",
    )  # fmt: skip
    assert not told("overdose of what?", full.build()).startswith("Yes")


def test_another_test_of_the_same_thing_is_named_beside_one_not_done(full):
    full.lab("Protein/Creatinine [Mass Ratio] in Urine", "2890-2", "420", "mg/g", "2026-11-16")
    text = told("proteinuria?", full.build())
    assert "No urine protein is recorded" in text
    assert "Another test of it: Urine protein/creatinine ratio 420 mg/g on 16 Nov 2026" in text


def test_a_problem_that_only_an_alert_names_is_not_passed_over(full):
    full.add(
        "alerts", "Hypoglycaemia while on gliclazide (1 Feb 2025)",
        "Hypoglycaemia while on gliclazide", day="2025-02-01", status="active",
    )  # fmt: skip
    for asked in ("is hypoglycaemia a problem with her", "does she have hypoglycemia?"):
        assert "Hypoglycaemia while on gliclazide" in told(asked, full.build())


def test_what_is_named_comes_first_among_the_changes(full):
    full.lab("Body weight", "29463-7", "85.0", "kg", "2026-07-14")
    full.lab("Body weight", "29463-7", "88.9", "kg", "2026-11-03")
    first = told("weight gain since last visit", full.build()).splitlines()[0]
    assert first.startswith("Weight: 88.9 kg on 3 Nov 2026")
    assert "before that 85.0 kg on 14 Jul 2026" in first


def test_an_abbreviation_finds_the_entry_that_writes_it_out(full):
    full.add(
        "conditions",
        "Pregnancy: active, confirmed; since 12 May 2026; Estimated date of delivery 15 Dec 2026",
        "Pregnancy", day="2026-05-12", status="active",
    )  # fmt: skip
    text = told("EDD?", full.build())
    assert text.startswith("Pregnancy: active, confirmed")
    assert "Estimated date of delivery 15 Dec 2026" in text.splitlines()[0]


@pytest.mark.parametrize(
    "asked", ["When was her last retinal screening?", "When was her last eye check?", "eye check?"]
)
def test_an_eye_check_is_found_by_any_of_its_names(full, asked):
    full.add(
        "procedures", "Diabetic retinopathy screening: done 11 Mar 2025 (completed)",
        "Diabetic retinopathy screening", day="2025-03-11", status="completed",
    )  # fmt: skip
    assert told(asked, full.build()).splitlines()[0].count("11 Mar 2025") == 1
