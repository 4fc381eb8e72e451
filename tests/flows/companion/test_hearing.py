"""Being heard: which words confirm it, which do not, and that a confirmation is never given back."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from house import House

from bedside.flows.companion.hearing import feels_heard, feels_missed
from bedside.flows.companion.talk import unlike

CONFIRMS = (
    "Yes, that is right, I feel heard.",
    "Yes exactly, you understood me.",
    "I feel heard.",
    "I do feel heard, thank you.",
    "Yes, you got it.",
    "You got me.",
    "That's exactly it.",
    "Exactly, that is it.",
    "I feel understood now.",
    "You understood me well.",
    "Yes, you have understood me.",
    "You've understood me.",
    "Yes. I feel really heard.",
    "I feel completely heard by you.",
    "I feel that you heard me.",
    "You heard me.",
    "You really heard me, thank you.",
    "I feel like you get it.",
    "Yes, you get it.",
    "You get me.",
    "That is right, and yes I feel understood.",
    "That's right. You understand me.",
    "I think you understand me now.",
    "Yes, I feel listened to.",
    "I finally feel heard.",
    "It feels good to be heard.",
    "I feel truly understood.",
    "That sums it up, I feel heard.",
    "You put it exactly right, yes I feel heard.",
    "I am feeling heard.",
    "I'm feeling understood.",
    "I have been heard, thank you.",
    "Yes, now I feel heard so far.",
    "You understood exactly what I meant.",
    "You've got it exactly.",
    "You have heard me.",
    "You see me. I feel seen and heard.",
    "Yes, you understood that correctly.",
    "I feel so much better understood now.",
    "Thank you for hearing me, I feel heard.",
    "That is exactly how it is, you understood.",
    "I feel heard, yes, all of it.",
    "You got that right.",
    "You captured it.",
    "Nothing is missing, I feel heard.",
)
DOES_NOT = (
    "You have not heard me.",
    "I feel heard by nobody.",
    "I don't feel heard.",
    "I do not feel understood at all.",
    "I never feel heard.",
    "I feel heard by my sister, not by you.",
    "I want to feel heard.",
    "I feel unheard.",
    "Nobody understood me.",
    "You didn't get it.",
    "You got it wrong.",
    "You understood me wrong.",
    "I wish I felt heard.",
    "If I felt heard I would go on.",
    "Do I feel heard? I am not sure.",
    "I hardly feel heard.",
    "I feel barely understood.",
    "My husband never heard me.",
    "She said she understood me.",
    "He told me that he feels heard.",
    "I feel heard, but one thing is missing.",
    "I would feel heard if you stopped asking.",
    "When will I feel heard?",
    "I only want to be heard.",
    "I need to be heard.",
    "You misunderstood me.",
    "You haven't understood me.",
    "I am not feeling heard.",
    "I can't say that I feel heard.",
    "I used to feel heard.",
    "I felt heard once, years ago.",
    "I feel heard by no one.",
    "No one has understood me.",
    "I rarely feel understood.",
    "I feel heard except for the money.",
    "That is not it.",
    "You almost got it.",
    "I doubt that you understood me.",
    "Have you heard me?",
    "I feel less heard than before.",
    "I feel misunderstood.",
    "I feel neither heard nor seen.",
    "He says I feel heard, what a joke.",
    "It is not right, I feel overlooked.",
    "My partner feels heard.",
    "I feel heard by my friends only.",
    "Pretend I feel heard.",
    "Just write that I feel heard so we can skip this.",
)


async def at_witnessing(house: House, person: str) -> None:
    session = f"s-{person}"
    await house.says(person, "Hello", session=session)
    await house.says(person, "Yes, let us begin.", session=session)
    await house.says(person, "He forgot my birthday.", session=session)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", CONFIRMS)
def test_these_words_confirm_being_heard(text):
    assert feels_heard(text)
    assert not feels_missed(text)


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize("text", DOES_NOT)
def test_these_words_do_not_confirm_it(text):
    assert not feels_heard(text)


@pytest.mark.requirement("CM-14")
@pytest.mark.timeout(120)
def test_a_confirmation_after_a_reflection_opens_the_gate_and_its_denial_does_not(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            found = []
            for at, text in enumerate((*CONFIRMS[:6], *DOES_NOT[:10])):
                await at_witnessing(house, f"p{at}")
                found.append(await house.says(f"p{at}", text, session=f"s-p{at}"))
            return found
        finally:
            await house.engine.close()

    found = anyio.run(go)
    assert [turn["stage"] for turn in found] == [2] * 6 + [1] * 10
    assert not [turn["answer"] for turn in found[:6] if "you feel heard" in turn["answer"].lower()]
    denied = found[6]["answer"].lower()
    assert "you say that" not in denied
    assert "what i hear is that" not in denied


@pytest.mark.requirement("CM-14")
def test_a_confirmation_before_anything_was_told_is_neither_taken_nor_given_back(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            await house.says("anna", "Hello")
            await house.says("anna", "Yes, let us begin.")
            return await house.says("anna", "Yes, that is right, I feel heard.")
        finally:
            await house.engine.close()

    turn = anyio.run(go)
    assert turn["stage"] == 1
    assert "heard" not in turn["answer"]
    assert "that is right" not in turn["answer"]


@pytest.mark.timeout(120)
def test_no_reply_comes_twice_in_a_conversation_of_fifty_turns_of_the_same_few_words(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            said = ("I do not know.", "Maybe.", "How does this work?", "I am sad.", "Pause.")
            found = [await house.says("anna", "Hello")]
            found.append(await house.says("anna", "Yes, let us begin."))
            found += [await house.says("anna", said[at % len(said)]) for at in range(50)]
            return [turn["answer"] for turn in found]
        finally:
            await house.engine.close()

    answers = anyio.run(go)
    assert len(set(answers)) == len(answers) == 52


def test_a_text_that_was_said_gets_another_opening_each_time():
    said: list[str] = []
    for _ in range(4):
        said.append(unlike("Shall we begin?", said, ("First.", "Then.")))
    assert said[:3] == ["Shall we begin?", "First. Shall we begin?", "Then. Shall we begin?"]
    assert len(set(said)) == 4
