"""A raw conversation given as a note: turns, questions with answers, and what is ordered."""

from __future__ import annotations

import pytest

from bedside.flows.notes.extractive import extract
from bedside.flows.notes.statements import statements
from bedside.flows.notes.talk import talk_in
from bedside.wiring.notes import note_of

TALK = """[doctor] hi , ann . how are you ?
[patient] hi . good to see you .
[doctor] ann is a 58 year old female with a history of heart failure . what's going on ?
[patient] i feel tired since labor day , about five weeks .
[doctor] mm-hmm . have you had a fever or chills ?
[patient] no .
[doctor] okay . on your heart exam , i do appreciate a systolic murmur .
[patient] okay .
[doctor] so , i'm gon na take a listen to your lungs , okay ?
[patient] i'd like to start a new kitchen .
[doctor] i wan na go ahead and increase your lasix to 80 mg once a day , okay ? hey , dragon ?
[patient] sounds good .
"""


def extracted(text: str):
    return extract(note_of(text))


@pytest.mark.requirement("NO-11")
def test_a_question_stands_with_its_answer_and_small_talk_is_left_out():
    summary, _ = extracted(TALK)
    said = [one.text for one in summary]
    assert any("fever or chills ? [patient] no ." in one for one in said)
    assert not any(
        one.strip(" .") in {"[patient] okay", "[doctor] mm-hmm", "hey , dragon ?"} for one in said
    )
    for one in summary:
        assert " ".join(TALK[one.start : one.end].split()) == one.text


@pytest.mark.requirement("NO-11")
def test_only_what_the_clinician_means_to_do_is_a_plan():
    _, plan = extracted(TALK)
    assert [one.text for one in plan] == [
        "[doctor] i wan na go ahead and increase your lasix to 80 mg once a day , okay ?"
    ]


def test_what_the_clinician_found_on_examination_is_an_objective_finding():
    summary, _ = extracted(TALK)
    found = [one.text for one in summary if one.part == "objective_findings"]
    assert any("systolic murmur" in one for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "HISTORY: The doctor: said so.\nPLAN: rest.",
        "Doctor: Smith\nPatient: Jones\nDate: today\nThe patient came with a cough. " * 3,
        "[redacted] came.\n" * 10,
    ],
)
def test_a_note_is_no_conversation(text):
    assert talk_in(text) is None


def test_a_bare_list_counter_is_no_statement():
    text = "10. There is no effusion.\n11.\n12. Pressure 120/80\n13."
    said = [text[a:b] for a, b in statements(text, 0, len(text))]
    assert not [one for one in said if one.strip(" .").isdigit()]
    assert any("120/80" in one for one in said)


@pytest.mark.parametrize(
    "text",
    [
        "There also appears to be increased left ventricular outflow tract gradient.",
        "No guarantees or warrantees were given.",
    ],
)
def test_a_finding_and_a_denial_are_no_orders(text):
    _, plan = extracted(f"PLAN\n\n{text}\n")
    assert plan == ()
