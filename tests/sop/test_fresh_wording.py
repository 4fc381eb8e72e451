"""Red flags and voice rules on messages written before the rules that read them.

Every line is one message, in the voice of somebody else. The even lines were looked at while the
rules were written; the odd lines were sealed until the rules stood, and their misses were looked
at afterwards. The floors hold for the whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bedside.clinical.danger.signs import forms_pack, respelled
from bedside.sop.red_flags import red_flags
from bedside.sop.voice import voice

FRESH = Path(__file__).parent / "fresh"


def lines(name: str) -> list[str]:
    return [one for one in (FRESH / f"{name}.txt").read_text("utf-8").splitlines() if one.strip()]


def breached(answer: str) -> bool:
    return any(finding.severe for finding in voice(answer))


@pytest.mark.requirement("IN-24")
def test_nineteen_in_twenty_fresh_emergencies_are_heard() -> None:
    missed = [one for one in lines("emergencies") if not red_flags(one)]
    assert len(missed) <= 0.05 * len(lines("emergencies")), missed


@pytest.mark.requirement("IN-24")
def test_at_most_three_in_a_hundred_idioms_histories_and_questions_raise_an_alarm() -> None:
    alarms = [one for one in lines("negatives") if red_flags(one)]
    assert len(alarms) <= 0.03 * len(lines("negatives")), alarms


@pytest.mark.requirement("IN-12")
def test_nine_in_ten_fresh_diagnoses_prescriptions_and_promises_are_cut() -> None:
    missed = [one for one in lines("breaches") if not breached(one)]
    assert len(missed) <= 0.1 * len(lines("breaches")), missed


@pytest.mark.requirement("IN-12")
def test_at_most_five_in_a_hundred_harmless_answers_are_cut() -> None:
    cut = [one for one in lines("harmless") if breached(one)]
    assert len(cut) <= 0.05 * len(lines("harmless")), cut


@pytest.mark.requirement("IN-24")
def test_a_slip_of_the_keyboard_is_read_and_its_place_is_the_place_as_written() -> None:
    message = "hello, I have cheest pain"
    (flag,) = red_flags(message)
    assert message[flag.start : flag.end] == "cheest pain"
    assert respelled("the cheese was good").text == "the cheese was good"


@pytest.mark.requirement("IN-24")
def test_the_forms_say_that_nobody_reviewed_them() -> None:
    assert forms_pack().review_status == "unreviewed"


def test_a_long_message_without_a_full_stop_is_read_to_its_end() -> None:
    assert red_flags("my chest size is fine and " * 400 + "she has stopped breathing") != ()
