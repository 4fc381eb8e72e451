"""Assembly to chat-completions request, chunks to core types. Pure; no SDK."""

from __future__ import annotations

import json
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
from bedside.models.schema import as_json_schema, in_words, is_strict

__all__ = ["ChunkReader", "request"]

_MOST_BREAKS = 4


def request(call: Call) -> dict[str, Any]:
    """The body of a chat-completions request, streaming with usage.

    Every message of the assembly is a message of its own, in order, so that a prefix keeps its
    bytes. Cache marks (OpenRouter) stand on the last part of a message that asks for one.
    """
    profile = call.profile
    messages: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []
    for message in call.prompt.messages:
        made = _messages(message, call)
        messages.extend(made)
        if message.cache_break and profile.cache == "markers":
            marked.append(made[-1])
    for one in marked[-_MOST_BREAKS:]:
        _mark(one)
    if call.images and messages:
        _add_images(messages[-1], call)
    body: dict[str, Any] = {
        "model": call.link.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        profile.limit: call.limit,
    }
    if profile.temperature and not call.budget:
        body["temperature"] = 0
    if call.tools and profile.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.schema),
                },
            }
            for tool in call.tools
        ]
        body["tool_choice"] = "auto" if call.may_call else "none"
    body.update(json.loads(json.dumps(dict(profile.extra))))
    if call.schema is not None:
        _ask_for(call, body)
    return body


def _ask_for(call: Call, body: dict[str, Any]) -> None:
    if call.profile.json == "schema":
        schema = as_json_schema(call.schema)
        form: dict[str, Any] = {"name": "answer", "schema": schema}
        if is_strict(schema):
            form["strict"] = True
        body["response_format"] = {"type": "json_schema", "json_schema": form}
        return
    if call.profile.json == "object":
        body["response_format"] = {"type": "json_object"}
    body["messages"].append({"role": "user", "content": in_words(call.schema)})


def _mark(message: dict[str, Any]) -> None:
    content = message.get("content")
    if isinstance(content, str) and content:
        message["content"] = [
            {"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}
        ]


def _add_images(message: dict[str, Any], call: Call) -> None:
    content = message["content"]
    parts: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    parts.extend(
        {
            "type": "image_url",
            "image_url": {"url": f"data:{image.media};base64,{image.base64}"},
        }
        for image in call.images
    )
    message["content"] = parts


def _messages(message: Message, call: Call) -> list[dict[str, Any]]:
    """One message, or, for tool results, one per result and one for the text beside them."""
    made: list[dict[str, Any]] = []
    text: list[str] = []
    asked: list[dict[str, Any]] = []
    details: list[Any] = []
    for part in message.parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, ToolCall):
            asked.append(
                {
                    "id": part.id,
                    "type": "function",
                    "function": {"name": part.name, "arguments": _sendable(part.arguments)},
                }
            )
        elif isinstance(part, ToolResult):
            content = result_text(part)
            made.append({"role": "tool", "tool_call_id": part.id, "content": content})
        elif part.provider == call.link.spec:
            details.extend(json.loads(part.data))
    whole = "".join(text)
    if whole or asked or not made:
        one: dict[str, Any] = {"role": message.role, "content": whole}
        if asked:
            one["tool_calls"] = asked
            one["content"] = whole or None
        if details:
            one["reasoning_details"] = details
        made.append(one)
    return made


def _sendable(arguments: str) -> str:
    """The bytes that the model wrote, where they are an object: servers behind this API parse them."""
    found = object_arguments(arguments)
    return json.dumps(found) if "invalid_json" in found else arguments or "{}"


_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


class ChunkReader:
    """Reads the chunks of one chat-completions stream, as plain mappings."""

    def __init__(self, *, spec: str) -> None:
        self._spec = spec
        self._calls: dict[int, dict[str, str]] = {}
        self._details: list[Any] = []
        self._finish: str | None = None
        self._refused = False
        self._seen = 0
        self._reported: Mapping[str, Any] = {}

    def feed(self, event: Mapping[str, Any]) -> str:
        """The text that this chunk brought."""
        self._seen += 1
        if isinstance(event.get("usage"), Mapping):
            self._reported = event["usage"]
        choices = event.get("choices")
        if not isinstance(choices, list):
            raise Failure("malformed")
        return "".join([self._choice(mapping(choice)) for choice in choices])

    def _choice(self, choice: Mapping[str, Any]) -> str:
        finish = choice.get("finish_reason")
        if finish == "error":
            raise Failure("server_error")
        if isinstance(finish, str):
            self._finish = finish
        delta = mapping(choice.get("delta") or {})
        calls = delta.get("tool_calls") or []
        if not isinstance(calls, list):
            raise Failure("malformed")
        for asked in calls:
            self._tool(mapping(asked))
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            self._details.extend(details)
        if delta.get("refusal"):
            self._refused = True
        content = delta.get("content")
        return "" if content is None else string(content)

    def _tool(self, asked: Mapping[str, Any]) -> None:
        index = asked.get("index", len(self._calls))
        if not isinstance(index, int):
            raise Failure("malformed")
        held = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        if asked.get("id"):
            held["id"] = string(asked["id"])
        function = mapping(asked.get("function") or {})
        if function.get("name"):
            held["name"] = string(function["name"])
        held["arguments"] += string(function.get("arguments") or "")

    @property
    def seen(self) -> bool:
        """True once any event has come."""
        return self._seen > 0

    @property
    def usage(self) -> Usage:
        """What was reported so far; `input` includes what came from the cache."""
        details = self._reported.get("prompt_tokens_details")
        details = details if isinstance(details, Mapping) else {}
        return {
            "input": count(self._reported.get("prompt_tokens")),
            "output": count(self._reported.get("completion_tokens")),
            "cache_read": count(details.get("cached_tokens")),
            "cache_write": count(details.get("cache_write_tokens")),
        }

    def finish(self) -> Reply:
        """The reply, once the stream has ended.

        Raises:
            Failure: `empty` without any chunk, `cut` before a finish reason, `malformed` calls.
        """
        if self._finish is None:
            raise Failure("cut" if self._seen else "empty")
        stop: Stop = "refusal" if self._refused else _STOPS.get(self._finish, "end")
        calls: list[ToolCall] = []
        for index, held in sorted(self._calls.items()):
            if stop == "length":  # broken off in the middle: no call is whole
                break
            if not held["name"]:
                raise Failure("malformed")
            calls.append(
                ToolCall(
                    id=held["id"] or f"call_{index}",
                    name=held["name"],
                    arguments=whole_arguments(held["arguments"]),
                )
            )
        opaque = (
            (Opaque(provider=self._spec, data=json.dumps(self._details).encode()),)
            if self._details
            else ()
        )
        return Reply(
            stop=stop, usage=self.usage, calls=tuple(calls), opaque=opaque, cost=self._cost
        )

    @property
    def _cost(self) -> Any:
        from decimal import Decimal

        cost = self._reported.get("cost")
        return Decimal(str(cost)) if isinstance(cost, (int, float)) and cost >= 0 else None
