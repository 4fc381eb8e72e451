"""RELIABILITY 10 and 11: every fault of a provider, over the official SDKs, on a real socket.

The numbers in the tables are the policy as written down, not what the code gives.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from bedside.core.turn import NoModel
from bedside.testing.provider import Asked, FakeProvider, Fault, Said, closed_port
from bedside.testing.provider_kit import (
    PROTOCOLS,
    QUICK,
    STEADY,
    ask,
    config_for,
    ended_of,
    text_of,
)
from bedside.testing.provider_wire import events as wire_events

ANSWER = Said(text="The backup answers.", input=50, output=4)


def backup_of(name: str) -> str:
    return "openai" if name == "anthropic" else "anthropic"


GRACE = 3.0  # seconds for a machine that does other things too
# fault, calls that the provider gets, outcome of each of them, seconds it may take at most.
# QUICK: a call may take 1.5 s to its first content; waits between calls are 5-20 ms.
TABLE: list[tuple[str, Fault, int, str, float]] = [
    ("429 with Retry-After", Fault(kind="rate_limited", retry_after=0.05), 3, "rate_limited_429", 1.5),
    ("429 with a long Retry-After", Fault(kind="rate_limited", retry_after=60), 1, "rate_limited_429", 1.0),
    ("429 without Retry-After", Fault(kind="rate_limited_bare"), 1, "rate_limited_429", 1.0),
    ("529", Fault(kind="overloaded"), 3, "overloaded_529", 1.5),
    ("500", Fault(kind="server_error"), 3, "server_error_500", 1.5),
    ("reset", Fault(kind="reset"), 3, "reset", 1.5),
    ("silence", Fault(kind="silence"), 1, "timeout", 3.0),
    ("silence in the stream", Fault(kind="silence", after=1), 1, "timeout", 3.0),
    ("cut before content", Fault(kind="cut", after=1), 3, "cut", 1.5),
    ("error inside a 200 stream", Fault(kind="error_in_stream", after=1), 3, "overloaded", 1.5),
    ("malformed JSON", Fault(kind="malformed", after=1), 2, "malformed", 1.5),
    ("empty", Fault(kind="empty"), 2, "empty", 1.5),
    ("wrong schema", Fault(kind="wrong_schema", after=1), 2, "malformed", 1.5),
    ("one byte a second", Fault(kind="drip", seconds=1.0), 1, "timeout", 3.0),
    ("50 MB", Fault(kind="huge", after=1), 1, "too_large", 3.0),
    ("400", Fault(kind="status", status=400), 1, "bad_request_400", 1.0),
    ("401", Fault(kind="status", status=401), 1, "auth_401", 1.0),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Import the SDKs once, so that no measured test pays for it."""
    import anthropic  # noqa: F401
    import boto3  # noqa: F401
    import openai  # noqa: F401

    with FakeProvider([Said(text="warm")]) as provider:
        for name in PROTOCOLS:
            ask(config_for(provider, name))


