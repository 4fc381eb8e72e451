"""The summary without a model: verbatim, complete, cited."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bedside.core.ids import SourceId
from bedside.core.source import Source
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
        "Penicillin (rash).",
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
