"""Red flags in the words of frightened people, and in what only sounds like them.

Each list was written before the rules were changed for it, by one author. Heard when first seen:
130 of 150 of the sealed half of the first (88 by the rules before), with 17 of 150 false alarms;
48 of 102 of the second, with 6 of 100; 42 of 68 of the third, with 4 of 70; 29 of 60 in Arabic and
Hindi, with 2 of 30. The floors below hold for the lists as they are heard now, after their misses
were looked at: they guard what was mended and say nothing of wording that nobody has seen.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bedside.clinical.danger.signs import respelled, signs_packs
from bedside.sop.red_flags import red_flags

UNSEEN = Path(__file__).parent / "unseen"


def sentences(name: str) -> list[str]:
    lines = (UNSEEN / f"{name}.txt").read_text("utf-8").splitlines()
    return [line.rsplit("|", 1)[-1] for line in lines if line.strip()]


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "name", ["emergencies_1", "emergencies_2", "emergencies_3", "emergencies_tongues"]
)
def test_nineteen_in_twenty_lay_emergencies_of_thirty_kinds_are_heard(name: str) -> None:
    said = sentences(name)
    missed = [one for one in said if not red_flags(one)]
    assert len(missed) <= 0.05 * len(said), missed


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "name", ["harmless_1", "harmless_2", "harmless_3", "harmless_tongues", "ordinary"]
)
def test_at_most_two_in_a_hundred_harmless_messages_raise_an_alarm(name: str) -> None:
    said = sentences(name)
    alarms = [one for one in said if red_flags(one)]
    assert len(alarms) <= 0.02 * len(said), alarms


def test_the_lists_have_the_sizes_that_are_reported() -> None:
    sizes = {path.stem: len(sentences(path.stem)) for path in sorted(UNSEEN.glob("*.txt"))}
    assert sizes["emergencies_1"] == sizes["harmless_1"] == 300
    assert (sizes["emergencies_2"], sizes["emergencies_3"]) == (102, 68)


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("words coming out jumbled. arm dead. scared", "stroke"),
        ("third trimester. upper tummy pain. zigzags in eyes. help", "pregnancy"),
        ("fever. confused. burning up since tonight", "sepsis"),
    ],
)
def test_signs_in_fragments_are_heard_together(message: str, wanted: str) -> None:
    flags = {flag.id: flag for flag in red_flags(message)}
    assert wanted in flags
    assert 0 <= flags[wanted].start < flags[wanted].end <= len(message)


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "message",
    [
        "no jumbled words. no dead arm. all good",
        "I am afraid the wound will burst on the plane",
        "rash is gone, no swelling of tongue or lips",
        "in 2019 my heart rate was 72",
        "I don't react to anything",
        "no pain, just breathless",
    ],
)
def test_signs_that_are_denied_or_feared_are_not(message: str) -> None:
    assert red_flags(message) == ()


@pytest.mark.requirement("IN-24")
def test_a_fear_for_oneself_is_a_crisis_all_the_same() -> None:
    assert {flag.kind for flag in red_flags("I'm scared I will kill myself")} == {"crisis"}


@pytest.mark.requirement("IN-24")
def test_the_signs_say_that_nobody_reviewed_them() -> None:
    assert {pack.review_status for pack in signs_packs()} == {"unreviewed"}


def test_places_are_those_of_the_message_as_written() -> None:
    message = "my testical is agony since 2am and I'm vomitting"
    flag = next(one for one in red_flags(message) if one.id == "testicle")
    assert message[flag.start : flag.end].startswith("testical")
    assert respelled(message).text != message
