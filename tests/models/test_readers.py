"""Readers are total: whatever JSON a provider sends, a `Failure` is all that can come of it."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bedside.core.context import ToolCall
from bedside.core.errors import InvalidArgument
from bedside.models.build import build_providers, profile_of
from bedside.models.config import Link, ModelsConfig, ProviderConfig
from bedside.models.failure import Failure
from bedside.models.images import Image
from bedside.models.provider import Reply
from bedside.models.providers.anthropic.wire import EventReader
from bedside.models.providers.bedrock.wire import ConverseReader
from bedside.models.providers.openai.wire import ChunkReader
from bedside.models.providers.transport import retry_after
from bedside.models.reader import object_arguments
from bedside.models.schema import as_json_schema, closed, is_strict
from bedside.testing.provider import Asked, Said
from bedside.testing.provider_kit import SystemClock
from bedside.testing.provider_wire import _anthropic, _bedrock, _openai

SAID = Said(
    text="Potassium is 4.1.", thinking="so", tools=(Asked(name="look", arguments={"q": "K"}),)
)
STREAMS: dict[str, list[dict[str, Any]]] = {
    "anthropic": _anthropic(SAID, "m"),
    "openai": _openai(SAID, "m"),
    "bedrock": [{kind: body} for kind, body in _bedrock(SAID)],
}
READERS = {"anthropic": EventReader, "openai": ChunkReader, "bedrock": ConverseReader}
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


def paths(node: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    if isinstance(node, dict):
        for name, each in node.items():
            found += paths(each, (*at, name))
    elif isinstance(node, list):
        for index, each in enumerate(node):
            found += paths(each, (*at, index))
    return found


def read(name: str, events: list[Any]) -> Reply:
    reader = READERS[name](spec=f"{name}:m")
    for event in events:
        if not isinstance(event, dict):
            raise Failure("malformed")  # the SDK gives mappings alone
        text = reader.feed(event)
        assert isinstance(text, str)
    assert set(reader.usage) == {"input", "output", "cache_read", "cache_write"}
    return reader.finish()


@pytest.mark.parametrize("name", STREAMS)
def test_the_untouched_stream_reads_whole(name: str) -> None:
    reply = read(name, STREAMS[name])
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [
        ("look", {"q": "K"})
    ]
    assert reply.stop == "tools"


@pytest.mark.parametrize("name", STREAMS)
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_broken_value_in_a_stream_is_a_failure_or_harmless(
    name: str, data: st.DataObject
) -> None:
    events: list[Any] = copy.deepcopy(STREAMS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.sampled_from(paths(events)))
        node: Any = events
        try:
            for step in where[:-1]:
                node = node[step]
            if data.draw(st.booleans()):
                node[where[-1]] = data.draw(_JSON)
            else:
                del node[where[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier break took this place away
    failure: Failure | None = None
    calls: tuple[ToolCall, ...] = ()
    try:
        calls = read(name, events).calls
    except Failure as raised:
        failure = raised
    assert failure is None or failure.kind in {"malformed", "cut", "empty", "server_error"}
    assert all(isinstance(object_arguments(call.arguments), dict) for call in calls)


class HandClock(SystemClock):
    def now(self) -> datetime:
        return datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, clock=HandClock()) == seconds


class Answer(BaseModel):
    properties: str
    age: int | None = None


def test_a_schema_may_be_a_class_and_names_are_no_keywords() -> None:
    schema = as_json_schema(Answer)
    assert set(schema["properties"]) == {"properties", "age"}
    assert closed(Answer)["additionalProperties"] is False
    assert closed({"type": "object", "properties": {"pattern": {"type": "string"}}}) == {
        "type": "object",
        "properties": {"pattern": {"type": "string"}},
        "additionalProperties": False,
    }
    assert not is_strict(schema)
    with pytest.raises(InvalidArgument):
        as_json_schema(object())


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff....", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
    ],
)
def test_an_images_type_is_read_from_its_bytes(data: bytes, media: str) -> None:
    assert Image.of(data).media == media


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"", b"\x89PNG\r\n\x1a\n" + bytes(5_000_001)])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidArgument):
        Image.of(data)


def test_a_plug_in_may_bring_a_provider_and_an_unknown_one_is_a_mistake() -> None:
    config = ModelsConfig(
        writer=(Link(provider="mine", model="m"),),
        providers={"mine": ProviderConfig(base_url="http://127.0.0.1:1")},
    )
    with pytest.raises(InvalidArgument):
        build_providers(config, clock=SystemClock())
    made = build_providers(
        config,
        clock=SystemClock(),
        makers={"mine": lambda found, policy, clock: (found, policy, clock)},  # type: ignore[dict-item,return-value]
    )
    assert made["mine"] == (config.provider("mine"), config.policy, made["mine"][2])  # type: ignore[index]


def test_the_first_link_of_a_role_tells_what_the_model_can_do() -> None:
    config = ModelsConfig(writer=(Link(provider="anthropic", model="claude-haiku-4-5"),))
    found = profile_of(config, "writer")
    assert found is not None
    assert found[1].minimum == 4096
    assert "images" in found[1].can
    assert profile_of(config, "mechanic") is None


@pytest.mark.parametrize(
    ("path", "pick"),
    [
        ("/v1/messages", lambda body: body["content"][0]["text"]),
        ("/v1/chat/completions", lambda body: body["choices"][0]["message"]["content"]),
        ("/model/m/converse", lambda body: body["output"]["message"]["content"][0]["text"]),
    ],
)
def test_the_fake_provider_answers_without_a_stream_too(fake: Any, path: str, pick: Any) -> None:
    provider = fake([Said(text="All of it.", tools=(Asked(name="look"),))])
    body = {"model": "m", "messages": [{"role": "user", "content": "Go"}]}
    answer = httpx.post(provider.url + path, json=body, trust_env=False)
    assert answer.status_code == 200
    assert pick(answer.json()) == "All of it."
    assert httpx.post(f"{provider.url}/nowhere", json={}, trust_env=False).status_code == 404
