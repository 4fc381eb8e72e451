"""With a model on a real socket: what goes to it, what comes through, and what it cannot do."""

from __future__ import annotations

import json
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
    assert len({text for text in systems if start in text}) == 1


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


@pytest.mark.requirement("CM-18")
def test_the_first_message_is_the_models_and_the_fixed_text_without_one(tmp_path):
    def script(asked: Received) -> Said:
        if "First message. Nothing has been said yet" in asked.text:
            return Said(text=TAGS.format(mode="ONBOARDING") + "Good that you came. Shall we begin?")
        return Said(text="{}" if "JSON object" in asked.text else "")

    async def story(house):
        first = await house.says("anna", "Hello")
        await house.says("anna", invite="ben")
        return first, await house.says("ben", "Hello there")

    (first, guest), asked = told(tmp_path, script, story)
    assert first["answer"].startswith("Good that you came. Shall we begin?")
    assert first["templated"] is False
    assert first["dispatch"] is None
    assert "Good that you came." in guest["answer"]
    firsts = [one for one in asked if "First message. Nothing" in one.text]
    assert "They open a new conversation." in firsts[0].text
    assert "They were invited by anna." in firsts[1].text
    assert {one.body["model"] for one in firsts} == {"small"}
    assert {one.body["max_tokens"] for one in firsts} == {1_024}


@pytest.mark.requirement("EN-M6")
@pytest.mark.requirement("CM-18")
@pytest.mark.parametrize("name", ["inner_work", "gratitude"])
def test_a_side_flow_goes_to_its_declared_role_with_its_declared_size(tmp_path, name):
    """Gratitude is small work although the router would ask the large model; inner work is large."""
    role = {"inner_work": ("large", 2_048), "gratitude": ("small", 2_048)}[name]

    async def story(house):
        await house.says("anna", invite="ben")
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("ben", "Hello")
        words = {"inner_work": "This is just for me.", "gratitude": "Something to be grateful for?"}
        return await house.says("anna", words[name] + " I HATE it, I am furious, he NEVER asks!!")

    turn, asked = told(tmp_path, says(TAGS.format(mode="REPAIR") + "I hear you."), story)
    reply = next(one for one in asked if "just for me" in one.last or "grateful for" in one.last)
    assert (turn["calls"][0]["model"], reply.body["max_tokens"]) == role
    assert turn["router"]["role"] == ("writer" if role[0] == "large" else "mechanic")


@pytest.mark.requirement("CM-18")
def test_the_small_model_validates_and_formats_what_is_to_be_kept(tmp_path):
    def script(asked: Received) -> Said:
        if "Memory validator." in asked.text:
            good = "night" in asked.text
            why = "" if good else "about somebody else"
            return Said(text=json.dumps({"valid": good, "kind": "fact", "quote": "", "why": why}))
        if "Memory formatter." in asked.text:
            return Said(text='{"line": "Works nights since March.", "quote": "I work nights"}')
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=TAGS.format(mode="WITNESS") + "I hear you.")

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        kept = await house.says("anna", "Remember that I work nights since March.")
        refused = await house.says("anna", "Remember that I own a boat on the lake.")
        deed = await house.says("anna", prefer="never mention Ben at night")
        mixed = await house.says("anna", "I am tired. Remember that I work every second night.")
        return kept, refused, deed, mixed

    (kept, refused, deed, mixed), asked = told(tmp_path, script, story)
    assert kept["answer"] == "I will keep that in mind: Works nights since March."
    assert kept["kept"]["quote"] == "I work nights since March"
    assert refused["kept"]["refused"] == "doubt"
    assert "not sure" in refused["answer"]
    assert deed["deed"]["outcome"] == "done"
    assert mixed["answer"].startswith("I hear you.")
    assert "I will keep that in mind" in mixed["answer"]
    assert not any("valid" in turn["answer"] for turn in (kept, refused, deed, mixed))
    assert len([one for one in asked if "Memory validator." in one.text]) == 4
    assert len([one for one in asked if "Memory formatter." in one.text]) == 3
    assert {one.body["model"] for one in asked if "Memory validator." in one.text} == {"small"}


