"""What stops the process and what does not: sentences labelled by hand (see evals/companion_cases.yaml)."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import chain

import pytest
import yaml

from bedside.core.errors import BadInput
from bedside.flows.companion.safety import attacking, danger_in, help_text, wants_to_resume
from bedside.flows.companion.tables import tables_of

CASES = yaml.safe_load(files("bedside.evals").joinpath("companion_cases.yaml").read_text("utf-8"))
RULES = tables_of(None).safety
LATER = CASES["held_out"]


def test_there_are_enough_cases():
    first = [*CASES["stop"].values(), *CASES["free"].values(), CASES["hold"], CASES["pass"]]
    assert sum(map(len, first)) >= 150


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in CASES["stop"].items() for text in texts]
)
def test_danger_now_stops_the_process(kind, text):
    found = danger_in(text)
    assert found is not None
    assert (found.kind, found.level) == (kind, "stop")


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", [*chain.from_iterable(CASES["free"].values()), *LATER["free"]])
def test_idioms_quotes_others_the_past_and_denials_do_not_stop_it(text):
    found = danger_in(text)
    assert found is None or found.level == "concern"


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", LATER["stop"])
def test_danger_in_words_not_seen_before_stops_it(text):
    found = danger_in(text)
    assert found is not None
    assert found.level == "stop"


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", [*CASES["hold"], *LATER["hold"]])
def test_an_attack_is_not_given_to_the_other(text):
    assert attacking(text, RULES) in text
    assert attacking(text, RULES)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", [*CASES["pass"], *LATER["pass"]])
def test_what_only_looks_like_an_attack_may_be_given(text):
    assert attacking(text, RULES) == ""


@pytest.mark.requirement("CM-14")
def test_help_is_that_of_the_country_and_of_the_deployer():
    assert "988" in help_text(RULES, country="us")
    assert "findahelpline" in help_text(RULES, country="XX")
    own = tables_of(
        {"prompt": {"companion/safety": {"text": "help: {XX: Ask the night nurse on 4711}"}}}
    )
    assert help_text(own.safety, country="XX") == "Ask the night nurse on 4711"


@pytest.mark.requirement("CM-14")
def test_only_the_exact_words_go_on_after_a_stop():
    assert wants_to_resume("I am safe and want to go on.", RULES)
    assert not wants_to_resume("I am not safe and want to go on", RULES)
    assert not wants_to_resume("ok", RULES)


def test_the_texts_say_that_nobody_reviewed_them():
    assert RULES["reviewed"] is False


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "text",
    [
        "When I ask her how she is she says 'fine' and goes to bed.",
        "My husband said that I am too sensitive.",
        "She told me that the dishes can wait.",
    ],
)
def test_what_another_said_is_no_danger_by_itself(text):
    assert danger_in(text) is None


@pytest.mark.requirement("CM-14")
def test_what_another_said_about_dying_still_names_help():
    for text in ("She told me that she wants to end her life.", "My brother wants to die."):
        found = danger_in(text)
        assert found is not None
        assert found.level == "concern"


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", CASES["since"]["stop"])
def test_danger_in_a_wider_range_of_words_is_never_passed_over(text):
    assert danger_in(text) is not None


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", CASES["since"]["free"])
def test_harmless_words_of_that_range_stop_nothing(text):
    found = danger_in(text)
    assert found is None or found.level == "concern"


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("abuse", "He beat me to the floor"),
        ("abuse", "She beat me to the ground in front of the children."),
        ("abuse", "He beat me to a pulp last night."),
        ("abuse", "he beat me to the bathroom floor"),
        ("abuse", "he hit me on the shoulder with a bat"),
        ("abuse", "He kicked me on the knee until I fell."),
        ("abuse", "She punched me in the game room."),
        ("abuse", "he slapped me on the back of the head"),
        ("abuse", "He punched me on the back of the neck."),
        ("abuse", "She slapped me on the shoulder so hard that I fell."),
        ("abuse", "He hit me hard."),
        ("abuse", "He hit me that night."),
        ("abuse", "She beat me at the bus stop."),
        ("violence", "I hit him with a bat."),
        ("violence", "I beat her up."),
        ("violence", "I slapped her on the shoulder with a belt."),
        ("violence", "I am going to kill the baby."),
        ("self_harm", "I cut myself when I feel empty."),
        ("self_harm", "I cut myself with the razor."),
        ("self_harm", "I burned myself with the iron on purpose."),
    ],
)
def test_a_manner_of_speaking_does_not_hide_a_blow(kind, text):
    found = danger_in(text)
    assert found is not None
    assert (found.kind, found.level) == (kind, "stop")


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "text",
    [
        "I was so ashamed I wanted to die",
        "I felt humiliated and was so embarrassed that I wanted to die.",
        "I was so bored I wanted to die.",
        "I'd rather be dead than listen to him again.",
        "He beat me to the shower",
        "She slapped me on the back and laughed.",
        "This heat is killing me. I counted my tablets, there are enough.",
    ],
)
def test_what_may_be_a_manner_of_speaking_names_help(text):
    found = danger_in(text)
    assert found is not None
    assert found.level == "concern"


@pytest.mark.parametrize(
    "text",
    [
        "He slapped me on the back in fun.",
        "She hit me in jest.",
        "He beats me every time we play chess.",
        "She beat me to it.",
        "I beat him at his own game.",
        "He beat me in the race.",
        "I cut myself shaving.",
        "I hurt myself when I fell off my bike.",
        "The chemo hit me hard.",
        "I am going to kill the weeds.",
    ],
)
def test_games_jests_and_mishaps_are_no_danger(text):
    assert danger_in(text) is None


@pytest.mark.requirement("CM-14")
def test_a_tenants_own_patterns_stop_beside_the_rules():
    said = "My brother took me behind the mango tree again."
    own = tables_of({"prompt": {"companion/safety": "crisis: {abuse: ['behind the mango tree']}"}})
    assert danger_in(said) is None
    found = danger_in(said, own.safety)
    assert found is not None
    assert (found.kind, found.level) == ("abuse", "stop")
    assert danger_in("I want to die.", own.safety) == danger_in("I want to die.")


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("idioms: ['killing me']", "idioms"),
        ("denied: []\npast: []", "denied, past"),
        ("crisis: {sadness: ['sad']}", "crisis"),
        ("crisis: {abuse: 'one text'}", "crisis.abuse"),
        ("crisis: {abuse: ['(open']}", "crisis.abuse"),
        ("crisis: [a]", "crisis"),
    ],
)
def test_a_tenants_rules_that_nothing_reads_are_refused_by_name(text, named):
    with pytest.raises(BadInput, match=re.escape(f"companion/safety: {named}")):
        tables_of({"prompt": {"companion/safety": text}})
