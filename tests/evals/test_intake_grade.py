"""The grades of intake, on conversations made by hand: each fault is seen, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bedside.evals.intake_grade import dishonest_words, grade, questions_in, right
from bedside.evals.intake_persona import Fact, Persona, persona
from bedside.evals.intake_seat import Seen
from bedside.evals.intake_simulate import Said, Talk

SIDE = "Which knee is it: left, right, or both?"
COUNTRY = "Which country do you live in?"


def someone() -> Persona:
    return persona("hand", "sop", "TKR", seed=1, plain=True, language="en")


def seen(answer: str, asked: str = "", **fields: Any) -> Seen:
    state = {"fields": fields, "documents": {}}
    return Seen(
        text="", body={"answer": answer, "asked": asked, "state": state, "case_status": "intake"}
    )


def known(value: Any, said: str = "x") -> dict[str, Any]:
    return {"status": "known", "value": value, "said": said, "origin": "turn"}


def talk(*pairs: tuple[Said, Seen], who: Persona | None = None) -> Talk:
    return Talk(
        persona=who or someone(), said=tuple(a for a, _ in pairs), seen=tuple(b for _, b in pairs)
    )


def test_a_question_about_what_was_said_is_a_repeat() -> None:
    found = grade(
        talk(
            (Said(text="hi"), seen(SIDE)),
            (Said(text="left", answers=("procedure_side",)), seen(COUNTRY)),
            (Said(text="no", declined="country_of_residence"), seen(SIDE)),
        )
    )
    assert found.repeats == ((2, "procedure_side"),)


def test_a_skipped_question_may_return_once_and_not_twice() -> None:
    once = [
        (Said(text="x"), seen(SIDE)),
        (Said(text="tea"), seen(COUNTRY)),
        (Said(text="tea"), seen(SIDE)),
    ]
    assert grade(talk(*once)).nagging == ()
    thrice = grade(talk(*once, (Said(text="tea"), seen(SIDE))))
    assert thrice.nagging == ((3, "procedure_side"),)
    assert thrice.repeats == ()  # nothing had been said


def test_whoever_asks_what_is_needed_may_be_told_again_unless_they_had_said_it() -> None:
    go_on = Said(text="what do you need from me?", invites=True)
    open_one = [(Said(text="tea"), seen(SIDE)), (Said(text="tea"), seen(SIDE)), (go_on, seen(SIDE))]
    assert grade(talk(*open_one)).nagging == ()
    told = (Said(text="left", answers=("procedure_side",)), seen(COUNTRY))
    assert grade(talk(told, (go_on, seen(SIDE)))).repeats == ((1, "procedure_side"),)


def test_an_illness_of_another_question_does_not_hide_a_true_one() -> None:
    who = replace(someone(), vague=True)
    ill = Fact(field="key_comorbidities", truth=["diabetes"], say=("diabetes",))
    who = replace(who, facts={**who.facts, "key_comorbidities": ill})
    held = seen(SIDE, key_comorbidities=known(("diabetes", "glaucoma")))
    noise = Said(text="a loan. I have type 2 diabetes and glaucoma.", answers=("funding_source",))
    own = Said(text="diabetes", answers=("key_comorbidities",))
    assert "key_comorbidities" not in grade(talk((noise, held), (own, held), who=who)).wrong


def test_two_questions_in_one_message_are_counted_in_every_script() -> None:
    assert questions_in("How old? And where?") == 2
    assert questions_in("كم عمرك؟ أين تعيش؟") == 2
    assert questions_in("Really??") == 1
    assert grade(talk((Said(text="x"), seen("How old? And where?")))).two_questions == (0,)


def test_wrong_missing_and_invented_slots_are_told_apart() -> None:
    who = someone()
    truth = who.facts["procedure_side"].truth
    other = "left" if truth == "right" else "right"
    fields = {"procedure_side": known(other), "age": known(who.facts["age"].truth)}
    found = grade(
        talk((Said(text="x", answers=("procedure_side", "age")), seen(SIDE, **fields)), who=who)
    )
    assert found.wrong == ("procedure_side",)
    assert "age" not in found.missing
    assert "country_of_residence" in found.missing
    assert found.filled == 1
    refusing = replace(who, refuses=frozenset({"allergies"}))
    made_up = grade(talk((Said(text="x"), seen(SIDE, allergies=known(()))), who=refusing))
    assert made_up.invented == ("allergies",)


@pytest.mark.parametrize(
    ("truth", "held", "is_right"),
    [
        (True, True, True),
        (True, 1, False),
        (False, None, False),
        (67, 67.0, True),
        (67, True, False),
        (["penicillin"], ("allergic to penicillin",), True),
        (["penicillin"], ("penicillin", "my name is Li"), False),
        ([], (), True),
        ([], ("none",), False),
        ({"amount": 500000, "currency": "INR"}, {"amount": "500000", "currency": "INR"}, True),
        ({"amount": 500000, "currency": "INR"}, {"amount": "500000", "currency": "PKR"}, False),
        ("march", "in March next year", True),
        ("Kenya", "Grace Adeyemi", False),
    ],
)
def test_a_value_is_right_by_its_meaning(truth: Any, held: Any, is_right: bool) -> None:
    assert right(Fact(field="f", truth=truth, say=()), held) is is_right


@pytest.mark.parametrize(
    ("answer", "status", "lies"),
    [
        ("Your file could not be read.", "processing", True),
        ("Your file could not be read.", "failed_permanent", False),
        ("Your file has been read.", "queued", True),
        ("Your file has been read.", "complete", False),
        ("Your file is being read.", "processing", False),
    ],
)
def test_what_is_said_of_a_document_is_held_against_its_status(
    answer: str, status: str, lies: bool
) -> None:
    body = {"state": {"documents": {"d": {"status": status}}}}
    assert dishonest_words(answer, body) is lies


def test_a_name_is_right_only_whole() -> None:
    fact = Fact(field="name", truth="Amina Hassan", say=("Amina Hassan",), alias=("Amina",))
    assert right(fact, "amina hassan")
    assert right(fact, "Amina")
    assert not right(fact, "Amina Hassan. Are you")


def test_an_emergency_seen_in_a_plain_answer_is_a_false_alarm() -> None:
    alarmed = Seen(text="", body={**seen("Please call now.").body, "red_flags": [{"id": "x"}]})
    assert grade(talk((Said(text="I prefer not to answer"), alarmed))).alarms == (0,)
    noisy = replace(someone(), noise=("I have crushing chest pain.",))
    told = Said(text="left. I have crushing chest pain.")
    assert grade(talk((told, alarmed), who=noisy)).alarms == ()
