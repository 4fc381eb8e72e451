"""Messages as they are typed on a phone; every expected value is the writer's own."""

from __future__ import annotations

import pytest

from bedside.evals.intake_seat import Seat
from bedside.flows.intake.questions import TIMES
from bedside.flows.intake.signals import signals
from bedside.sop.find import find
from bedside.testing.intake_kit import read


@pytest.mark.parametrize(
    ("procedure", "asked", "text", "value"),
    [
        ("CATARACT", "can_lie_flat", "sure", True),
        ("CATARACT", "can_lie_flat", "I'd struggle", False),
        ("ACL", "knee_locked", "No problem in bending", False),
        ("ACL", "knee_locked", "it is not locking", False),
        ("CABG", "angiogram_done", "they already did", True),
        ("CABG", "recent_heart_attack", "september, one", True),
        ("CABG", "chest_pain_pattern", "only if he walks far", "on_effort"),
        ("CABG", "blood_thinners", "بلافيكس", True),
        ("ACL", "previous_knee_surgery", "पहली बार है", False),
        ("THR", "procedure_side", "اليسار", "left"),
        ("THR", "allergies", "ماكو", ()),
        ("TKR", "allergies", "we don't know of any", ()),
        ("TKR", "allergies", "iodine, breaks me out", ("iodine",)),
        ("IVF", "trying_duration", "5 سنوات", "5 سنوات"),
        ("TKR", "key_comorbidities", "Type 2", ("diabetes",)),
        ("TKR", "key_comorbidities", "lupus and bp obviously", ("lupus", "high blood pressure")),
        ("TKR", "key_comorbidities", "wobblitis and bp", ("high blood pressure", "wobblitis")),
        ("TKR", "key_comorbidities", "asthma, on inhalers", ("asthma",)),
        ("TKR", "age", "I turn 70 next month", 69),
        ("TKR", "age", "83 in March just gone", 83),
        ("TKR", "country_of_residence", "UG", "Uganda"),
        ("TKR", "country_of_residence", "we left Khartoum for Port Sudan", "Sudan"),
        ("TKR", "country_of_residence", "we stay near Qzxville", "Qzxville"),
        ("TKR", "country_of_residence", "down south 🇿🇦", "South Africa"),
        ("TKR", "funding_source", "I pay, in 10 instalments maybe", "self"),
        ("TKR", "funding_source", "Zentaris covers some", "insurance"),
        ("TKR", "name", "Si Mohamed", "Si Mohamed"),
        ("TKR", "name", "Ja Rule", "Ja Rule"),
        ("TKR", "name", "Abebe is me, uncle is Girma", "Abebe"),
    ],
)
def test_an_answer_is_heard_as_it_is_typed(
    procedure: str, asked: str, text: str, value: object
) -> None:
    found = read(text, procedure, asked=asked)[asked]
    assert set(found) == set(value) if isinstance(value, tuple) else found == value


def test_a_no_that_answers_one_question_takes_back_no_illness() -> None:
    told = ("diabetes",)
    found = read("no only sugar medicine", asked="blood_thinners", key_comorbidities=told)
    assert found["blood_thinners"] is False
    assert "key_comorbidities" not in found


@pytest.mark.parametrize(
    ("text", "age"),
    [("sorry typo, 71 not 17!!", 71), ("I wrote 17, I meant 71", 71), ("71* sorry", 71)],
)
def test_a_number_that_takes_another_back_is_heard_whatever_was_asked(text: str, age: int) -> None:
    assert read(text, asked="key_comorbidities", age=17)["age"] == age


def test_a_number_of_something_else_takes_no_age_back() -> None:
    assert "age" not in read("wait is 18 months and I'm 77", asked="name", age=77)


def test_whoever_says_whose_treatment_it_is_tells_the_rest_of_that_person() -> None:
    found = read("I have asthma, and this is for me.", who="carer")
    assert found["who"] == "patient"
    assert found["key_comorbidities"] == ("asthma",)


@pytest.mark.parametrize("text", ["شكرا", "धन्यवाद", "merci", "ठीक है"])
def test_thanks_are_no_name_and_no_country(text: str) -> None:
    assert read(text, asked="name") == {}
    assert read(text, asked="country_of_residence") == {}


def test_a_medicine_beside_an_illness_is_no_illness() -> None:
    told = {"asked": "key_comorbidities"}
    assert read("metformin, amlodipine. He has high bp", **told)["key_comorbidities"] == (
        "high blood pressure",
    )
    assert read("high bp and metformin", **told)["key_comorbidities"] == ("high blood pressure",)


def test_what_somebody_did_is_no_allergy() -> None:
    text = "the nurse just rang, they've started antibiotics for a water infection"
    found = read(text, asked="allergies", active_infection=False)
    assert found.get("allergies") is None
    assert found["active_infection"] is True


def test_a_greeting_to_a_sister_is_no_carers() -> None:
    assert read("hello sister me and husband", "IVF", asked="who")["who"] == "patient"


@pytest.mark.parametrize(
    ("text", "contract"),
    [
        ("Left knee total replacement. Whats the cost", "TKR"),
        ("ammu needs knee change", "TKR"),
        ("the doctors say bypass is needed", "CABG"),
        ("gastric bypass is needed", "_generic"),
        ("knee cap replacement", "_generic"),
    ],
)
def test_a_procedure_is_found_in_other_words(text: str, contract: str) -> None:
    assert find(text).id == contract


def test_no_field_is_asked_a_third_time_unless_the_person_asks_what_is_needed() -> None:
    seat = Seat("nagged")
    seat.send("I need a left knee replacement for me")
    asked = [seat.send("hm hm hm").asked for _ in range(32)]
    shown = [one.answer for one in seat.turns if "Which country do you live in?" in one.answer]
    assert "country_of_residence" in asked
    assert len(shown) == TIMES
    assert "Still open:" in " ".join(one.answer for one in seat.turns)
    again = seat.send("ok what do you need from me?")
    assert again.answer.count("?") == 1


def test_a_noted_procedure_without_a_contract_is_not_asked_for_again() -> None:
    seat = Seat("hernia")
    seat.send("Hello how much for hernia repair")
    answers = [seat.send("ok, please go on").answer for _ in range(24)]
    assert not any("Which treatment or operation" in one for one in answers)
    assert seat.case.facts.value("procedure_name") == "hernia repair"


def test_pounds_get_their_currency_once_the_country_is_known() -> None:
    seat = Seat("pounds")
    seat.send("I need a left knee replacement for me, my budget is 12000 pounds")
    seat.send("I live in Leeds, UK")
    held = seat.case.facts.value("budget")
    assert (held["currency"], held["amount"]) == ("GBP", "12000")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Any chance you can tell me the dose of paracetamol she should take?", "advice"),
        ("btw is the food there ok for hindus?", "other"),
    ],
)
def test_a_question_is_heard_however_it_opens(text: str, asks: str) -> None:
    assert signals(text).asks[:1] == (asks,)


@pytest.mark.parametrize("text", ["my husband will pay for it", "we'll pay for it", "I pay for it"])
def test_who_pays_is_no_threat(text: str) -> None:
    assert find("IVF").red_flags(text) == ()
