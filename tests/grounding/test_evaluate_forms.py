"""Summaries that come as FHIR, Markdown or an export without line breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.grounding import evaluate_note

NOTE = (
    "HPI\n\nShe takes lisinopril 20 mg daily.\n\nASSESSMENT AND PLAN\n\nCough.\nStop lisinopril.\n"
)
SAMPLES = Path(__file__).parents[2] / "../shared/data/notes/mtsamples/mtsamples_dev.jsonl"


def narrative(*sections: tuple[str, str]) -> dict[str, object]:
    return {
        "resourceType": "Composition",
        "status": "preliminary",
        "section": [
            {"title": title, "text": {"status": "generated", "div": f"<div>{body}</div>"}}
            for title, body in sections
        ],
    }


def cited(words: str, section: str, chunk: str) -> str:
    at = NOTE.index(words)
    return f"{section} section, {chunk}:{at}-{at + len(words)}"


def test_a_composition_is_read_by_its_narratives_alone():
    source = cited("Stop lisinopril.", "ASSESSMENT AND PLAN", "chunk_1")
    tree = {
        "resourceType": "Bundle",
        "entry": [
            {
                "resource": narrative(
                    ("Medicines", "<p>She takes lisinopril 200 mg daily.</p>"),
                    (
                        "Plan",
                        f"<ol><li><b>Cough:</b> Stop lisinopril. <i>({source})</i> <b>Look twice: it is open.</b></li></ol>",
                    ),
                )
            },
            {"resource": {"resourceType": "Device", "deviceName": [{"name": "X"}]}},
        ],
    }
    report = evaluate_note(tree, note=NOTE)
    first, second = report.items
    assert (first.item.text, first.item.part) == ("She takes lisinopril 200 mg daily.", "summary")
    assert "doses" in {one.kind for one in first.findings}
    assert (second.item.text, second.item.part) == ("Stop lisinopril.", "plan")
    assert second.findings == ()


@pytest.mark.parametrize("div", ["", "<div>", "<li><li>", "<b>x", 5, None])
def test_a_broken_narrative_is_no_crash(div):
    tree = {"resourceType": "Composition", "section": [{"title": "A", "text": {"div": div}}, 7]}
    assert len(evaluate_note(tree, note=NOTE).items) <= 1


def test_markdown_with_labels_citations_and_remarks_is_read_as_its_items():
    source = cited("Stop lisinopril.", "ASSESSMENT AND PLAN", "chunk_1")
    text = (
        "# Note\n\n> Extracted word for word from the note by rule; no model wrote any of it. A draft.\n\n## Plan\n\n"
        f"1. **Cough:** Stop lisinopril. `{source}` (confidence 1)\n   > Look twice: it is open.\n"
    )
    (one,) = evaluate_note(text, note=NOTE).items
    assert (one.item.text, one.item.part) == ("Stop lisinopril.", "plan")
    assert one.findings == ()


def test_an_item_of_two_sentences_rests_on_the_one_citation_that_ends_it():
    note = "CHIEF COMPLAINT\nCough.\n\nALLERGIES\nPenicillin (hives). Sulfa (rash).\n"
    source = f"ALLERGIES section, chunk_1:{note.index('ALLERGIES')}-{len(note) - 1}"
    line = f"- ALLERGIES Penicillin (hives). Sulfa (rash). `{source}`\n"
    (one,) = evaluate_note(f"## Medicines and allergies\n\n{line}", note=note).items
    assert one.item.text == "ALLERGIES Penicillin (hives). Sulfa (rash)."
    assert one.findings == ()
    # Without its mark of a list it is running text, of which each sentence names its source.
    first, _ = evaluate_note(line.removeprefix("- "), note=note).items
    assert {each.kind for each in first.findings} == {"orphan_claim"}


def test_a_lost_line_break_does_not_carry_a_denial_or_a_relative_over():
    note = (
        "FAMILY HISTORY: ,Mother had a stroke.,REVIEW OF SYSTEMS: ,No fever.,PHYSICAL EXAM: ,HEENT: Grossly "
        "normal.,NECK: Supple.,SPECIMENS: ,1. Renal pelvis.,2. Ureter."
    )
    items = [
        {"text": words, "source": None}
        for words in ("HEENT: Grossly normal.", "NECK: Supple.", "Renal pelvis.")
    ]
    report = evaluate_note({"objective_findings": items}, note=note)
    kinds = {found.kind for one in report.items for found in one.findings}
    assert kinds == {"orphan_claim"}


def test_a_plan_taken_out_of_a_turn_gives_its_recommendations_alone():
    plan = {
        "intent": "note_summary",
        "queries": [],
        "source": "rules",
        "recommendations": [{"number": 1, "recommendation": "Stop lisinopril."}],
    }
    report = evaluate_note({"summary": {}, "plan": plan}, note=NOTE)
    assert [one.item.text for one in report.items] == ["Stop lisinopril."]


@pytest.mark.skipif(not SAMPLES.exists(), reason="the measuring data is not here")
def test_a_notes_own_words_raise_hardly_any_alarm():
    from bedside.core.ids import SourceId
    from bedside.core.source import Source
    from bedside.flows.notes.extractive import extract
    from bedside.flows.notes.note import Note, StoredNote
    from bedside.flows.notes.summary import summary_json

    checked = wrong = 0
    for line in SAMPLES.read_text(encoding="utf-8").splitlines()[:60]:
        text = json.loads(line)["text"]
        source = Source(id=SourceId("n"), revision=1, kind="note", title="n")
        note = Note(StoredNote(source=source, text=text))
        summary = {"summary": summary_json(extract(note)[0]), "chunks": note.chunks_json()}
        for one in evaluate_note(summary, note=text).items:
            checked += 1
            wrong += any(found.kind != "duplicate" for found in one.findings)
    assert checked > 1_500
    assert wrong <= 0.002 * checked


def kinds(summary: object) -> set[str]:
    return {one.kind for row in evaluate_note(summary, note=NOTE).items for one in row.findings}


def test_a_claim_in_a_quotation_or_in_bold_on_a_cited_line_is_evaluated():
    source = cited("Stop lisinopril.", "ASSESSMENT AND PLAN", "chunk_1")
    quoted = "> She takes lisinopril 200 mg daily.\n"
    assert "doses" in kinds(quoted)
    bold = f"<li>Stop lisinopril. <b>Start warfarin 5 mg daily.</b> <i>({source})</i></li>"
    tree = narrative(("Plan", bold))
    assert "warfarin" in evaluate_note(tree, note=NOTE).items[0].item.text
    assert kinds(tree) & {"medicines", "doses", "support"}
    after = f"<li>Stop lisinopril. <i>({source})</i> <b>Start warfarin 5 mg daily.</b></li>"
    assert kinds(narrative(("Plan", after))) & {"medicines", "doses", "support"}


@pytest.mark.parametrize("form", ["markdown", "fhir", "json"])
@pytest.mark.parametrize(
    ("label", "wrong"), [("Cough", False), ("Start warfarin 5 mg", True), ("Renal failure", True)]
)
def test_a_label_over_an_item_must_stand_in_the_note(form, label, wrong):
    source = cited("Stop lisinopril.", "ASSESSMENT AND PLAN", "chunk_1")
    given: object = f"## Plan\n\n1. **{label}:** Stop lisinopril. `{source}`\n"
    if form == "fhir":
        given = narrative(("Plan", f"<li><b>{label}:</b> Stop lisinopril. <i>({source})</i></li>"))
    if form == "json":
        given = {"plan": [{"text": "Stop lisinopril.", "source": source, "about": label}]}
    (one,) = evaluate_note(given, note=NOTE).items
    assert one.item.text == "Stop lisinopril."
    assert one.item.label == label
    assert bool(one.findings) is wrong


def test_a_label_that_the_note_denies_is_wrong():
    note = "HPI\nShe has no pneumonia.\n\nPLAN\nStop lisinopril.\n"
    given = {"plan": [{"text": "Stop lisinopril.", "about": "Pneumonia"}]}
    (one,) = evaluate_note(given, note=note).items
    assert "negation" in {found.kind for found in one.findings}
