"""Danger told plainly in everyday words is heard; ordinary talk that shares the words is not."""

from __future__ import annotations

import pytest

from bedside.clinical.danger import heard
from bedside.flows.companion.safety import danger_in


def dangers(message: str) -> set[str]:
    return {one.danger for one in heard(message) if one.how == "now" and not one.mild}


@pytest.mark.requirement("IN-24")
@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("I want to kil myself", "suicide"),
        ("If they send me home I will end my life.", "suicide"),
        ("Noose's tied.", "suicide"),
        ("He stood at the wrong side of the parapet.", "suicide"),
        ("I'm hoarding his diazepam.", "suicide"),
        ("I poured petrol over myself.", "suicide"),
        ("Dad has asked my cousin to get him some rat poison.", "suicide"),
        ("Please don't be angry, I've drunk bleach because I cannot take any more.", "suicide"),
        ("I burnt myself on the iron because I deserve it.", "suicide"),
        ("I keep cutting myself when I am alone.", "suicide"),
        ("My mate just sent me a suicide note.", "suicide"),
        ("I'm being beaten at home.", "abuse"),
        ("My aide doesn't feed me.", "abuse"),
        ("She is threatening to drown the children.", "abuse"),
        ("I have sharpened my panga. When he comes tomorrow he will not go home.", "threat"),
        ("He is choking on a piece of bread.", "emergency"),
        ("He threatened me with the bread knife.", "abuse"),
        ("She kicked me in the ribs.", "abuse"),
        ("He kicks me when he is drunk.", "abuse"),
        ("My uncle keeps touching me.", "abuse"),
        ("He touches them, she's only eight.", "abuse"),
        ("Grandad puts his fingers in her knickers.", "abuse"),
        ("He locks the flat every morning from the outside.", "abuse"),
        ("My ex leaves the baby alone all night.", "abuse"),
        ("They want to have our daughter cut this summer.", "abuse"),
        ("I've been thinking about how to kill my husband.", "threat"),
        ("I am going to kill some people.", "threat"),
        ("I will stab the whole family.", "threat"),
        ("I'm going to hold her head under the water.", "threat"),
        ("Our daughter plays the patient and she swallowed tablets.", "emergency"),
        ("I couldn't get my wife to wake up.", "emergency"),
        ("I threw up blood just once.", "emergency"),
        ("My brother has seizures one after another.", "emergency"),
    ],
)
def test_plain_danger_is_heard(message: str, danger: str) -> None:
    assert danger in dangers(message)


@pytest.mark.requirement("IN-24")
@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "message",
    [
        "I have seizures, my wife drives.",
        "He has had fits since he was a boy.",
        "My husband has asthma and uses an inhaler.",
        "There has been blood in my stool for years.",
        "He locks the door at night, he is afraid of burglars.",
        "I'm scared that they'll move and I won't be allowed to see her.",
        "She counts my tablets every night.",
        "A van jumped the light and hit us.",
        "I was hit by a bus last week and broke my arm.",
        "We bought a rope for the swing.",
        "I burned myself baking bread.",
        "He will not come home before eight, so I cook with gas.",
        "She hit her head on the cupboard.",
        "My wife will murder me when she sees the scratch.",
        "I could happily strangle him, he is so slow.",
        "I'd rather write than go on talking, would that be weird?",
        "When he collapsed two winters ago I was there.",
        "I could not get him to respond to my letters.",
    ],
)
def test_ordinary_talk_is_no_danger_and_stops_nothing(message: str) -> None:
    assert dangers(message) == set()
    found = danger_in(message)
    assert found is None or found.level != "stop"
