"""Wire forms and byte replay."""

from __future__ import annotations

import json

import pytest

from bedside.context import (
    Block,
    Budget,
    Item,
    assemble,
    dump,
    extend,
    load,
    prompt_hash,
    to_anthropic,
    to_openai,
)
from bedside.core.context import Message, Opaque, ToolCall, ToolResult
from bedside.core.errors import BadInput


@pytest.fixture
def looped():
    blocks = [
        Block("rules", "Rules.", stability="static", protected=True),
        Block("history", [Item("Hi", unit="1"), Item("Yes", unit="1", role="assistant"), Item("And?", unit="2")],
              slot="history"),
        Block("question", "Why?", protected=True, zone="recency"),
    ]  # fmt: skip
    budget = Budget(2_000, loop=400)
    said = Message(
        role="assistant",
        parts=(
            Opaque(provider="anthropic", data=b'{"type":"thinking","thinking":"","signature":"s"}'),
            Opaque(provider="other", data=b"\xff"),
            ToolCall(id="t1", name="search", arguments='{"q": "x"}'),
            ToolCall(id="t2", name="search", arguments=""),
        ),
        tokens=0,
    )
    results = [ToolResult(id="t1", items=(Item("found"),)), ToolResult(id="t2", error="failed")]
    return extend(assemble(blocks, budget=budget), said=said, results=results, budget=budget, calls_left=1)  # fmt: skip


def test_anthropic_gets_alternating_roles_marks_at_breaks_and_only_its_own_opaque_parts(looped):
    made = to_anthropic(looped)
    assert made == looped.to_anthropic()
    assert made["system"] == [
        {
            "type": "text",
            "text": "<rules>\nRules.\n</rules>\n",
            "cache_control": {"type": "ephemeral"},
        }
    ]
    assert [m["role"] for m in made["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    third = made["messages"][2]["content"]
    assert third[0] == {"type": "text", "text": "And?", "cache_control": {"type": "ephemeral"}}
    assert third[1] == {"type": "text", "text": "<question>\nWhy?\n</question>\n"}
    assert made["messages"][3]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}},
        {"type": "tool_use", "id": "t2", "name": "search", "input": {}},
    ]
    assert made["messages"][4]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1",
         "content": "<results>\nfound\n</results>\n"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "failed", "is_error": True,
         "cache_control": {"type": "ephemeral"}},
    ]  # fmt: skip


def test_openai_gets_tool_messages_and_no_marks(looped):
    made = to_openai(looped)["messages"]
    assert made == looped.to_openai()["messages"]
    assert [m["role"] for m in made] == [
        "system", "user", "assistant", "user", "user", "assistant", "tool", "tool",
    ]  # fmt: skip
    assert made[5]["content"] is None
    assert made[5]["tool_calls"][1] == {
        "id": "t2", "type": "function", "function": {"name": "search", "arguments": "{}"},
    }  # fmt: skip
    assert made[7] == {"role": "tool", "tool_call_id": "t2", "content": "failed"}
    assert "cache_control" not in json.dumps(made)


def test_a_stored_prompt_comes_back_byte_for_byte(looped):
    stored = dump(looped.messages)
    again = load(stored)
    assert dump(again) == stored
    assert prompt_hash(again) == prompt_hash(looped.messages)
    assert [message.role for message in again] == [message.role for message in looped.messages]
    assert to_anthropic(looped) == to_anthropic(_with(looped, again))


def _with(assembly, messages):
    from dataclasses import replace

    return replace(assembly, messages=messages)


@pytest.mark.parametrize("broken", [b"", b"{}", b"[1]", b'[{"role": "user"}]', b'[{"parts": 3}]'])
def test_bytes_that_are_no_prompt_are_refused(broken):
    if broken == b"{}":
        assert load(b"[]") == ()
    with pytest.raises(BadInput):
        load(broken if broken != b"{}" else b'{"a": 1}')


def test_arguments_that_are_not_json_are_refused_without_showing_them():
    blocks = [Block("q", "x")]
    bad = Message(
        role="assistant", parts=("", ToolCall(id="t", name="s", arguments="{secret")), tokens=0
    )
    budget = Budget(2_000, loop=400)
    made = extend(
        assemble(blocks, budget=budget), said=bad, results=[], budget=budget, calls_left=1
    )
    with pytest.raises(BadInput) as caught:
        made.to_anthropic()
    assert "secret" not in str(caught.value)
