"""Assembly to Messages request, Messages events to core types. Pure; no SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bedside.core.context import Message, Opaque, ToolCall, ToolResult
from bedside.models.failure import Failure, of_status
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

__all__ = ["EventReader", "request", "stream_failure"]

_MOST_BREAKS = 4
_EPHEMERAL = {"type": "ephemeral"}


def request(call: Call) -> dict[str, Any]:
    """The body of a Messages request, `stream` aside.

    System messages become system blocks, one each, so that a prefix keeps its bytes; cache marks
    stand on the last block of a message that asks for one (the last four of them). Opaque parts
    of another model are left out.
    """
    profile = call.profile
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []
    for message in call.prompt.messages:
        blocks = _blocks(message, call)
        if not blocks:
            continue
        if message.cache_break and profile.cache == "markers":
            marked.append(blocks[-1])
        if message.role == "system":
            system.extend(blocks)
        elif messages and messages[-1]["role"] == message.role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": message.role, "content": blocks})
    for block in marked[-_MOST_BREAKS:]:
        block["cache_control"] = dict(_EPHEMERAL)
    if call.images and messages:
        messages[-1]["content"].extend(_picture(image.media, image.base64) for image in call.images)
    body: dict[str, Any] = {
        "model": call.link.model,
        "max_tokens": call.limit,
        "messages": messages,
    }
    if system:
        body["system"] = system
    if call.tools and profile.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in call.tools
        ]
        body["tool_choice"] = {"type": "auto" if call.may_call else "none"}
    body.update(_manner(call))
    body.update(json.loads(json.dumps(dict(profile.extra))))
    if call.schema is not None:
        _ask_for(call, body)
    return body


def _manner(call: Call) -> dict[str, Any]:
    """A budget to think in, or the temperature: the API takes one of the two."""
    if call.budget:
        return {"thinking": {"type": "enabled", "budget_tokens": call.budget}}
    return {"temperature": 0} if call.profile.temperature else {}


def _ask_for(call: Call, body: dict[str, Any]) -> None:
    if call.profile.json == "schema":
        config = body.setdefault("output_config", {})
        config["format"] = {"type": "json_schema", "schema": closed(call.schema)}
    elif body["messages"]:
        body["messages"][-1]["content"].append({"type": "text", "text": in_words(call.schema)})


def _picture(media: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}


def _blocks(message: Message, call: Call) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    thoughts: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, str):
            if part.strip():  # the API refuses blocks of white space alone
                made.append({"type": "text", "text": part})
        elif isinstance(part, ToolCall):
            made.append(
                {
                    "type": "tool_use",
                    "id": part.id,
                    "name": part.name,
                    "input": object_arguments(part.arguments),
                }
            )
        elif isinstance(part, ToolResult):
            block: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": part.id,
                "content": result_text(part),
            }
            if part.error is not None:
                block["is_error"] = True
            results.append(block)
        elif part.provider == call.link.spec:
            thoughts.append(json.loads(part.data))
    # The protocol wants thinking first in an assistant message, tool results first in a user's.
    return [*thoughts, *results, *made]


_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_SHORT = frozenset({"max_tokens", "model_context_window_exceeded"})


class EventReader:
    """Reads the events of one Messages stream, as plain mappings."""

    def __init__(self, *, spec: str) -> None:
        self._spec = spec
        self._blocks: dict[int, dict[str, Any]] = {}
        self._written: dict[int, str] = {}
        self._closed: set[int] = set()
        self._stop: str | None = None
        self._ended = False
        self._seen = 0
        self._usage: dict[str, int | None] = {}

    def feed(self, event: Mapping[str, Any]) -> str:
        """The text that this event brought."""
        self._seen += 1
        kind = event.get("type")
        if kind == "content_block_start":
            return self._start(event)
        if kind == "content_block_delta":
            return self._delta(event)
        if kind == "content_block_stop":
            self._closed.add(self._index(event))
        elif kind == "message_start":
            self._count(mapping(event.get("message")).get("usage"))
        elif kind == "message_delta":
            stop = mapping(event.get("delta")).get("stop_reason")
            self._stop = self._stop if stop is None else string(stop)
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self._ended = True
        elif not isinstance(kind, str):
            raise Failure("malformed")
        return ""  # new kinds of events may be added to the protocol: they are passed over

    def _index(self, event: Mapping[str, Any]) -> int:
        index = event.get("index")
        if not isinstance(index, int):
            raise Failure("malformed")
        return index

    def _start(self, event: Mapping[str, Any]) -> str:
        block = dict(mapping(event.get("content_block")))
        self._blocks[self._index(event)] = block
        kind = string(block.get("type"))
        if kind == "tool_use":
            string(block.get("id"))
            string(block.get("name"))
        elif kind == "thinking":
            block["thinking"] = string(block.get("thinking") or "")
        return string(block.get("text", "")) if kind == "text" else ""

    def _delta(self, event: Mapping[str, Any]) -> str:
        block = self._blocks.get(self._index(event))
        delta = mapping(event.get("delta"))
        if block is None:
            raise Failure("malformed")
        kind = delta.get("type")
        if kind == "text_delta":
            return string(delta.get("text"))
        if kind == "input_json_delta":
            index = self._index(event)
            written = self._written.get(index, "")
            self._written[index] = written + string(delta.get("partial_json"))
        elif kind == "thinking_delta":
            if block.get("type") != "thinking":
                raise Failure("malformed")
            block["thinking"] += string(delta.get("thinking"))
        elif kind == "signature_delta":
            block["signature"] = string(delta.get("signature"))
        return ""

    def _count(self, usage: object) -> None:
        if not isinstance(usage, Mapping):
            return
        for ours, theirs in (
            ("fresh", "input_tokens"),
            ("output", "output_tokens"),
            ("cache_read", "cache_read_input_tokens"),
            ("cache_write", "cache_creation_input_tokens"),
        ):
            found = count(usage.get(theirs))
            if found is not None:
                self._usage[ours] = found

    @property
    def seen(self) -> bool:
        """True once any event has come."""
        return self._seen > 0

    @property
    def usage(self) -> Usage:
        """What was reported so far; `input` is fresh and cached tokens together."""
        fresh = self._usage.get("fresh")
        read, written = self._usage.get("cache_read"), self._usage.get("cache_write")
        whole = None if fresh is None else fresh + (read or 0) + (written or 0)
        # The output count of `message_start` is a beginning, not a result.
        output = self._usage.get("output") if self._stop is not None else None
        return {"input": whole, "output": output, "cache_read": read, "cache_write": written}

    def finish(self) -> Reply:
        """The reply, once the stream has ended.

        Raises:
            Failure: `empty` without any event, `cut` before the end, `malformed` arguments.
        """
        if not self._ended:
            raise Failure("cut" if self._seen else "empty")
        if self._stop is None:
            raise Failure("malformed")
        calls: list[ToolCall] = []
        opaque: list[Opaque] = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "tool_use":
                if self._stop in _SHORT:  # broken off in the middle: no call is whole
                    continue
                if index not in self._closed:
                    raise Failure("malformed")
                written = self._written.get(index) or json.dumps(block.get("input") or {})
                calls.append(
                    ToolCall(id=block["id"], name=block["name"], arguments=whole_arguments(written))
                )
            elif block["type"] in {"thinking", "redacted_thinking"}:
                opaque.append(Opaque(provider=self._spec, data=json.dumps(block).encode()))
        return Reply(
            stop=_STOPS.get(self._stop, "end"),
            usage=self.usage,
            calls=tuple(calls),
            opaque=tuple(opaque),
        )


_ERRORS = {
    "overloaded_error": 529,
    "api_error": 500,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "billing_error": 402,
    "not_found_error": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
}


def stream_failure(body: object) -> Failure:
    """What an `error` event inside a 200 stream means; its status is the one it stands for."""
    kind = None
    if isinstance(body, Mapping):
        error = body.get("error")
        kind = error.get("type") if isinstance(error, Mapping) else None
    if not isinstance(kind, str):
        return Failure("malformed")
    return of_status(_ERRORS.get(kind, 500))