@pytest.mark.requirement("CM-18")
@pytest.mark.requirement("CM-11")
def test_a_person_that_the_model_invents_is_refused_and_nobody_elses_words_are_read(tmp_path):
    def script(asked: Received) -> Said:
        if "People extractor." in asked.text:
            people = [
                {"name": "Priya", "relation": "sister", "quote": "My sister Priya moved in"},
                {"name": "Tom", "relation": "neighbour", "quote": "Tom from next door"},
                {"name": "Carla", "relation": "", "quote": "I told Carla everything"},
            ]
            return Said(text=json.dumps({"people": people}))
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=TAGS.format(mode="WITNESS") + "Is that Priya, your sister?")

    async def story(house):
        await house.says("anna", invite="ben")
        for person in ("anna", "ben"):
            await house.says(person, "Hello")
            await house.says(person, "Yes")
        await house.says("ben", "I told Carla everything about the blue letter.")
        await house.says("anna", "My sister Priya moved in with us.")
        who = replace(house.engine.local(), actor=ActorId("anna"))
        return await overview(house.engine, who, SESSION)

    seen, asked = told(tmp_path, script, story)
    assert [(one["name"], one["relation"]) for one in seen["people"]] == [("Priya", "sister")]
    extractors = [one for one in asked if "People extractor." in one.text]
    assert len(extractors) == 2
    assert "blue letter" not in extractors[-1].text
    assert "Is that Priya" not in extractors[-1].text  # the guide's own words are none of theirs
    assert all(one.body["max_tokens"] == 1_024 for one in extractors)


@pytest.mark.requirement("CM-18")
def test_the_router_before_a_session_answers_and_the_welcome_comes_after(tmp_path):
    async def story(house):
        way = await house.says("anna", "Where do I start? Maybe something just for me.")
        return way, await house.says("anna", "Hello")

    def script(asked: Received) -> Said:
        if "Chat router." in asked.text:
            body = "<dispatch>INNER_WORK</dispatch>A space for yourself sounds right."
            return Said(text=TAGS.format(mode="DISPATCH") + body)
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=TAGS.format(mode="ONBOARDING") + "Welcome.")

    (way, first), _ = told(tmp_path, script, story)
    assert way["dispatch"] == "INNER_WORK"
    assert way["answer"] == "A space for yourself sounds right."
    assert first["answer"].startswith("Welcome.")


@pytest.mark.requirement("CM-16")
def test_a_thinking_budget_goes_to_the_large_model_that_takes_one(tmp_path):
    reply = TAGS.format(mode="WITNESS") + "I hear you."

    async def go():
        with FakeProvider(says(reply)) as provider:
            environ = {
                "BEDSIDE_WRITER": "anthropic:claude-sonnet-4-6",
                "BEDSIDE_MECHANIC": "anthropic:claude-haiku-5-5",
                "ANTHROPIC_BASE_URL": provider.address("anthropic"),
                "ANTHROPIC_API_KEY": "k",
                "BEDSIDE_THINKING_TOKENS": "2000",
            }
            house = House(tmp_path, **environ)
            try:
                await house.says("anna", "Hello")
                await house.says("anna", "Yes")
                await house.says(
                    "anna", "I HATE this, I am furious!! It is still that thing again."
                )
            finally:
                await house.engine.close()
            return [one.body for one in provider.requests]

    bodies = anyio.run(go)
    large = [one for one in bodies if one["model"] == "claude-sonnet-4-6"]
    assert large
    for one in large:
        assert one["thinking"] == {"type": "enabled", "budget_tokens": 2_000}
        assert one["max_tokens"] == 4_048
        assert "temperature" not in one
    small = [one for one in bodies if one["model"] != "claude-sonnet-4-6"]
    assert small
    assert all(one["thinking"] == {"type": "disabled"} for one in small)
