"""With a model on a real socket: what goes to it, what comes through, and what it cannot do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from house import SESSION, House

from bedside.core.ids import ActorId
from bedside.testing.provider import FakeProvider, Received, Said
from bedside.wiring.companion import overview

TAGS = "<thinking>\nMode: {mode}\nUserIntensity: 6\nFeelHeardCheck: Y\nStrategy: zebra plan\n</thinking>\n"


def model(provider: FakeProvider) -> dict[str, str]:
    return {
        "BEDSIDE_WRITER": "openai:large",
        "BEDSIDE_MECHANIC": "openai:small",
        "OPENAI_BASE_URL": provider.address("openai"),
        "OPENAI_API_KEY": "k",
    }


def says(reply: str, facts: str = "{}"):
    """A model that answers people with `reply` and observers with JSON."""

    def script(asked: Received) -> Said:
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text=facts)
        return Said(text=reply)

    return script


def told(home: Path, script, story):
    async def go():
        with FakeProvider(script) as provider:
            house = House(home, **model(provider))
            try:
                return await story(house), provider.requests
            finally:
                await house.engine.close()

    return anyio.run(go)


@pytest.mark.requirement("CM-02")
@pytest.mark.requirement("CM-15")
def test_only_the_plain_text_of_a_models_answer_reaches_the_person(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "You sound alone with this. What was it like?"

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return await house.says("anna", "I feel alone in the evenings.")

    turn, asked = told(tmp_path, says(reply), story)
    assert turn["answer"] == "You sound alone with this. What was it like?"
    assert turn["intensity"] == 6
    assert turn["answered_by"].startswith("model:")
    assert turn["templated"] is False
    assert turn["activities"][0]["operation"] == "reply"
    assert turn["activities"][0]["tokens"]["input"] == 100
    assert "I feel alone in the evenings." in asked[-1].text or any(
        "I feel alone in the evenings." in one.text for one in asked
    )


@pytest.mark.requirement("CM-14")
def test_a_models_belief_opens_no_gate(tmp_path):
    reply = TAGS.format(mode="NEEDS") + "Let us go on to needs."

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return [
            (await house.says("anna", text))["stage"]
            for text in ("He forgot it.", "Twice.", "And again in May.", "I told him so.")
        ]

    stages, _ = told(tmp_path, says(reply), story)
    assert stages == [1, 1, 1, 1]


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize(
    "reply",
    [
        "<thinking>\nStrategy: zebra plan\nnever closed",
        "",
        "<thinking>zebra</thinking><draft>zebra",
    ],
)
def test_a_broken_answer_gives_the_template_and_no_secret(tmp_path, reply):
    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return await house.says("anna", "I feel alone in the evenings.")

    turn, _ = told(tmp_path, says(reply), story)
    assert turn["answer"].strip()
    assert "zebra" not in turn["answer"]
    assert turn["status"] == "complete"


@pytest.mark.requirement("CM-14")
def test_attacking_words_of_a_model_are_not_shown(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "I hear you. He is a complete idiot. What happened?"

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return await house.says("anna", "He forgot my birthday.")

    turn, _ = told(tmp_path, says(reply), story)
    assert "idiot" not in turn["answer"]
    assert "I hear you." in turn["answer"]


@pytest.mark.requirement("CM-12")
def test_a_models_draft_waits_for_its_author(tmp_path):
    draft = "I imagine that you felt frightened in the ward."
    reply = TAGS.format(mode="PERSPECTIVE") + f"<draft>{draft}</draft>Does this sound like you?"

    async def story(house):
        await house.both_heard()
        turn = await house.says("anna", "He may have had a hard time there.")
        theirs = await house.says("ben", "What now?")
        given = await house.says("anna", share=turn["draft"]["id"])
        return turn, theirs, given, await house.says("ben", "What now?")

    (turn, theirs, given, then), _ = told(tmp_path, says(reply), story)
    assert turn["draft"]["text"] == draft
    assert turn["draft"]["state"] == "drafted"
    assert draft in turn["answer"]
    assert theirs["shares"] == []
    assert given["deed"]["outcome"] == "done"
    assert draft in then["answer"]


@pytest.mark.requirement("CM-18")
def test_a_dispatch_is_answered_and_the_stage_stays(tmp_path):
    def script(asked: Received) -> Said:
        if "Dispatch. The person needs" in asked.text:
            return Said(text="<thinking>\nMode: DISPATCH\n</thinking>We go step by step.")
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        reply = TAGS.format(mode="DISPATCH")
        return Said(text=f"{reply}<dispatch>EXPLAIN_PROCESS</dispatch>Of course.")

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return await house.says("anna", "I wonder where this leads us.")

    turn, _ = told(tmp_path, script, story)
    assert turn["dispatch"] == "EXPLAIN_PROCESS"
    assert turn["answer"] == "Of course.\n\nWe go step by step."
    assert turn["stage"] == 1


@pytest.mark.requirement("CM-07")
@pytest.mark.requirement("EN-Y3")
def test_a_fact_without_the_persons_own_words_is_refused(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "Your brother lives in Leeds. Tell me more."
    facts = (
        '{"upsert": [{"category": "People", "fact": "Has a sister.", "quote": "My sister moved"},'
        ' {"category": "People", "fact": "Brother in Leeds.", "quote": "brother lives in Leeds"}],'
        ' "delete": []}'
    )

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("anna", "My sister moved in with us.")
        return await house.says("anna", "It is loud now.")

    turn, _ = told(tmp_path, says(reply, facts), story)
    assert turn["memory"]["facts"] == 1


@pytest.mark.requirement("CM-09")
def test_the_small_model_is_asked_after_the_answer_and_rests_after_three_failures(tmp_path):
    def script(asked: Received):
        if "Reference detection" in asked.text:
            return Said(text="It may well be so.")
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=TAGS.format(mode="WITNESS") + "I hear you.")

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return [await house.says("anna", f"It was the same thing again, {n}.") for n in range(6)]

    turns, asked = told(tmp_path, script, story)
    assert all(turn["answer"] == "I hear you." for turn in turns)
    detected = [one for one in asked if "Reference detection" in one.text]
    assert 0 < len({one.last for one in detected}) <= 3


@pytest.mark.requirement("CM-13")
def test_the_sum_of_the_router_decides_the_model_and_is_shown(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "I hear you."

    async def story(house):
        await house.says("anna", invite="ben")
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("ben", "Hello")
        calm = await house.says("anna", "He went to the shop for some bread and came back late.")
        return calm, await house.says("anna", "He ALWAYS does this, I HATE it, I am furious!!")

    (calm, hot), _ = told(tmp_path, says(reply), story)
    assert calm["router"]["factors"] == {"mediation": 2}
    assert calm["router"]["role"] == "mechanic"
    assert calm["calls"][0]["model"] == "small"
    assert hot["router"]["factors"] == {"mediation": 2, "intensity": 3}
    assert hot["router"]["score"] == 5
    assert hot["calls"][0]["model"] == "large"


@pytest.mark.requirement("CM-16")
def test_the_beginning_of_the_prompt_stays_the_same_for_the_cache(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "I hear you."

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        return [await house.says("anna", f"He came home late on day {n} again.") for n in range(4)]

    _, asked = told(tmp_path, says(reply), story)
    systems = [
        str(one.body["messages"][0]) for one in asked if "Reply" in one.text or "Mode:" in one.text
    ]
    start = "You are the guide of a structured conversation"
    assert len(systems) > 3
    assert len({text[: text.find("Stage 1")] for text in systems if start in text}) == 1


@pytest.mark.requirement("CM-12")
def test_the_reconciler_reads_approved_texts_alone_and_private_words_are_held_back(tmp_path):
    secret = "the letter that lies in the blue drawer upstairs"
    seen: list[str] = []

    def script(asked: Received) -> Said:
        if asked.text.startswith("Reconciler.") or "You compare two statements" in asked.text:
            seen.append(asked.text)
            # It guesses words that Anna wrote in private: they must not go out.
            return Said(text='{"gaps": ["the letter that lies in the blue drawer"], "stop": false}')
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=TAGS.format(mode="WITNESS") + "I hear you.")

    async def story(house):
        await house.both_heard()
        await house.says("anna", f"I never told him about {secret}.")
        await house.both_received()
        return [await house.says(person, "What now?") for person in ("anna", "ben", "anna", "ben")]

    turns, _ = told(tmp_path, script, story)
    assert len(seen) == 1
    assert "blue drawer" not in seen[0]
    assert "I feel alone" not in seen[0]
    assert "afraid in the ward" in seen[0]
    assert not any("blue drawer" in str(turn) for turn in turns)


@pytest.mark.requirement("CM-18")
def test_a_side_flow_can_be_asked_for_by_name(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "Stay with it."

    async def story(house):
        from dataclasses import replace

        from bedside.core.ids import ActorId
        from bedside.wiring.companion import send, talk

        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        who = replace(house.engine.local(), actor=ActorId("anna"))
        given = talk(who, text="I do not know what I want.", session="s1", side="linked_thoughts")
        return await send(house.engine, given, who)

    turn, asked = told(tmp_path, says(reply), story)
    assert turn["dispatch"] == "linked_thoughts"
    assert turn["stage"] == 1
    assert any("Linked inner thoughts." in one.text for one in asked)


@pytest.mark.requirement("CM-12")
def test_a_models_draft_that_repeats_a_withdrawn_text_goes_from_the_messages(tmp_path):
    given = "I imagine that you felt afraid in the ward at night."
    repeated = "You wrote that I felt afraid in the ward at dawn."
    reply = TAGS.format(mode="PERSPECTIVE") + f"<draft>{repeated}</draft>Is it so?"

    async def story(house):
        await house.both_heard()
        ident = await house.give("anna", given)
        await house.says("ben", "What is there for me?")
        who = replace(house.engine.local(), actor=ActorId("ben"))
        before = (await overview(house.engine, who, SESSION))["messages"]
        await house.says("anna", withdraw=ident)
        return before, (await overview(house.engine, who, SESSION))["messages"]

    (before, after), _ = told(tmp_path, says(reply), story)
    assert any(repeated in one["text"] for one in before)
    assert not any("felt afraid in the ward" in one["text"] for one in after)
