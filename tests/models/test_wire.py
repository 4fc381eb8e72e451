"""What stands on the wire, read off the bytes that the fake provider received."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bedside.core.context import Item, Message, Opaque, ToolCall, ToolResult
from bedside.core.turn import Need, NoModel, Tool
from bedside.models.config import Link
from bedside.models.images import Image
from bedside.models.profiles import bundled_profiles
from bedside.models.provider import Call
from bedside.models.providers.anthropic.wire import request as anthropic_request
from bedside.models.providers.bedrock.wire import request as bedrock_request
from bedside.models.providers.openai.wire import request as openai_request
from bedside.models.providers.openrouter.wire import request as openrouter_request
from bedside.testing.provider import Asked, Said
from bedside.testing.provider_kit import (
    MODELS,
    PROTOCOLS,
    ask,
    config_for,
    ended_of,
    prompt_of,
    text_of,
)

LOOK = Tool(
    name="look",
    description="Look a value up.",
    schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    need=lambda _: Need(name="look"),
)
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 0}, "note": {"type": "string"}},
    "required": ["age"],
}
WIRES = {
    "anthropic": anthropic_request, "openai": openai_request, "openrouter": openrouter_request,
    "bedrock": bedrock_request,
}  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def message(role: Any, text: str, *, cache: bool = False) -> Message:
    return Message(role=role, parts=(text,), tokens=3, cache_break=cache)


def marks(body: dict[str, Any]) -> list[str]:
    """The texts right before each cache mark, in any of the three protocols."""
    found: list[str] = []

    def walk(node: Any, before: str = "") -> str:
        if isinstance(node, list):
            for each in node:
                before = walk(each, before)
        elif isinstance(node, dict):
            if "cachePoint" in node:
                found.append(before)
            before = node.get("text", before)
            if "cache_control" in node:
                assert node["cache_control"] == {"type": "ephemeral"}
                found.append(node["text"])
            for each in node.values():
                if isinstance(each, (dict, list)):
                    before = walk(each, before)
        return before

    walk([body.get("system") or [], body["messages"]])
    return found


CASE = (
    message("system", "Rules for all.", cache=True),
    message("system", "This patient.", cache=True),
    message("user", "Earlier question"),
    message("assistant", "Earlier answer", cache=True),
    message("user", "Now what?"),
)


@pytest.mark.requirement("EN-M1")
@pytest.mark.requirement("EN-C6")
@pytest.mark.parametrize("name", ["anthropic", "openrouter", "bedrock"])
def test_cache_marks_stand_where_the_assembly_breaks(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.")])
    ask(config_for(provider, name), prompt_of(*CASE))
    assert marks(dict(provider.requests[0].body)) == [
        "Rules for all.",
        "This patient.",
        "Earlier answer",
    ]


def test_no_marks_where_the_provider_caches_by_itself(fake: Any) -> None:
    provider = fake([Said(text="Yes.")])
    ask(config_for(provider, "openai"), prompt_of(*CASE))
    assert marks(dict(provider.requests[0].body)) == []


@pytest.mark.parametrize("name", ["anthropic", "openrouter", "bedrock"])
def test_more_than_four_breaks_keep_the_last_four(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.")])
    many = [message("system", f"part {at}", cache=True) for at in range(6)]
    ask(config_for(provider, name), prompt_of(*many, message("user", "Go")))
    assert marks(dict(provider.requests[0].body)) == [f"part {at}" for at in range(2, 6)]


@pytest.mark.requirement("EN-C6")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_longer_conversation_keeps_the_bytes_of_its_prefix(fake: Any, name: Any) -> None:
    """Tools, system and earlier messages serialise to the same bytes in the next call."""
    provider = fake([Said(text="Yes.")])
    config = config_for(provider, name)
    more = (*CASE, message("assistant", "Then this."), message("user", "And now?"))
    ask(config, prompt_of(*CASE), tools=[LOOK], may_call=True)
    ask(config, prompt_of(*more), tools=[LOOK], may_call=True)
    first, second = (each.body for each in provider.requests)
    assert json.dumps(first.get("system")) == json.dumps(second.get("system"))
    assert json.dumps(first.get("tools") or first["toolConfig"]) == json.dumps(
        second.get("tools") or second["toolConfig"]
    )
    count = len(first["messages"])
    assert json.dumps(second["messages"][:count]) == json.dumps(first["messages"])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_same_prompt_gives_the_same_bytes(fake: Any, name: Any) -> None:
    """EN-T3 down to the socket."""
    provider = fake([Said(text="Yes.")])
    for _ in range(2):
        ask(config_for(provider, name), prompt_of(*CASE), tools=[LOOK], schema=SCHEMA)
    assert provider.requests[0].raw == provider.requests[1].raw


def loop(name: str, *, thought_of: str) -> Any:
    spec = f"{thought_of}:{MODELS[thought_of]}"
    thoughts = {
        "anthropic": {"type": "thinking", "thinking": "so", "signature": "sig"},
        "openai": [{"type": "reasoning.text", "text": "so"}],
        "openrouter": [{"type": "reasoning.text", "text": "so"}],
        "bedrock": {"text": "so", "signature": "sig"},
    }
    return prompt_of(
        *CASE,
        Message(
            role="assistant",
            parts=(
                "I look.",
                ToolCall(id="t1", name="look", arguments='{"q": "K"}'),
                ToolCall(id="t2", name="look", arguments='{"q": "Na"}'),
                Opaque(provider=spec, data=json.dumps(thoughts[name]).encode()),
            ),
            tokens=9,
        ),
        Message(
            role="user",
            parts=(
                ToolResult(id="t1", items=(Item('<source n="1">\n4.1\n</source>\n'),)),
                ToolResult(id="t2", error="not ready"),
            ),
            tokens=9,
        ),
    )


@pytest.mark.requirement("EN-M1")
def test_a_tool_round_stands_on_the_anthropic_wire(fake: Any) -> None:
    provider = fake([Said(text="Yes.")])
    ask(config_for(provider, "anthropic"), loop("anthropic", thought_of="anthropic"), tools=[LOOK])
    body = provider.requests[0].body
    assert body["messages"][-2:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "so", "signature": "sig"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "K"}},
                {"type": "tool_use", "id": "t2", "name": "look", "input": {"q": "Na"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": '<source n="1">\n4.1\n</source>\n',
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": "not ready",
                    "is_error": True,
                },
            ],
        },
    ]
    assert body["tools"] == [
        {"name": "look", "description": "Look a value up.", "input_schema": dict(LOOK.schema)}
    ]
    assert body["tool_choice"] == {"type": "none"}  # schemas stay, calling is barred


@pytest.mark.requirement("EN-M1")
def test_a_tool_round_stands_on_the_openai_wire(fake: Any) -> None:
    provider = fake([Said(text="Yes.")])
    ask(
        config_for(provider, "openrouter"),
        loop("openrouter", thought_of="openrouter"),
        tools=[LOOK],
        may_call=True,
    )
    body = provider.requests[0].body
    call = {"type": "function", "function": {"name": "look", "arguments": '{"q": "K"}'}}
    other = {"type": "function", "function": {"name": "look", "arguments": '{"q": "Na"}'}}
    assert body["messages"][-3:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "t1", **call}, {"id": "t2", **other}],
            "reasoning_details": [{"type": "reasoning.text", "text": "so"}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": '<source n="1">\n4.1\n</source>\n'},
        {"role": "tool", "tool_call_id": "t2", "content": "not ready"},
    ]
    assert body["tool_choice"] == "auto"
    assert body["provider"] == {"data_collection": "deny", "require_parameters": True}


@pytest.mark.requirement("EN-M1")
def test_a_tool_round_stands_on_the_bedrock_wire(fake: Any) -> None:
    provider = fake([Said(text="Yes.")])
    ask(config_for(provider, "bedrock"), loop("bedrock", thought_of="bedrock"), tools=[LOOK])
    body = provider.requests[0].body
    assert body["messages"][-2]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "so", "signature": "sig"}}},
        {"text": "I look."},
        {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"q": "K"}}},
        {"toolUse": {"toolUseId": "t2", "name": "look", "input": {"q": "Na"}}},
    ]
    assert body["messages"][-1]["content"] == [
        {
            "toolResult": {
                "toolUseId": "t1",
                "content": [{"text": '<source n="1">\n4.1\n</source>\n'}],
            }
        },
        {"toolResult": {"toolUseId": "t2", "content": [{"text": "not ready"}], "status": "error"}},
    ]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_opaque_parts_go_to_the_model_that_wrote_them_and_to_no_other(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.")])
    other = "openai" if name != "openai" else "anthropic"
    ask(config_for(provider, name), loop(name, thought_of=other), tools=[LOOK])
    ask(config_for(provider, name), loop(name, thought_of=name), tools=[LOOK])
    without, with_ = (each.raw.decode() for each in provider.requests)
    assert '"so"' not in without
    assert '"so"' in with_


@pytest.mark.parametrize("name", PROTOCOLS)
def test_thinking_is_not_shown_and_comes_back_as_an_opaque_part(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.", thinking="private thought")])
    events = ask(config_for(provider, name))
    assert text_of(events) == "Yes."
    (ended,) = ended_of(events)
    assert [part.provider for part in ended.opaque] == [f"{name}:{MODELS[name]}"]
    assert b"private thought" in ended.opaque[0].data


@pytest.mark.requirement("EN-M1")
def test_a_schema_is_asked_for_in_each_providers_own_way(fake: Any) -> None:
    provider = fake([Said(text='{"age": 4}')])
    for name in PROTOCOLS:
        ask(config_for(provider, name), schema=SCHEMA)
    anthropic, openai, openrouter, bedrock = (each.body for each in provider.requests)
    closed = {
        "type": "object",
        "properties": {"age": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["age"],
        "additionalProperties": False,
    }
    assert anthropic["output_config"] == {"format": {"type": "json_schema", "schema": closed}}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert openai["response_format"] == openrouter["response_format"] == form
    told = bedrock["outputConfig"]["textFormat"]
    assert json.loads(told["structure"]["jsonSchema"]["schema"]) == closed


def test_a_strict_schema_is_marked_strict(fake: Any) -> None:
    provider = fake([Said(text='{"age": 4}')])
    strict = {
        "type": "object",
        "properties": {"age": {"type": "integer"}},
        "required": ["age"],
        "additionalProperties": False,
    }
    ask(config_for(provider, "openai"), schema=strict)
    assert provider.requests[0].body["response_format"]["json_schema"]["strict"] is True


def test_a_model_without_schemas_is_told_in_words(fake: Any) -> None:
    provider = fake([Said(text='{"age": 4}')])
    models = {"bedrock": "meta.llama3-8b-instruct-v1:0", "openrouter": "some/model"}
    for name in ("bedrock", "openrouter"):
        ask(config_for(provider, name, models=models), schema=SCHEMA)
    bedrock, openrouter = provider.requests
    assert '"minimum": 0' in bedrock.last
    assert "outputConfig" not in bedrock.body
    assert '"minimum": 0' in openrouter.last
    assert openrouter.body["response_format"] == {"type": "json_object"}


def test_temperature_is_zero_where_the_model_takes_one(fake: Any) -> None:
    """CO-07, G10. Newer models refuse the field: there it must be absent."""
    provider = fake([Said(text="Yes.")])
    for name in PROTOCOLS:
        ask(config_for(provider, name))
    ask(config_for(provider, "anthropic", models={"anthropic": "claude-sonnet-5-5"}))
    older, openai, openrouter, bedrock, newer = provider.requests
    assert older.body["temperature"] == openai.body["temperature"] == 0
    assert openrouter.body["temperature"] == 0
    assert bedrock.body["inferenceConfig"]["temperature"] == 0
    assert older.headers["anthropic-version"] == "2023-06-01"
    assert "temperature" not in newer.body
    assert newer.headers["anthropic-version"] != "2023-06-01"
    assert newer.body["thinking"] == {"type": "between_tools"}


@pytest.mark.requirement("EN-M1")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_image_goes_with_the_last_user_message(fake: Any, name: Any) -> None:
    provider = fake([Said(text="A picture.")])
    ask(config_for(provider, name), images=[Image.of(PNG)])
    content = json.dumps(provider.requests[0].body["messages"][-1]["content"])
    assert "iVBORw0KGgo" in content  # the PNG signature in base64
    assert "potassium" in content


def test_a_model_that_cannot_see_is_not_sent_images(fake: Any) -> None:
    provider = fake([Said(text="A picture.")])
    with pytest.raises(NoModel):
        ask(config_for(provider, "openai", models={"openai": "llama3:8b"}), images=[Image.of(PNG)])
    assert provider.requests == []


@pytest.mark.parametrize("name", PROTOCOLS)
def test_usage_counts_the_whole_prompt_with_its_cached_parts(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.", input=1000, output=7, cache_read=600, cache_write=300)])
    (ended,) = ended_of(ask(config_for(provider, name)))
    assert dict(ended.usage) == {
        "input": 1000, "output": 7, "cache_read": 600, "cache_write": 300,
    }  # fmt: skip


@pytest.mark.parametrize("name", PROTOCOLS)
def test_usage_that_was_not_reported_is_unknown(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.", input=None, output=None)])
    (ended,) = ended_of(ask(config_for(provider, name)))
    assert set(ended.usage.values()) == {None}
    assert ended.cost_usd is None


STOPS = {
    "anthropic": "max_tokens",
    "openai": "length",
    "openrouter": "length",
    "bedrock": "max_tokens",
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_answer_that_reached_its_length_is_cut_and_runs_no_tool(fake: Any, name: Any) -> None:
    tools = (Asked(name="look", arguments='{"q": "K'),)
    provider = fake([Said(text="Half of", tools=tools, stop=STOPS[name])])
    events = ask(config_for(provider, name), tools=[LOOK], may_call=True)
    assert [type(event).__name__ for event in events] == ["Delta", "Delta", "Ended"]
    assert (events[-1].outcome, events[-1].cut) == ("length", True)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("written", ['["K"]', '{"q": "K', "metformin", "[" * 3_000])
def test_arguments_that_are_no_json_object_come_as_written_to_be_answered(
    fake: Any, name: Any, written: str
) -> None:
    provider = fake([Said(tools=(Asked(name="look", arguments=written),))])
    events = ask(config_for(provider, name), tools=[LOOK], may_call=True)
    assert [e.arguments for e in events if isinstance(e, ToolCall)] == [written]
    assert len(provider.requests) == 1


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_barred_call_in_the_place_of_an_answer_comes_through_to_be_refused(
    fake: Any, name: Any
) -> None:
    provider = fake([Said(tools=(Asked(name="look", arguments="{}"),))])
    events = ask(config_for(provider, name), tools=[LOOK], may_call=False)
    assert [type(event).__name__ for event in events] == ["ToolCall", "Ended"]
    assert len(provider.requests) == 1


REFUSALS = {
    "anthropic": "refusal",
    "openai": "content_filter",
    "openrouter": "content_filter",
    "bedrock": "content_filtered",
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_refusal_without_text_goes_to_the_next_and_is_recorded(fake: Any, name: Any) -> None:
    provider = fake([Said(stop=REFUSALS[name])])
    with pytest.raises(NoModel) as caught:
        ask(config_for(provider, name))
    assert [call.outcome for call in caught.value.calls] == ["refusal"]


def test_the_key_stands_in_no_repr() -> None:
    from bedside.models.config import EgressConfig, ProviderConfig

    config = ProviderConfig(key="sk-1", access_key="AK", secret_key="SK", session_token="ST")
    shown = repr(config) + repr(EgressConfig(secret=b"salt"))
    assert not any(word in shown for word in ("sk-1", "AK", "SK", "ST", "salt"))


@pytest.mark.requirement("CM-16")
@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("anthropic:claude-haiku-4-5", 3_000),
        ("anthropic:claude-opus-5-5", None),
        ("openrouter:anthropic/claude-sonnet-4.5", 3_000),
        ("openrouter:openai/gpt-5", None),
        ("openai:anything", None),
        ("bedrock:us.anthropic.claude-sonnet-4-5-v1:0", 3_000),
        ("bedrock:amazon.nova-pro-v1:0", None),
    ],
)
def test_a_budget_to_think_goes_to_models_that_take_one_and_lifts_the_limit(spec, found):
    provider, _, model = spec.partition(":")
    link = Link(provider=provider, model=model)
    profile = bundled_profiles().of(link)
    call = Call(link=link, profile=profile, prompt=prompt_of(), output=2_000, thinking=3_000)
    body = WIRES[provider](call)
    text = json.dumps(body)
    budget = next(
        (
            tree.get("budget_tokens") or tree.get("max_tokens")
            for tree in (
                body.get("thinking") or {},
                body.get("reasoning") or {},
                (body.get("additionalModelRequestFields") or {}).get("thinking") or {},
            )
            if tree.get("budget_tokens") or tree.get("max_tokens")
        ),
        None,
    )
    assert budget == found
    limit = 5_000 if found else 2_000
    assert str(limit) in text
    if found:
        assert '"temperature"' not in text
    small = WIRES[provider](replace(call, thinking=10))
    if found:
        assert "1024" in json.dumps(small)
    assert "3000" not in json.dumps(WIRES[provider](replace(call, thinking=0)))
