"""Whose fact it is, and what an answer does not say: relatives beside the patient, words beside the answer."""

from __future__ import annotations

import pytest

from bedside.flows.intake.reading import read_message
from bedside.sop.find import find
from bedside.sop.state import Known, State
from bedside.testing.intake_kit import read


@pytest.mark.parametrize(
    ("asked", "text", "value"),
    [
        ("", "my brother is allergic to latex", None),
        ("allergies", "no, but my brother is allergic to latex", ()),
        ("allergies", "none, my mum's allergic to nuts", ()),
        ("allergies", "I have no allergies but my mother died from penicillin", ()),
        ("allergies", "my brother is allergic to latex, I am not", None),
        ("allergies", "my son is allergic to nuts and I am allergic to latex", ("latex",)),
        ("allergies", "My brother and I are both allergic to latex", ("latex",)),
        ("allergies", "I live with my wife and am allergic to latex", ("latex",)),
        ("allergies", "My husband says I am allergic to latex", ("latex",)),
    ],
)
def test_what_a_relative_cannot_have_is_not_put_on_the_patients_list(
    asked: str, text: str, value: object
) -> None:
    assert read(text, asked=asked).get("allergies") == value


def test_a_relative_is_the_patient_where_the_case_is_about_one() -> None:
    about = {"who": Known(status="known", value="carer", said="for my dad")}
    contract = find("TKR")
    state = State(sop=contract.id, fields=about)

    def heard(text: str) -> dict[str, object]:
        return {one.field: one.value for one in read_message(text, contract, state).said}

    assert heard("my father is on warfarin")["blood_thinners"] is True  # one of many words for him
    assert heard("he is allergic to latex")["allergies"] == ("latex",)
    assert heard("also my sister is asthmatic") == {}
    assert "blood_thinners" not in heard("my brother takes warfarin")
    assert "blood_thinners" not in read("my dad is on warfarin")


@pytest.mark.parametrize(
    ("asked", "text", "value"),
    [
        ("funding_source", "I have no money", None),
        ("funding_source", "I can't share that", None),
        ("funding_source", "I trust I can manage", None),
        ("funding_source", "what does insurance cover?", None),
        ("funding_source", "no insurance, I will pay", "self"),
        ("previous_knee_surgery", "I need it done", None),
        ("previous_knee_surgery", "got it done last year", True),
        ("country_of_residence", "David said India", "India"),
        ("who", "it is for me. my husband will come with me", "patient"),
        ("who", "me, for my mother", "carer"),
        ("name", "Mary Hull", "Mary Hull"),
        ("name", "An Nguyen", "An Nguyen"),
        ("name", "On Kwok", "On Kwok"),
        ("name", "New Zealand", None),
        ("name", "What is it for?", None),
    ],
)
def test_an_answer_is_not_more_than_it_says(asked: str, text: str, value: object) -> None:
    assert read(text, asked=asked).get(asked) == value


def test_a_complaint_in_another_sentence_is_no_relatives() -> None:
    assert "who" not in read("My husband drives. Knee replacement for a 66 year old woman")
    assert "key_comorbidities" not in read("I saw my endo last week")
    assert read("endo", "IVF", asked="key_comorbidities")["key_comorbidities"] == ("endometriosis",)
    assert read("i have endo", "IVF")["key_comorbidities"] == ("endometriosis",)
