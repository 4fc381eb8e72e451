"""What one module hears for every room: who, when, how, and what."""

from __future__ import annotations

import re

import pytest

from bedside.clinical.danger import danger_packs, heard
from bedside.clinical.danger.heads import Heads
from bedside.clinical.danger.words import words_of
from bedside.flows.companion.safety import danger_in
from bedside.sop.red_flags import red_flags


def dangers(message: str) -> set[str]:
    return {one.danger for one in heard(message) if one.how == "now" and not one.mild}


@pytest.mark.requirement("IN-24")
@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("He keeps smacking me with the ladle when the rice burns.", "abuse"),
        ("I get slapped by my uncle whenever I answer back.", "abuse"),
        ("My stepson thumped my arm and shoved me into the cooker.", "abuse"),
        ("If I tell my sister she will lock me out again.", "abuse"),
        ("I whacked my grandmother with the tray.", "threat"),
        ("I'm thinking of drowning the baby.", "threat"),
        ("I have been thinking about hanging myself.", "suicide"),
        ("I've hoarded my tablets, enough to finish it.", "suicide"),
        ("My hip popped, the leg is shorter and I cannot stand on it.", "emergency"),
        ("She is on morphine patches and I can hardly wake her.", "emergency"),
    ],
)
def test_the_doer_and_the_done_to_say_what_it_is(message: str, danger: str) -> None:
    assert danger in dangers(message)


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "message",
    [
        "I work in the crisis team for suicidal people.",
        "My back is killing me and I'm dying to sit down.",
        "He never hit me, not once.",
        "The ball hit me on the nose at cricket.",
        "She beats me at draughts every Sunday.",
        "In the novel the sailor wants to die.",
        "This disability does not let me work full time.",
        "My heart was beating fast after the stairs.",
    ],
)
def test_trades_idioms_denials_and_things_are_no_danger(message: str) -> None:
    assert dangers(message) == set()


@pytest.mark.requirement("IN-24")
@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("I cannot see myself getting to Christmas.", "suicide"),
        ("They would all have less to deal with if I just was not here.", "suicide"),
        ("I keep googling how many tablets would kill me.", "suicide"),
        ("What is the point of carrying going, I am finished.", "suicide"),
        ("I punch the wall until it stops because I deserve it.", "suicide"),
        ("I swallowed about forty of the blue ones.", "suicide"),
        ("When he turns up again he will not walk away.", "threat"),
        ("I've got a knife in my coat and I know when she finishes work.", "threat"),
        ("My stepdad creeps into my room and says to keep quiet.", "abuse"),
        ("He says next time I answer back I'll end up in the ground.", "abuse"),
        ("My ex sits outside my flat in a van every evening.", "abuse"),
        ("I had chest pain last year and now it is back.", "emergency"),
        ("Chest pain when I walk, and I am sweating.", "emergency"),
        ("His face is not moving on one side.", "emergency"),
    ],
)
def test_danger_told_sideways_is_heard_by_who_what_and_when(message: str, danger: str) -> None:
    assert danger in dangers(message)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "message",
    [
        "I keep going back to the bridge, it would be so easy.",
        "She has fresh cuts on her forearm.",
        "They would get the insurance and be better off without me.",
        "Tell my sister it was not her fault.",
    ],
)
def test_what_may_be_harmless_names_help_and_goes_on(message: str) -> None:
    assert danger_in(message) is not None


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "message",
    [
        "My face is not droopy and I can lift both arms.",
        "A year ago I couldn't breathe, today I swim.",
        "I was suicidal in my twenties, now I am glad to be here.",
        "Chest pain only when climbing hills.",
        "I get chest pain when I run and it stops when I rest.",
        "The poster says if you feel like ending it all, ring us.",
        "I am safe at home.",
        "I won't be around next week, we are off to Wales.",
        "Could I die in surgery?",
        "I lost my cousin to suicide.",
    ],
)
def test_denied_signs_recovery_effort_and_travel_raise_nothing(message: str) -> None:
    assert dangers(message) == set()


@pytest.mark.requirement("IN-24")
def test_somebody_who_will_not_wake_up_raises_the_medical_text_alone() -> None:
    assert {flag.kind for flag in red_flags("He will not wake up")} == {"emergency"}
    assert {flag.kind for flag in red_flags("I hope that I never wake up")} == {"crisis"}


@pytest.mark.requirement("CM-14")
def test_whose_danger_it_is_and_how_it_is_said_stand_beside_it() -> None:
    (own,) = heard("I want to die")
    assert (own.who, own.how) == ("self", "now")
    assert {one.who for one in heard("My brother wants to die")} == {"other"}
    assert {one.how for one in heard("I don't want to die")} == {"denied"}
    assert "over" in {one.how for one in heard("As a teenager I wanted to die")}
    assert {one.how for one in heard('The song says "I want to die"')} == {"quoted"}


@pytest.mark.requirement("CM-14")
def test_the_companion_stops_at_an_emergency_of_the_body_too() -> None:
    found = danger_in("Sorry, I must go: dad's mouth is drooping and his speech is slurred")
    assert found is not None
    assert (found.kind, found.level) == ("emergency", "stop")