@pytest.mark.requirement("RELIABILITY-10")
@pytest.mark.timing
@pytest.mark.requirement("EN-M2")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(
    ("fault", "calls", "outcome", "seconds"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_each_fault_costs_its_calls_and_the_next_provider_answers(
    fake: Any, name: str, fault: Fault, calls: int, outcome: str, seconds: float
) -> None:
    backup = backup_of(name)
    provider = fake({name: [fault], backup: [ANSWER]})
    begun = time.monotonic()
    policy = QUICK if outcome == "timeout" else STEADY
    events = ask(config_for(provider, name, backup, policy=policy))
    took = time.monotonic() - begun

    assert len(provider.of(name)) == calls
    assert len(provider.of(backup)) == 1
    assert text_of(events) == "The backup answers."
    ended = ended_of(events)
    assert [each.provider for each in ended] == [name] * calls + [backup]
    assert all(each.outcome.startswith(outcome) for each in ended[:-1]), ended
    assert (ended[-1].outcome, ended[-1].cut) == ("ok", False)
    assert dict(ended[-1].usage) == {
        "input": 50, "output": 4, "cache_read": None, "cache_write": None,
    }  # fmt: skip
    assert took < seconds + GRACE


@pytest.mark.requirement("RELIABILITY-10")
@pytest.mark.timing
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_refused_connection_is_tried_three_times_and_the_next_provider_answers(
    fake: Any, name: str
) -> None:
    backup = backup_of(name)
    provider = fake([ANSWER])
    nobody = {name: f"http://127.0.0.1:{closed_port()}"}
    events = ask(config_for(provider, name, backup, addresses=nobody))
    assert [(each.provider, each.outcome) for each in ended_of(events)] == [
        *[(name, "refused")] * 3,
        (backup, "ok"),
    ]
    assert len(provider.requests) == 1


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_spent_chain_raises_no_model_with_every_attempt(fake: Any, name: str) -> None:
    provider = fake([Fault(kind="server_error")])
    with pytest.raises(NoModel) as caught:
        ask(config_for(provider, name))
    assert [each.outcome for each in caught.value.calls] == ["server_error_500"] * 3
    assert all(count is None for each in caught.value.calls for count in each.usage.values())
    assert len(provider.requests) == 3


def test_retry_after_is_waited_for_before_the_same_provider_is_asked_again(fake: Any) -> None:
    provider = fake([Fault(kind="rate_limited", retry_after=0.3), ANSWER])
    begun = time.monotonic()
    events = ask(config_for(provider, "anthropic"))
    assert time.monotonic() - begun >= 0.3
    assert [each.outcome for each in ended_of(events)] == ["rate_limited_429", "ok"]


def test_two_models_of_one_provider_share_its_three_calls(fake: Any) -> None:
    from bedside.models.config import ModelsConfig, parse_chain

    provider = fake({"openai": [Fault(kind="overloaded")]})
    config = config_for(provider, "openai")
    config = ModelsConfig(
        writer=parse_chain("openai:one,openai:two"),
        providers=config.providers,
        policy=config.policy,
    )
    with pytest.raises(NoModel):
        ask(config)
    assert len(provider.requests) == 3


def test_the_deadline_ends_the_chain_before_the_next_provider_is_asked(fake: Any) -> None:
    provider = fake({"anthropic": [Fault(kind="silence")], "openai": [ANSWER]})
    begun = time.monotonic()
    with pytest.raises(NoModel) as caught:
        ask(config_for(provider, "anthropic", "openai"), deadline_ms=300)
    assert time.monotonic() - begun < 0.3 + GRACE
    assert "0.3 s" in caught.value.why
    assert provider.of("openai") == []


LONG = Said(
    text="Potassium is 4.1 today and was 3.9 in May.",
    thinking="first",
    tools=(Asked(name="look", arguments={"q": "K"}),),
)


END = {
    "anthropic": b'"message_stop"',
    "openai": b'"finish_reason": "tool_calls"',
    "openrouter": b'"finish_reason": "tool_calls"',
    "bedrock": b"messageStop",
}


def first_content(name: str, events: list[bytes]) -> int:
    """How many wire events stand before the first piece of text, read off the bytes."""
    return next(at for at, event in enumerate(events) if b"Potassium" in event)


@pytest.mark.requirement("RELIABILITY-11")
@pytest.mark.timing
@pytest.mark.requirement("EN-M2")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_cut_at_every_event_fails_over_before_content_and_ends_incomplete_after_it(
    fake: Any, name: str
) -> None:
    """RELIABILITY 11."""
    backup = backup_of(name)
    whole = wire_events(name, LONG, model="m")  # type: ignore[arg-type]
    content = first_content(name, whole)
    assert content > 0
    turn: list[Fault] = []
    provider = fake({name: lambda _: turn[0], backup: [ANSWER]})
    seen_cut = seen_fail_over = 0
    for at in range(len(whole)):
        turn[:] = [Fault(kind="cut", said=LONG, after=at)]
        before = len(provider.of(name)), len(provider.of(backup))
        events = ask(config_for(provider, name, backup), may_call=True)
        ended = ended_of(events)
        asked = len(provider.of(name)) - before[0], len(provider.of(backup)) - before[1]
        if at <= content:
            seen_fail_over += 1
            assert asked == (3, 1), at
            assert text_of(events) == "The backup answers."
            assert ended[-1].cut is False
        else:
            assert asked == (1, 0), (at, whole[at - 1])
            assert LONG.text.startswith(text_of(events))
            if any(END[name] in event for event in whole[:at]):
                continue  # the message had said its end: what is missing is no loss
            seen_cut += 1
            assert (len(ended), ended[-1].cut, ended[-1].outcome) == (1, True, "cut"), at
            assert not any(type(event).__name__ == "ToolCall" for event in events)
    assert seen_cut > 3
    assert seen_fail_over == content + 1


@pytest.mark.parametrize("name", PROTOCOLS)
def test_silence_after_content_ends_as_cut_by_timeout(fake: Any, name: str) -> None:
    said = Said(text="Potassium is 4.1")
    whole = wire_events(name, said, model="m")  # type: ignore[arg-type]
    provider = fake([Fault(kind="silence", said=said, after=first_content(name, whole) + 1)])
    ended = ended_of(ask(config_for(provider, name, policy=QUICK)))
    assert [(each.outcome, each.cut) for each in ended] == [("timeout", True)]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_request_is_repeated_by_an_sdk_of_its_own_accord(fake: Any, name: str) -> None:
    provider = fake([Fault(kind="status", status=400)])
    with pytest.raises(NoModel):
        ask(config_for(provider, name))
    assert len(provider.requests) == 1
