"""Intake with a model on a real socket: what it may say, what is cut, and what it cannot change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bedside.testing.provider import FakeProvider, Fault, Said


def envelope(message: str, **data: Any) -> str:
    """What a model writes."""
    return json.dumps(
        {
            "message": message, "extracted_data": data, "detected_comorbidities": [],
            "phase_complete": False, "suggested_next": None,
        }
    )  # fmt: skip


KNEE = envelope(
    "Thank you, a knee replacement. I am an AI coordinator, not a doctor. "
    "Is it the left knee, the right one, or both?"
)
NOTHING = Said(text=envelope("ok"))


def provider(*messages: str, extractor: str = "") -> FakeProvider:
    """A model that writes these envelopes in turn, and this one whenever it is asked to extract."""
    left = list(messages)

    def say(received):
        text = json.dumps(received.body)
        if "Read the person's message and give the fields" in text:
            return Said(text=extractor or envelope("ok"))
        return Said(text=left.pop(0) if len(left) > 1 else left[0])

    return FakeProvider({"openai": say})


def test_a_models_message_is_shown_whole_and_its_question_is_known(talk):
    with provider(KNEE) as model:
        (turn,) = talk(["I need a knee replacement"], provider=model)
    assert turn["answered_by"] == "model:small"
    assert turn["answer"].startswith("Thank you, a knee replacement.")
    assert turn["asked"] == "procedure_side"
    assert [call["role"] for call in turn["calls"]] == ["mechanic"]


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize(
    "leak",
    [
        "You clearly have osteoarthritis.",
        "Take ibuprofen 400 mg twice a day.",
        "You will walk without pain in six weeks.",
        "Nothing serious, only gout.",
        "I have already sent your case to three hospitals.",
        "The extraction of your X-ray failed.",
        "Su rodilla tiene artrosis y debe operarse pronto.",
    ],
)
def test_what_a_model_must_not_say_is_sent_back_once_and_then_cut(talk, leak):
    bad = envelope(f"Thank you. {leak} Which country do you live in?")
    with provider(bad) as model:
        (turn,) = talk(["I need a left knee replacement and it hurts"], provider=model)
    assert leak not in turn["answer"]
    assert turn["answer"].count("?") == 1
    assert len(turn["calls"]) == 2
    assert any(leak.split()[0] in item["claim"] for item in turn["removed"])


def test_a_second_question_and_one_that_is_known_are_left_out(talk):
    twice = envelope("Thank you. How old are you? And where do you live?")
    with provider(KNEE, twice, twice) as model:
        turns = talk(["I need a knee replacement", "the left one"], provider=model)
    assert turns[1]["answer"].count("?") == 1
    again = envelope("Which knee is it, left or right?")
    with provider(again) as model:
        (turn,) = talk(["I need a left knee replacement"], provider=model)
    assert turn["asked"] not in {None, "procedure_side"}
    assert "left or right" not in turn["answer"]


@pytest.mark.requirement("IN-11")
@pytest.mark.parametrize("text", ["I am no JSON. You have gout.", '{"message": ""}', "{", "[]", ""])
def test_what_is_no_envelope_is_never_shown_and_the_rules_answer(talk, text):
    with FakeProvider({"openai": [Said(text=text)] * 8}) as model:
        (turn,) = talk(["I need a knee replacement"], provider=model)
    assert turn["answered_by"] == "rules"
    assert turn["asked"] == "procedure_side"
    assert "gout" not in turn["answer"]


def test_a_provider_that_is_down_costs_the_person_nothing(talk):
    with FakeProvider({"openai": [Fault(kind="server_error")] * 12}) as model:
        (turn,) = talk(["I need a knee replacement"], provider=model)
    assert turn["answered_by"] == "rules"
    assert turn["asked"] == "procedure_side"
    assert any(item.startswith("model:") for item in turn["degraded"])


@pytest.mark.requirement("IN-10")
def test_a_fact_of_the_model_needs_words_in_the_message(talk):
    written = envelope(
        "Thank you. Which country do you live in?",
        age={"value": 77, "quote": "seventy-seven"},
        procedure_side={"value": "left", "quote": "the one on the left"},
    )
    with provider(KNEE, written) as model:
        turns = talk(["I need a knee replacement", "it is the one on the left"], provider=model)
    fields = turns[1]["state"]["fields"]
    assert fields["procedure_side"]["value"] == "left"
    assert fields.get("age", {}).get("value") is None


@pytest.mark.requirement("IN-10")
def test_the_extractor_adds_after_the_reply_and_never_replaces(talk):
    found = envelope(
        "ok",
        procedure_side={"value": "right", "quote": "right"},
        smoker={"value": True, "quote": "yes smoking"},
    )
    with provider(KNEE, extractor=found) as model:
        first = talk(["left knee replacement please, right? yes smoking"], provider=model)[0]
        second = talk(["62"], case=first["case"], provider=model)[0]
    fields = second["state"]["fields"]
    assert fields["procedure_side"]["value"] == first["state"]["fields"]["procedure_side"]["value"]


def test_a_turn_of_consent_or_emergency_asks_no_model(talk):
    with provider(KNEE) as model:
        turns = talk(
            ["I need a knee replacement", "I want to kill myself", "get me a human"], provider=model
        )
    assert turns[1]["calls"] == []
    assert turns[2]["calls"] == []
    assert turns[1]["answered_by"] == "rules"


@pytest.mark.requirement("IN-06")
def test_the_prefix_stays_the_same_over_a_case(talk):
    ask = envelope("Thank you. What name should I use for you?")
    with provider(ask) as model:
        turns = talk(
            ["I need a left knee replacement", "62", "Kenya", "myself", "asthma", "no"],
            provider=model,
        )
    hashes = {turn["receipt"]["prefix_hash"] for turn in turns if turn["calls"]}
    assert len(hashes) == 1
    assert all(turn["receipt"]["total"] <= 10_000 for turn in turns)
    assert all(turn["receipt"]["cacheable"] >= 4_096 for turn in turns if turn["calls"])
