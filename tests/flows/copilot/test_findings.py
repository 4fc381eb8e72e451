"""Document insights: what rules find in a document, each with its words, at most three in all."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.findings import MOST_FINDINGS, document_findings

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
passage, turn = cases.passage, cases.turn

TABLE = """Results

| Test | Result | Unit | Reference range |
| --- | --- | --- | --- |
| Potassium | 5.9 | mmol/L | 3.5 - 5.1 |
| Sodium | 139 | mmol/L | 136 - 145 |
| Haemoglobin | 9.8 | g/dL | 13.0 - 17.0 |
| HbA1c | 7.2 | % | < 6.5 |
"""


def found(text: str, record):
    return document_findings([passage("letter", 0, text)], record.build())


def test_values_outside_the_range_beside_them_are_found_and_those_inside_are_not(record):
    texts = {one.text for one in found(TABLE, record)}
    assert texts == {
        "Potassium 5.9 mmol/L is above the range stated beside it (3.5 - 5.1)",
        "Haemoglobin 9.8 g/dL is below the range stated beside it (13.0 - 17.0)",
        "HbA1c 7.2 % is above the range stated beside it (< 6.5)",
    }


def test_each_finding_cites_the_very_row_that_holds_its_figure(record):
    hit = passage("letter", 0, TABLE)
    for one in document_findings([hit], record.build()):
        span = one.item.span
        assert span is not None
        own = TABLE[span.start - hit.span.start : span.end - hit.span.start]
        assert own == one.item.body
        assert one.text.split()[1] in own


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("HbA1c 8.9 % (reference 4.0 - 6.0).", 1),
        ("HbA1c 5.9 % (reference 4.0 - 6.0).", 0),
        ("HbA1c 6.0 % (reference 4.0 - 6.0).", 0),
        ("HbA1c 8.9 %.", 0),
        ("Potassium was 6.1 mmol/L (normal range 3.5 to 5.1).", 1),
        ("eGFR 40 mL/min (reference > 60).", 1),
        ("eGFR 70 mL/min (reference > 60).", 0),
    ],
)
def test_a_value_in_a_sentence_needs_its_own_range(record, line, expected):
    assert len([one for one in found(line, record) if one.rule == "document-range"]) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Started amoxicillin 500 mg three times a day.", 1),
        ("Stop amoxicillin.", 0),
        ("No penicillin should be given.", 0),
        ("She is allergic to penicillin.", 0),
        ("Started doxycycline 100 mg daily.", 0),
    ],
)
def test_a_medicine_in_a_document_is_held_against_the_recorded_allergies(full, line, expected):
    hits = [one for one in found(line, full) if one.rule == "document-allergy"]
    assert len(hits) == expected
    for one in hits:
        assert [fact.name for fact in one.facts] == ["Penicillin"]


@pytest.mark.requirement("CO-09")
def test_no_known_allergies_in_a_document_contradicts_a_recorded_one(full, record):
    one = found("She has no known drug allergies.", full)[0]
    assert one.rule == "document-none-known"
    assert "Penicillin" in one.text
    empty = cases.Record()
    assert found("She has no known drug allergies.", empty) == ()


def test_another_value_for_the_same_day_contradicts_the_record(record):
    record.lab("Potassium", "2823-3", "4.1", "mmol/L", "2026-11-01")
    text = "Potassium was 5.4 mmol/L on that day."
    one = found(text, record)[0]
    assert one.rule == "document-value"
    assert "5.4 mmol/L" in one.text
    assert "4.1 mmol/L" in one.text
    assert found("Potassium was 4.1 mmol/L on that day.", record) == ()


@pytest.mark.requirement("CO-03")
def test_no_more_than_three_are_told_and_an_allergy_comes_first(full):
    rows = "\n".join(f"| Potassium | 6.{n} | mmol/L | 3.5 - 5.1 |" for n in range(6))
    text = f"{TABLE}{rows}\n\nStarted amoxicillin 500 mg.\n"
    findings = found(text, full)
    assert len(findings) == MOST_FINDINGS == 3
    assert findings[0].rule == "document-allergy"


@pytest.mark.requirement("CO-03")
def test_the_insights_of_an_upload_stand_in_the_context_and_lead_the_answer(full):
    view = turn(
        "what is abnormal in this report",
        full.build(),
        documents=(passage("upload", 0, TABLE),),
        uploaded=("upload",),
    )
    step = COPILOT.next(view)
    block = next(one for one in step.blocks if one.name == "document insights")
    items = block.items if isinstance(block.items, (list, tuple)) else (block.items,)
    assert len(items) == 3
    answer = step.unaided(view).text
    assert answer.splitlines()[0].startswith("By rule: Haemoglobin 9.8 g/dL is below")
    assert "Test: Sodium; Result: 139" in answer


def test_a_superseded_document_gives_no_insight(record):
    from dataclasses import replace

    hit = passage("old", 0, TABLE)
    old = replace(hit, span=replace(hit.span, source=replace(hit.span.source, superseded=True)))
    assert document_findings([old], record.build()) == ()