def test_every_pack_of_the_rules_says_that_nobody_reviewed_it() -> None:
    assert len(danger_packs()) >= 6
    assert {pack.review_status for pack in danger_packs()} == {"unreviewed"}


def test_short_forms_are_written_out_and_irregular_verbs_share_a_stem() -> None:
    assert [word.text for word in words_of("I can't, he's gonna")] == [
        "i", "can", "not", ",", "he", "is", "going", "to",
    ]  # fmt: skip
    assert len({word.stem for word in words_of("shake shook shaken shaking")}) == 1


def test_a_lookup_by_first_letters_finds_what_one_pattern_finds() -> None:
    form = r"(?:the |my )?(?:left )?arm|a?che[sd]?|(?<!so )numb\w*|\d+ days|gr[ea]y"
    text = "My arm aches, so numb; numbness for 10 days in the left Arm, gray and charm"
    whole = re.compile(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE)
    expected = [found.span() for found in whole.finditer(text)]
    assert Heads({"x": [form]}).hits(text, (0, len(text)))["x"] == expected


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


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "message",
    [
        "Some nights I think everyone would be better off if I didn't wake up.",
        "If I didn't wake up tomorrow everyone would be better off.",
        "If I wasn't here they would all be happier.",
        "If I didn't exist nobody would miss me.",
        "The world would be better off if I was never born.",
        "He would be better off if I never existed.",
        "I think my family would cope better if I wasn't alive.",
        "If I never woke up, it would be a relief for all of them.",
        "Nobody would care if I never woke up.",
        "If I was gone, my wife would be freer.",
    ],
)
def test_who_would_be_better_off_without_me_is_heard_in_either_order(message: str) -> None:
    assert dangers(message) == {"suicide"}


@pytest.mark.parametrize(
    "message",
    [
        "He'd sleep better if I didn't wake up so often.",
        "He'd sleep better if I didn't wake him.",
        "I sleep better if I don't wake up at four.",
        "It would have been better if I had not woken the baby.",
        "He'd be calmer if I just disappeared for a weekend.",
        "If I had not been here she would have coped better alone.",
        "If I was here more often she would be happier.",
        "I don't believe they'd be happier if I didn't exist.",
        "She flinches when I touch her.",
        "She flinches every time I try to hug her.",
        "He must be terrified that Leo won't wake up.",
        "My son's head hurts a bit.",
        "I keep the baby's head above the water in the bath.",
    ],
)
def test_waking_touching_and_a_guess_at_another_s_fear_are_no_danger(message: str) -> None:
    assert dangers(message) == set()


@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("She must be terrified, Leo won't wake up!", "emergency"),
        ("I'm terrified because Leo won't wake up.", "emergency"),
        ("I flinch when he touches me.", "abuse"),
        ("My son flinches when his dad walks in.", "abuse"),
        ("She flinches when I raise my hand.", "abuse"),
        ("He puts his hand down my daughter's pants.", "abuse"),
        ("He put his hand in my stepdaughter's knickers.", "abuse"),
    ],
)
def test_fear_that_explains_flinching_and_a_child_s_clothes_are_heard(
    message: str, danger: str
) -> None:
    assert danger in dangers(message)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("I cut my wrist with a knife tonight.", "suicide"),
        ("I keep burning my arm with the iron.", "suicide"),
        ("I want to die in the surgery.", "suicide"),
        ("I hope I die during the operation.", "suicide"),
        ("I hope I die under the anaesthetic.", "suicide"),
        ("Since my late wife went I want to be dead.", "suicide"),
        ("I lost my husband to suicide and I want to join him.", "suicide"),
        ("My husband took his own life and I want to follow him.", "suicide"),
        ("If there's a name he doesn't know I pay for it.", "abuse"),
        ("When his dinner is late I pay for it.", "abuse"),
        ("He says you will pay for this.", "abuse"),
        ("My face has been like this since lunch and my arm is weak.", "emergency"),
    ],
)
def test_a_figure_or_a_loss_takes_no_danger_of_now_away(message: str, danger: str) -> None:
    assert danger in dangers(message)


@pytest.mark.parametrize(
    "message",
    [
        "I cut my finger with the knife while cooking.",
        "I cut my leg on the brambles.",
        "Tell me honestly, could I die in surgery?",
        "I'm scared I might die on the table.",
        "I lost my brother to suicide and I'm walking a marathon for the charity.",
        "My wife's late father beat his children, that's why she is gentle with ours.",
        "I'll pay for it myself.",
        "I get out of breath on stairs, have done since the winter.",
    ],
)
def test_accidents_fears_losses_and_bills_are_no_danger(message: str) -> None:
    assert dangers(message) == set()


def test_the_colour_of_an_inhaler_and_its_use_at_times_are_no_danger() -> None:
    for message in ("Uses blue inhaler at times", "blue pump for asthma", "On a blue inhaler."):
        assert dangers(message) == set(), message
    for message in (
        "inhaler four times today and no better",
        "on a blue inhaler and lips are blue",
        "blue inhaler not helping",
        "using blue inhaler every hour and no relief",
    ):
        assert "emergency" in dangers(message), message
