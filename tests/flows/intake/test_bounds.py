"""What a model of intake may say at all, what presses for more, and whose words a fact keeps."""

from __future__ import annotations

import pytest

from bedside.flows.intake.bounds import beyond
from bedside.flows.intake.signals import signals


def _ids(text: str, *said: str) -> list[str]:
    return [one.id for one in beyond(text, said=said, agreed=False)]


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize(
    "sentence",
    [
        "Your hip will carry you up any mountain.",
        "The stay is going to pass like a holiday.",
        "I am confident about this one.",
        "Such an operation is straightforward.",
        "She is an ideal candidate, nothing can change that.",
        "Most patients dance at the next wedding.",
        "It can't go anywhere but up.",
    ],
)
def test_a_statement_of_how_it_turns_out_is_cut_whatever_its_words(sentence: str) -> None:
    assert _ids(sentence) == ["outcome_promise"]


@pytest.mark.parametrize(
    "sentence",
    [
        "I will pass that on to the team.",
        "You will get a summary from me by Friday.",
        "The hospital will send you a quote.",
        "You can add a file at any time.",
        "It makes sense to feel worried.",
        "Your file will be read in a minute.",
        "I cannot say how it will go.",
        "Is the operation planned for this year?",
    ],
)
def test_what_the_desk_and_the_hospital_do_is_not_cut(sentence: str) -> None:
    assert _ids(sentence) == []


@pytest.mark.requirement("IN-12")
def test_a_question_that_brings_a_medicine_of_its_own_is_cut() -> None:
    assert _ids("Is naproxen something at home?") == ["prescription"]
    assert _ids("Is naproxen taken every day?", "I take naproxen") == []


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize(
    "plea",
    [
        "Will my mother be able to climb stairs?",
        "how big is the risk",
        "does he really need that operation?",
        "Am I too old for it?",
    ],
)
def test_a_plea_is_heard_as_a_plea(plea: str) -> None:
    assert "advice" in signals(plea).asks
