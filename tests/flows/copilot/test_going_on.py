"""What a doctor asks of an entry beside its date, and questions that go on from one before."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bedside.core.context import Item
from bedside.flows.copilot import COPILOT

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn = cases.turn


def ruled(text: str, facts, *before: str) -> str:
    """What rules say, "" where they say nothing; `before` are earlier questions, oldest first."""
    history = tuple(Item(one, key=f"m{at}") for at, one in enumerate(before))
    draft = COPILOT.answer(turn(text, facts, history=history))
    return draft.text if draft is not None else ""


@pytest.fixture
def chart(full):
    full.add(
        "procedures", "Diabetic retinopathy screening: done 11 Mar 2025 (completed; No change.)",
        "Diabetic retinopathy screening", day="2025-03-11", status="completed", noted="No change.",
    )  # fmt: skip
    full.add("procedures", "Spirometry: done 3 Mar 2024 (completed)", "Spirometry",
             day="2024-03-03", status="completed")  # fmt: skip
    full.add("procedures", "Replacement of contraceptive intrauterine device: done 4 Jul 2020",
             "Replacement of contraceptive intrauterine device", day="2020-07-04")  # fmt: skip
    full.add(
        "medications", "Gliclazide 80 mg: stopped, ordered 3 May 2016; by Dr Sen; Low sugars.",
        "Gliclazide 80 mg", day="2016-05-03", status="stopped", noted="Low sugars.",
        people=("Dr Sen",), reasons=("Type 2 diabetes",),
    )  # fmt: skip
    full.add(
        "medications", "Levonorgestrel 1.5 mg: stopped, ordered 3 May 2012",
        "Levonorgestrel 1.5 mg oral tablet", day="2012-05-03", status="stopped",
    )  # fmt: skip
    full.add(
        "medications", "Sitagliptin 50 mg: active, ordered 3 May 2025; for Type 2 diabetes",
        "Sitagliptin 50 mg", day="2025-05-03", status="active", reasons=("Type 2 diabetes",),
    )  # fmt: skip
    full.add(
        "timeline", "Inpatient stay: inpatient, 24 Nov 2025 to 28 Nov 2025 (Dr Rao; General)",
        "Inpatient stay", day="2025-11-24", end=datetime(2025, 11, 28, tzinfo=UTC), group="IMP",
        people=("Dr Rao",), facility="General",
    )  # fmt: skip
    full.add(
        "family_history", "Family history, Mother: Stroke (2 Jun 2011, completed)",
        "Family history, Mother", day="2011-06-02", text_value="Stroke",
    )  # fmt: skip
    return full.build()


def test_what_a_procedure_showed_is_said_and_that_it_is_not_recorded(chart):
    assert "No change" in ruled("when was her last eye check and what did it show?", chart)
    assert "What it showed is not recorded." in ruled("spirometry result?", chart)


def test_a_spirometry_of_the_day_is_told_by_what_it_measured(full, chart):
    full.lab("FEV1/FVC", "19926-5", "61.2", "%", "2024-03-03")
    assert "61.2 %" in ruled("what did the spirometry show", full.build())


def test_a_problem_nobody_has_is_told_beside_the_screening_that_looked_for_it(chart):
    text = ruled("any retinopathy?", chart)
    assert text.startswith("Not recorded: diabetic retinopathy")
    assert "No change" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("why was gliclazide stopped?", "Low sugars"),
        ("when was gliclazide stopped", "Low sugars"),
        ("who prescribed gliclazide", "by Dr Sen"),
        ("who prescribed sitagliptin", "Not recorded: by whom"),
        ("why is she on sitagliptin", "For Type 2 diabetes"),
        ("what is sitagliptin for", "For Type 2 diabetes"),
        ("who saw her last", "with Dr Rao"),
        ("last admission and where", "at General"),
        ("how long was she in hospital", "4 nights"),
        ("list meds with doses", "1000 mg twice daily"),
    ],
)
def test_who_why_where_and_how_long_are_read_from_the_entry(chart, text, said):
    assert said in ruled(text, chart)


def test_a_contraceptive_device_is_no_prescription_and_is_told(chart):
    text = ruled("current contraception?", chart)
    assert "intrauterine device on 4 Jul 2020" in text
    assert not text.startswith("No,")


def test_what_is_taken_for_a_problem_goes_by_the_reason_and_names_those_without(chart):
    text = ruled("what is she on for her diabetes", chart)
    first, _, rest = text.partition("no reason recorded")
    assert "Sitagliptin" in first
    assert "Gliclazide" not in text
    assert "Metformin" in rest


def test_an_illness_of_a_relative_is_never_looked_for_among_the_patients_own(chart):
    assert "Mother: Stroke" in ruled("did her mother have a stroke", chart)
    text = ruled("family history of stroke or diabetes", chart)
    assert "Mother: Stroke" in text
    assert "Not recorded in the family history: diabetes" in text
    assert "Metformin" not in text


@pytest.mark.parametrize(
    ("before", "text", "said"),
    [
        (("latest HbA1c",), "highest?", "Highest HbA1c: 8.6 %"),
        (("highest HbA1c",), "and eGFR?", "Highest eGFR"),
        (("is she on metformin",), "what dose", "1000 mg twice daily"),
        (("is she on metformin",), "since when", "first ordered 12 Mar 2019"),
        (("any hospital admissions",), "how long", "4 nights"),
        (("latest HbA1c and eGFR",), "trend?", "eGFR"),
        (("when was her last spirometry",), "what did it show", "What it showed is not recorded"),
    ],
)
def test_a_question_with_no_subject_goes_on_from_the_one_before(chart, before, text, said):
    assert said not in ruled(text, chart)
    assert said in ruled(text, chart, *before)


def test_a_pronoun_for_the_reason_is_not_passed_over(chart):
    assert ruled("what is she on for it?", chart, "latest HbA1c") == ""


def test_a_subject_read_from_half_a_question_is_not_gone_on_from(chart):
    assert ruled("in 2025?", chart, "what is she on for it?") == ""


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("HbA1c before the admission", "7.8 %", "8.6 %"),
        ("HbA1c after the admission", "8.6 %", "7.8 %"),
        ("eGFR since starting metformin", "37", "in all"),
        ("HbA1c in 2024 vs 2025", "7.1 %", "8.6 %"),
    ],
)
def test_a_time_is_read_from_what_happened(chart, text, has, lacks):
    said = ruled(text, chart)
    assert has in said
    assert lacks not in said


def test_a_time_that_the_record_does_not_date_is_left_to_the_writer(chart):
    assert ruled("HbA1c before the colonoscopy", chart) == ""


def test_a_date_is_said_no_more_exact_than_it_was_written(full):
    full.lab("Ferritin", "2276-4", "12", "ng/mL", "2024-03-01", roughly="Mar 2024")
    text = ruled("ferritin", full.build())
    assert "12 ng/mL in Mar 2024" in text
    assert "1 Mar" not in text


def test_a_pressure_with_one_figure_is_told_by_it(full):
    part = cases.Fact(
        source=full.facts[0].source, category="observations", line="Systolic: 142 mm[Hg]",
        name="Systolic blood pressure", code="http://loinc.org|8480-6", figure="142", unit="mm[Hg]",
    )  # fmt: skip
    full.add(
        "observations", "Blood pressure: systolic 142 mm[Hg] (2 Aug 2026)", "Blood pressure",
        day="2026-08-02", code="http://loinc.org|85354-9", parts=(part,),
    )  # fmt: skip
    assert "142 mmHg (the rest not recorded) on 2 Aug 2026" in ruled("BP?", full.build())


def test_a_medicine_that_was_only_proposed_is_not_taken(full):
    full.add("medications", "Apixaban 5 mg: proposed, proposed 2 Jan 2025", "Apixaban 5 mg",
             day="2025-01-02", status="proposed")  # fmt: skip
    facts = full.build()
    assert ruled("is she on apixaban", facts).startswith("Only proposed, not ordered")
    assert "Apixaban" not in ruled("current meds", facts)


def test_an_allergy_that_nobody_confirmed_is_said_to_be_so(full):
    full.add("allergies", "Latex: active, unconfirmed", "Latex", status="active",
             verification="unconfirmed")  # fmt: skip
    assert "Latex, unconfirmed" in ruled("allergies?", full.build())


def test_the_row_of_the_value_that_a_question_gives_is_never_left_out():
    table = (
        "| eGFR | Metformin |\n| --- | --- |\n| 60 or more | full dose, eGFR yearly |\n"
        "| 45 to 59 | continue, eGFR every three months |\n"
        "| 30 to 44 | halve the dose |\n| below 30 | stop |\n"
    )
    hit = cases.passage("metformin", 0, table, kind="guideline", prefix="[Metformin]")
    view = turn("metformin dose at eGFR 35", knowledge=(hit,))
    text = COPILOT.next(view).unaided(view).text
    assert "halve the dose" in text


def test_a_letter_that_is_to_be_summed_up_is_quoted_and_not_the_whole_record(chart):
    hit = cases.passage("Nephrology letter", 0, "Her eGFR fell to 37. Potassium every 3 months.")
    view = turn("summarise the nephrology letter", chart, documents=(hit,))
    assert view.plan.intent == "letters"
    assert "Potassium every 3 months" in COPILOT.next(view).unaided(view).text


@pytest.mark.parametrize(
    ("text", "letter", "by_rule"),
    [
        ("What was she given for pneumonia?", "She had pneumonia and was given amoxicillin.",
         "names pneumonia"),
        ("Who prescribed the ibuprofen?", "Ibuprofen was prescribed by Dr Falk.", "by whom"),
        ("When was ibuprofen stopped?", "Ibuprofen was stopped on 3 May 2019.", "No end date"),
        ("Does her sister have asthma?", "Her sister has asthma.", "asthma"),
    ],
)  # fmt: skip
def test_what_no_entry_says_and_a_letter_may_is_left_to_the_letter(chart, text, letter, by_rule):
    view = turn(text, chart, documents=(cases.passage("Letter of the ward", 0, letter),))
    assert letter in COPILOT.next(view).unaided(view).text
    other = "The boiler room is closed on Sunday."
    view = turn(text, chart, documents=(cases.passage("Letter of the ward", 0, other),))
    assert by_rule in COPILOT.next(view).unaided(view).text
    assert by_rule in ruled(text, chart)


def test_what_is_on_hold_or_not_taken_has_not_ended_and_no_end_is_too_exact(full):
    full.add("medications", "Warfarin 3 mg: not-taken, taken since 1 Feb 2026", "Warfarin 3 mg",
             day="2026-02-01", status="not-taken")  # fmt: skip
    full.add("medications", "Digoxin 125 mcg: completed, ordered 3 Jan 2020", "Digoxin 125 mcg",
             day="2020-01-03", end=datetime(2025, 3, 1, tzinfo=UTC), status="completed")  # fmt: skip
    facts = full.build()
    assert ruled("is she on warfarin?", facts).startswith("Recorded, neither as current nor as")
    assert "neither as current nor as ended" in ruled("was warfarin stopped?", facts)
    assert "Warfarin" not in ruled("past medications", facts)
    assert "ended in Mar 2025" in ruled("when was digoxin stopped?", facts)


def test_a_value_that_is_only_supposed_is_said_to_be_none_of_the_records(chart):
    view = turn("if her eGFR is 28, can she have metformin?", chart)
    assert "not as the question supposes" in COPILOT.next(view).unaided(view).text
    view = turn("can she have metformin?", chart)
    assert "supposes" not in COPILOT.next(view).unaided(view).text


def test_two_questions_with_one_answer_get_it_once(chart):
    said = ruled("Has she ever been to the emergency department, and why?", chart)
    assert said.count("No emergency visit is recorded.") == 1


def test_what_was_then_is_no_newest_value_where_the_time_is_not_known(chart):
    before = "What was her weight a year before the operation?"
    assert ruled("and her systolic then?", chart, before) == ""
    assert "not recorded" not in ruled("what was her weight?", chart, before).lower()


def test_what_was_found_is_not_begun_with_a_yes(chart):
    said = ruled("result of the spirometry?", chart)
    assert said.startswith("Last done: Spirometry on 3 Mar 2024")
    assert "What it showed is not recorded." in said
