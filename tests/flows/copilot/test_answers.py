"""What rules answer, word for word where it matters, and what they never say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from bedside.context import assemble
from bedside.core.turn import Draft
from bedside.flows.copilot import COPILOT
from bedside.flows.numbers import number_draft
from bedside.grounding.gate import gate_for

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn = cases.turn


def ruled(text: str, record) -> Draft:
    draft = COPILOT.answer(turn(text, record.build()))
    assert draft is not None, text
    return draft


def released(view) -> tuple[str, tuple]:
    """The answer as a reader sees it: rule or extractive, through the gate."""
    step = COPILOT.next(view)
    draft = COPILOT.answer(view) or step.unaided(view)
    prompt = assemble(
        step.blocks, budget=step.budget, layout=step.layout, numbering={}, count=view.opened.count
    )
    numbered, shown = number_draft(draft, prompt.numbering, prompt)
    gate = gate_for(release="whole", checks=step.checks, assembly=shown)
    verdict, _ = gate.close(numbered, last=True)
    return verdict.text, verdict.removed


def test_the_latest_value_stands_first_as_written_with_unit_and_date(full):
    draft = ruled("latest HbA1c", full)
    assert draft.text.splitlines()[0] == "HbA1c: 8.6 % on 5 Nov 2026 [1]."
    assert draft.items[0].body.startswith("Hemoglobin A1c")
    assert draft.by == "rules"


def test_every_quote_is_the_whole_line_of_the_entry_it_cites(full):
    lines = {fact.line for fact in full.facts}
    for text in ("latest HbA1c", "HbA1c trend", "meds and allergies", "problem list"):
        draft = ruled(text, full)
        assert draft.quotes
        for quote in draft.quotes:
            assert quote.text in lines
            assert 0 <= quote.at[0] < quote.at[1] <= len(draft.text)
            assert draft.text[: quote.at[1]].endswith(f"[{quote.n}]")


def test_a_trend_says_where_it_goes_from_and_to(full):
    text = ruled("HbA1c trend", full).text
    assert "HbA1c rose, from 7.1 % on 12 Feb 2024 [1] to 8.6 % on 5 Nov 2026 [2]." in text
    assert "+1.5 %" in text


def test_a_stale_value_is_marked(record):
    record.lab(
        "Potassium", "2823-3", "4.1", "mmol/L", "2012-01-05", stale=True, note="14 years old"
    )
    assert "4.1 mmol/L on 5 Jan 2012, stale [1]" in ruled("latest potassium", record).text


def test_a_ratio_that_names_an_analyte_is_not_that_analyte(record):
    record.lab(
        "Creatinine [Mass/volume] in Serum or Plasma", "2160-0", "0.78", "mg/dL", "2026-11-10"
    )
    record.lab("Protein/Creatinine [Mass Ratio] in Urine", "2890-2", "420", "mg/g", "2026-11-16")
    record.lab("Some new creatinine clearance", "99999-9", "88", "mL/min", "2026-11-18")
    draft = ruled("latest creatinine", record)
    assert draft.text.startswith("Creatinine: 0.78 mg/dL on 10 Nov 2026 [1].")
    assert "420" not in draft.text
    assert "88" not in draft.text
    assert "420 mg/g" in ruled("urine protein creatinine ratio", record).text


def test_readings_in_two_units_are_never_averaged(record):
    record.lab("Glucose", "2339-0", "100", "mg/dL", "2024-01-05")
    record.lab("Glucose", "2339-0", "5.6", "mmol/L", "2024-02-05")
    assert COPILOT.answer(turn("average glucose", record.build())) is None


def test_a_value_below_the_detection_limit_is_not_compared(record):
    record.lab("Troponin I", "10839-9", "0.01", "ng/mL", "2024-01-05", comparator="<")
    assert COPILOT.answer(turn("troponin ever above 0.005?", record.build())) is None


@pytest.mark.requirement("EN-G3")
def test_a_bound_in_another_unit_is_left_unanswered(full):
    assert COPILOT.answer(turn("HbA1c ever above 60 mmol/l?", full.build())) is None
    assert "Yes" in ruled("HbA1c ever above 8 %?", full).text


@pytest.mark.requirement("CO-01")
def test_what_is_not_in_the_record_is_called_not_recorded_and_listed_as_missing(full):
    for text, name in (
        ("latest TSH", "TSH"),
        ("is she on warfarin", "warfarin"),
        ("does she have asthma", "asthma"),
        ("ever had a colonoscopy", "colonoscopy"),
    ):
        draft = ruled(text, full)
        assert "recorded" in draft.text.splitlines()[0]
        assert name in draft.text
        assert any(name in what for what in draft.missing)
        assert "does not have" not in draft.text


@pytest.mark.requirement("RELIABILITY-25")
def test_no_known_allergies_is_said_only_where_it_was_positively_recorded(record):
    silent = ruled("allergies?", record).text.lower()
    assert "not recorded" in silent
    assert "no known" not in silent
    record.add(
        "allergies", "No known allergies: confirmed, recorded 3 May 2025", "No known allergies",
        day="2025-05-03", status="active",
    )  # fmt: skip
    record.none_known = True
    assert "No known allergies" in ruled("allergies?", record).text


def test_a_class_allergy_is_named_when_a_member_is_asked(full):
    draft = ruled("is she allergic to amoxicillin?", full)
    assert "Penicillin" in draft.text
    assert "Not recorded as such: amoxicillin" in draft.text


def test_a_past_medicine_is_not_called_current(full):
    draft = ruled("is she taking ibuprofen", full)
    assert draft.text.startswith("Not now, only in the past")
    assert "stopped" in draft.text
    assert "Ibuprofen" not in ruled("current meds", full).text


def test_whether_a_medicine_was_stopped_is_told_by_its_state(full):
    assert ruled("was the metformin stopped?", full).text.startswith("Still active: Metformin")
    assert ruled("was ibuprofen stopped?", full).text.startswith("Ended: Ibuprofen")


def test_the_dose_to_give_is_never_a_look_up(full):
    assert "1000 mg twice daily" in ruled("metformin dose?", full).text
    assert COPILOT.answer(turn("apixaban dose?", full.build())) is None


def test_a_document_uploaded_for_the_question_keeps_rules_out(full):
    hit = cases.passage("up-1", 0, "HbA1c was 9.1 % on 20 Nov 2026.")
    view = turn("latest HbA1c", full.build(), documents=(hit,), uploaded=("up-1",))
    assert COPILOT.answer(view) is None
    text, removed = released(view)
    assert "9.1 %" in text
    assert "8.6 %" in text
    assert removed == ()


@pytest.mark.parametrize(
    "text",
    [
        "latest HbA1c", "HbA1c trend", "average HbA1c", "how many HbA1c readings",
        "HbA1c ever above 8?", "HbA1c ever above 9?", "meds and allergies", "problem list",
        "is she taking ibuprofen", "when was diabetes diagnosed", "allergic to amoxicillin?",
        "is she on warfarin", "how old is she", "kidney function", "summarise her",
        "next steps for her diabetes", "is metformin safe?", "what worries you about this lady",
        "pneumonia ever?", "HbA1c in 2025", "first and last HbA1c",
    ],
)  # fmt: skip
def test_the_gate_lets_every_line_of_our_own_writers_pass(text, full):
    answer, removed = released(turn(text, full.build()))
    assert answer.strip()
    assert removed == ()


def test_the_writer_says_that_it_only_extracts_and_leads_with_what_was_asked(full):
    view = turn("is metformin still safe for her?", full.build())
    answer, _ = released(view)
    assert answer.splitlines()[0].startswith("Metformin 1000 mg oral tablet: active")
    assert "37 mL/min on 5 Nov 2026" in answer
    assert "without a model" in answer
    assert COPILOT.next(view).unaided(view).by == "extractive"


def test_without_a_patient_the_best_passage_is_quoted_under_its_place():
    text = "Offer apixaban first. Check the creatinine before the first dose."
    hit = cases.passage(
        "af-guide", 0, text, kind="guideline", prefix="[Atrial fibrillation > Anticoagulants] "
    )
    answer, removed = released(turn("anticoagulant in atrial fibrillation?", knowledge=(hit,)))
    assert "Atrial fibrillation, Anticoagulants, 2026:" in answer
    assert "Offer apixaban first." in answer
    assert removed == ()
    empty, _ = released(turn("management of scurvy", knowledge=()))
    assert "No relevant guideline passage was found" in empty


def test_a_patient_reads_what_a_result_means_and_when_to_seek_help(full):
    view = turn("what is my HbA1c", full.build(), options=(("audience", "patient"),))
    answer, removed = released(view)
    assert "8.6 %" in answer
    assert "over the last two to three months" in answer
    assert removed == ()
