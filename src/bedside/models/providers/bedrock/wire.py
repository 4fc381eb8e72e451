"""Assembly to Converse request, ConverseStream events to core types. Pure; no SDK."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from bedside.core.context import Message, Opaque, ToolCall, ToolResult
from bedside.models.failure import Failure
from bedside.models.provider import Call, Reply, Stop, Usage
from bedside.models.reader import (
    count,
    mapping,
    object_arguments,
    result_text,
    string,
    whole_arguments,
)
from bedside.models.schema import closed, in_words

__all__ = ["ConverseReader", "request"]

_MOST_BREAKS = 4
_POINT = {"cachePoint": {"type": "default"}}


def request(call: Call) -> dict[str, Any]:
    """The arguments of `converse_stream`.

    Neighbouring messages of one role become one, as Converse requires. Converse has no way to
    bar tools while their schemas stay: the gateway drops calls that were not allowed.
    """
    profile = call.profile
    breaks = [at for at, message in enumerate(call.prompt.messages) if message.cache_break]
    marked = set(breaks[-_MOST_BREAKS:]) if profile.cache == "markers" else set[int]()
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for at, message in enumerate(call.prompt.messages):
        blocks = _blocks(message, call)
        if not blocks:
            continue
        if at in marked:
            blocks.append(dict(_POINT))
        if message.role == "system":
            system.extend(blocks)
        elif messages and messages[-1]["role"] == message.role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": message.role, "content": blocks})
    if call.images and messages:
        messages[-1]["content"].extend(
            {"image": {"format": image.media.split("/")[1], "source": {"bytes": image.data}}}
            for image in call.images
        )
    inference: dict[str, Any] = {"maxTokens": call.limit}
    if profile.temperature and not call.budget:
        inference["temperature"] = 0.0
    body: dict[str, Any] = {
        "modelId": call.link.model,
        "messages": messages,
        "inferenceConfig": inference,
    }
    if system:
        body["system"] = system
    if call.tools and profile.tools:
        body["toolConfig"] = {
            "tools": [
                {
                    "toolSpec": {
                        "name": tool.name,
                        "description": tool.description,
                        "inputSchema": {"json": dict(tool.schema)},
                    }
                }
                for tool in call.tools
            ]
        }
    if more := _more(call):
        body["additionalModelRequestFields"] = more
    if call.schema is not None:
        _ask_for(call, body)
    return body


def _more(call: Call) -> dict[str, Any]:
    """The model's own fields: those of its profile, and a budget to think in."""
    more: dict[str, Any] = json.loads(json.dumps(dict(call.profile.extra)))
    if call.budget:
        more["thinking"] = {"type": "enabled", "budget_tokens": call.budget}
    return more


def _ask_for(call: Call, body: dict[str, Any]) -> None:
    if call.profile.json == "schema":
        schema = json.dumps(closed(call.schema), sort_keys=True)
        body["outputConfig"] = {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"schema": schema, "name": "answer"}},
            }
        }
    elif body["messages"]:
        body["messages"][-1]["content"].append({"text": in_words(call.schema)})


def _blocks(message: Message, call: Call) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    thoughts: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, str):
            if part.strip():  # Converse refuses blocks of white space alone
                made.append({"text": part})
        elif isinstance(part, ToolCall):
            asked = object_arguments(part.arguments)
            made.append({"toolUse": {"toolUseId": part.id, "name": part.name, "input": asked}})
        elif isinstance(part, ToolResult):
            block: dict[str, Any] = {
                "toolUseId": part.id,
                "content": [{"text": result_text(part)}],
            }
            if part.error is not None:
                block["status"] = "error"
            results.append({"toolResult": block})
        elif part.provider == call.link.spec:
            thoughts.append({"reasoningContent": _thought(json.loads(part.data))})
    return [*thoughts, *results, *made]


def _thought(held: dict[str, Any]) -> dict[str, Any]:
    if "redacted" in held:
        return {"redactedContent": b64decode(held["redacted"])}
    return {"reasoningText": held}


_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
}
_BROKEN = frozenset({"malformed_model_output", "malformed_tool_use"})


class ConverseReader:
    """Reads the events of one ConverseStream, as botocore parses them."""

    def __init__(self, *, spec: str) -> None:
        self._spec = spec
        self._tools: dict[int, dict[str, str]] = {}
        self._thoughts: dict[int, dict[str, Any]] = {}
        self._stop: str | None = None
        self._seen = 0
        self._reported: Mapping[str, Any] = {}

    @property
    def seen(self) -> bool:
        """True once any event has come."""
        return self._seen > 0

    def feed(self, event: Mapping[str, Any]) -> str:
        """The text that this event brought."""
        self._seen += 1
        if "contentBlockDelta" in event:
            return self._delta(mapping(event["contentBlockDelta"]))
        if "contentBlockStart" in event:
            block = mapping(event["contentBlockStart"])
            asked = mapping(block.get("start") or {}).get("toolUse")
            if asked is not None:
                self._tools[self._index(block)] = {
                    "id": string(mapping(asked).get("toolUseId")),
                    "name": string(mapping(asked).get("name")),
                    "arguments": "",
                }
        elif "messageStop" in event:
            self._stop = string(mapping(event["messageStop"]).get("stopReason"))
        elif "metadata" in event:
            self._reported = mapping(mapping(event["metadata"]).get("usage") or {})
        return ""

    def _index(self, block: Mapping[str, Any]) -> int:
        index = block.get("contentBlockIndex")
        if not isinstance(index, int):
            raise Failure("malformed")
        return index

    def _delta(self, block: Mapping[str, Any]) -> str:
        delta = mapping(block.get("delta"))
        if "text" in delta:
            return string(delta["text"])
        index = self._index(block)
        if "toolUse" in delta:
            if index not in self._tools:
                raise Failure("malformed")
            self._tools[index]["arguments"] += string(mapping(delta["toolUse"]).get("input", ""))
        elif "reasoningContent" in delta:
            said = mapping(delta["reasoningContent"])
            held = self._thoughts.setdefault(index, {})
            if "redactedContent" in said:
                held["redacted"] = b64encode(said["redactedContent"]).decode("ascii")
            if "text" in said:
                held["text"] = held.get("text", "") + string(said["text"])
            if "signature" in said:
                held["signature"] = string(said["signature"])
        return ""

    @property
    def usage(self) -> Usage:
        """What was reported so far; `input` is fresh and cached tokens together."""
        fresh = count(self._reported.get("inputTokens"))
        read = count(self._reported.get("cacheReadInputTokens"))
        written = count(self._reported.get("cacheWriteInputTokens"))
        whole = None if fresh is None else fresh + (read or 0) + (written or 0)
        output = count(self._reported.get("outputTokens"))
        return {"input": whole, "output": output, "cache_read": read, "cache_write": written}

    def finish(self) -> Reply:
        """The reply, once the stream has ended.

        Raises:
            Failure: `empty` without any event, `cut` before a stop reason, `malformed` calls.
        """
        if self._stop is None:
            raise Failure("cut" if self._seen else "empty")
        if self._stop in _BROKEN:
            raise Failure("malformed")
        stop = _STOPS.get(self._stop, "end")
        calls = () if stop == "length" else self._calls()
        opaque = tuple(
            Opaque(provider=self._spec, data=json.dumps(held).encode())
            for _, held in sorted(self._thoughts.items())
        )
        return Reply(stop=stop, usage=self.usage, calls=calls, opaque=opaque)

    def _calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(id=held["id"], name=held["name"], arguments=whole_arguments(held["arguments"]))
            for _, held in sorted(self._tools.items())
        )
