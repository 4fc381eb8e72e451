"""What people say of the talk itself gets an answer that fits, and nothing embarrassing comes back."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from house import House

from bedside.core.ids import ActorId
from bedside.flows.companion.beginning import tells, willing
from bedside.flows.companion.gates import confirms_heard
from bedside.flows.companion.hearing import feels_missed
from bedside.flows.companion.mirror import to_other
from bedside.flows.companion.observers import facts_by_rule
from bedside.flows.companion.people import people_by_rule
from bedside.flows.companion.reading import read
from bedside.flows.companion.state import Mine, Pair, Shared
from bedside.flows.companion.tables import tables_of
from bedside.flows.companion.tags import TagDecoder
from bedside.flows.companion.talk import Voice
from bedside.flows.companion.wishes import asks_to_drop, meant
from bedside.grounding.leaks import active_content
from bedside.memory.facts import Own
from bedside.wiring.companion import send, talk

WORDS = tables_of(None).words
THOUGHT = "<thinking>\nMode: WITNESS\nStrategy: zebra\n</thinking>\n"


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("I want her back.", "I want you back."),
        ("I need him home by six.", "I need you home by six."),
        ("I miss her home cooking.", "I miss your home cooking."),
        ("I need her to trust me.", "I need you to trust me."),
        ("Her back hurts at night.", "Your back hurts at night."),
    ],
)
def test_her_behind_a_verb_of_wanting_is_no_possessive(text, turned):
    assert to_other(text, "ines") == turned


@pytest.mark.parametrize(
    "text", ["Sí.", "Oui, d'accord", "Ja, gerne", "Evet.", "हाँ", "نعم", "はい"]
)
def test_a_yes_in_another_language_is_a_yes(text):
    assert read(text, WORDS).yes


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    "text",
    [
        "Da never listened to me and I am tired of it.",
        "Si always shouts at me.",
        "Ja, aber nicht ganz.",
        "Oui, mais pas tout",
        "Claro, pero falta algo",
        "Ja?",
    ],
)
def test_a_name_or_a_reserve_behind_a_foreign_yes_confirms_nothing(text):
    assert not read(text, WORDS).yes


@pytest.mark.parametrize("text", ["Claro que sí", "Ja das stimmt", "Sí eso es", "Oui merci"])
def test_a_foreign_yes_may_say_a_little_more(text):
    assert read(text, WORDS).yes


@pytest.mark.parametrize("text", ["Non merci", "Nein.", "Hayır", "नहीं", "لا"])
def test_a_no_in_another_language_is_a_no(text):
    said = read(text, WORDS)
    assert (said.yes, said.no) == (False, True)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", ["I'm ok, I was only tired.", "It's okay, he is asleep."])
def test_how_somebody_is_confirms_nothing(text):
    assert not read(text, WORDS).yes


def test_what_the_other_is_called_is_no_feeling_of_theirs():
    assert read("She is a worthless cook.", WORDS, of_other=True).theirs == ()
    assert read("She feels worthless.", WORDS, of_other=True).theirs == ("useless",)


def test_drinking_too_much_is_no_feeling():
    assert read("He says I drink too much.", WORDS).feelings == ()
    assert read("It is too much for me.", WORDS).feelings == ("overwhelmed",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Look, my mum died in May.", ["my mum"]),
        ("Hello, my sister sent a link.", ["my sister"]),
        ("Priya, my sister, rang.", ["Priya"]),
        ("Priya is my sister.", ["Priya"]),
    ],
)
def test_a_word_that_opens_a_sentence_is_nobodys_name(text, names):
    found = people_by_rule([Own(source="m1", text=text)])
    assert [one.name for one in found] == names


def test_a_wish_to_keep_or_to_forget_is_no_fact():
    for text in ("Remember that I work nights.", "Please forget that I work nights."):
        assert facts_by_rule([Own(source="m1", text=text)]).upsert == ()
    assert facts_by_rule([Own(source="m1", text="I work nights at the dock.")]).upsert


def test_a_wish_to_forget_finds_the_line_it_means_or_none():
    lines = [("a", "I work nights at the bakery."), ("b", "My knee is bad."), ("c", "I work days.")]
    assert meant(asks_to_drop("Please forget that I work nights"), lines) == "a"
    assert meant(asks_to_drop("Forget my knee"), lines) == "b"
    assert meant(asks_to_drop("Forget what I said about work"), lines) == ""
    assert asks_to_drop("Forget it.") == ""


def test_a_message_that_names_how_one_came_here_tells_nothing_yet():
    assert not tells(read("My doctor sent me a link to this thing today", WORDS), "ines")
    assert willing("Fine, I'll give it a go.")
    assert willing("Sure, why not.")
    assert feels_missed("You're just repeating what I say.")


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"answer": "You sound tired."}', "You sound tired."),
        ('\n{"strategy": "zebra", "reply": "You sound tired."}', "You sound tired."),
        ('```json\n{"message": "You sound tired."}\n```', "You sound tired."),
        ('{"strategy": "zebra"}', ""),
        ('{"strategy": "zebra"', ""),
        ("You {sound} tired.", "You {sound} tired."),
    ],
)
def test_json_behind_the_tags_shows_what_it_says_and_nothing_else(body, shown):
    for size in (1, 3, 7, 400):
        decoder, text = TagDecoder(), THOUGHT + body
        streamed = "".join(
            str(piece)
            for at in range(0, len(text), size)
            for piece in decoder.feed(text[at : at + size])
        )
        whole = decoder.finish().text
        assert whole.strip() == shown
        assert whole.startswith(streamed)


STORY = (
    # (who says what, what the answer holds, what it does not)
    ("anna", "Is dialysis safe with her warfarin?", "doctor", "no answer"),
    ("anna", "Is there anything from ben?", "nothing from ben", "no answer"),
    ("anna", "Has ben joined?", "not written here yet", "no answer"),
    ("anna", "Just tell him that I miss him.", "carry no messages", "You put it"),
    ("anna", "Write me a poem about it.", "cannot do here", "You put it"),
    ("anna", "What do you know about me?", "your page", "no answer"),
    ("ben", "No thanks, I don't want to do this.", "nobody is obliged", "Are you willing"),
    ("anna", "Has he joined?", "ben takes part", "no answer"),
)


def test_questions_of_the_talk_itself_are_answered(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            await house.says("anna", invite="ben")
            await house.says("anna", "Yes, let us begin.")
            told = [(await house.says(who, text))["answer"] for who, text, *_ in STORY]
            who = replace(house.engine.local(), actor=ActorId("cleo"))
            given = talk(who, text="Hello", session="s2", side="meditation")
            aside = await send(house.engine, given, who)
            return told, aside, await house.says("cleo", "Hello again", session="s2")
        finally:
            await house.engine.close()

    told, aside, first = anyio.run(go)
    for answer, (_, text, holds, lacks) in zip(told, STORY, strict=True):
        assert holds in answer, (text, answer)
        assert lacks not in answer, (text, answer)
    # A side flow that is asked for by name comes before anything has begun, and is no turn of it.
    assert "breath" in aside["answer"]
    assert first["answer"].startswith("Welcome.")


def test_what_a_person_wrote_with_markup_is_given_back_without_it():
    voice = Voice(tables_of(None), Pair(shared=Shared(), mine=Mine()), "ana")
    assert voice.clause("I wrote <i>my own words</i> to her.") == "you wrote your own words to her"


def test_markup_in_what_is_filled_in_is_drawn_and_not_live():
    text = "You felt <i>left alone</i>, <img src=x onerror=y> 3 < 4 {other} &lt;a"
    said = Voice(tables_of(None), Pair(shared=Shared(), mine=Mine()), "ana").say(
        "So: {text}", text=text
    )
    assert said == "So: You felt ‹i›left alone‹/i›, ‹img src=x onerror=y› 3 < 4 {other} ‹a"
    assert not active_content(said)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Yes, that is right.", True),
        ("Yes. Let's go on.", False),
        ("Sure, next.", False),
        ("Let's go on to the next thing.", False),
        ("Yes, whatever.", False),
        ("I do it all.", False),
        ("I agree with nobody.", False),
        ("Da never listened to me.", False),
        ("Ja, aber nicht ganz.", False),
    ],
)
def test_a_wish_to_get_on_is_no_confirmation_of_being_heard(text, opens):
    stage = tables_of(None).stages[1]
    state = Pair(shared=Shared(), mine=Mine(stage=1, since=9, asked="heard"))
    assert confirms_heard(state, read(text, WORDS), stage) is opens
