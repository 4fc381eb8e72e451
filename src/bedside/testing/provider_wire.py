"""The wire protocols that the fake provider speaks: one list of byte events per reply. Pure."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from collections.abc import Mapping
from typing import Any

from bedside.testing.provider_script import Asked, Protocol, Said

__all__ = [
    "broken_event",
    "content_type",
    "error_body",
    "error_event",
    "events",
    "filler",
    "frame",
    "odd_event",
    "whole_body",
]

_HALF = 2


def content_type(protocol: Protocol) -> str:
    """Of a streamed answer."""
    if protocol == "bedrock":
        return "application/vnd.amazon.eventstream"
    return "text/event-stream; charset=utf-8"


def events(protocol: Protocol, said: Said, *, model: str) -> list[bytes]:
    """The reply as the protocol streams it, one entry per event."""
    if protocol == "anthropic":
        return [_sse(each, name=each["type"]) for each in _anthropic(said, model)]
    if protocol == "bedrock":
        return [frame(kind, body) for kind, body in _bedrock(said)]
    chunks = [_sse(each) for each in _openai(said, model)]
    return [*chunks, b"data: [DONE]\n\n"]


def _sse(body: Mapping[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


def frame(kind: str, body: Mapping[str, Any], *, message: str = "event") -> bytes:
    """One message of the binary event stream: prelude, headers, payload, two checksums."""
    payload = json.dumps(body).encode()
    named = {
        f":{message}-type": kind,
        ":content-type": "application/json",
        ":message-type": message,
    }
    headers = b"".join(
        struct.pack("!B", len(name))
        + name.encode()
        + struct.pack("!BH", 7, len(said))
        + said.encode()
        for name, said in named.items()
    )
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    start = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return start + struct.pack("!I", crc32(start))


def _arguments(asked: Asked) -> str:
    given = asked.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _halves(text: str) -> tuple[str, str]:
    at = len(text) // _HALF
    return text[:at], text[at:]


def _fresh(said: Said) -> int:
    return (said.input or 0) - (said.cache_read or 0) - (said.cache_write or 0)


def _anthropic_usage(said: Said) -> dict[str, int]:
    usage = {"input_tokens": _fresh(said), "output_tokens": 1}
    if said.cache_read is not None:
        usage["cache_read_input_tokens"] = said.cache_read
    if said.cache_write is not None:
        usage["cache_creation_input_tokens"] = said.cache_write
    return usage


def _anthropic(said: Said, model: str) -> list[dict[str, Any]]:
    message: dict[str, Any] = {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if said.input is not None:
        message["usage"] = _anthropic_usage(said)
    made: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    index = 0

    def block(start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        nonlocal index
        made.append({"type": "content_block_start", "index": index, "content_block": start})
        made.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        made.append({"type": "content_block_stop", "index": index})
        index += 1

    if said.thinking:
        block(
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": said.thinking},
                {"type": "signature_delta", "signature": "c2lnbmVk"},
            ],
        )
    if said.chunks:
        deltas = [{"type": "text_delta", "text": piece} for piece in said.chunks]
        block({"type": "text", "text": ""}, deltas)
    for at, asked in enumerate(said.tools):
        start = {
            "type": "tool_use",
            "id": asked.id or f"toolu_{at}",
            "name": asked.name,
            "input": {},
        }
        halves = _halves(_arguments(asked))
        block(start, [{"type": "input_json_delta", "partial_json": half} for half in halves])
    stop = said.stop or ("tool_use" if said.tools else "end_turn")
    last: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
    }
    if said.output is not None:
        last["usage"] = {"output_tokens": said.output}
    return [*made, last, {"type": "message_stop"}]


def _openai(said: Said, model: str) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    made = [chunk({"role": "assistant", "content": ""})]
    if said.thinking:
        thought = {"type": "reasoning.text", "text": said.thinking, "index": 0}
        made.append(chunk({"reasoning_details": [thought]}))
    made.extend(chunk({"content": piece}) for piece in said.chunks)
    for at, asked in enumerate(said.tools):
        head, tail = _halves(_arguments(asked))
        start = {"name": asked.name, "arguments": head}
        first = {"index": at, "id": asked.id or f"call_{at}", "type": "function", "function": start}
        made.append(chunk({"tool_calls": [first]}))
        made.append(chunk({"tool_calls": [{"index": at, "function": {"arguments": tail}}]}))
    made.append(chunk({}, said.stop or ("tool_calls" if said.tools else "stop")))
    if said.input is not None and said.output is not None:
        usage = {**chunk({}), "choices": [], "usage": _openai_usage(said)}
        made.append(usage)
    return made


def _openai_usage(said: Said) -> dict[str, Any]:
    prompt, written = said.input or 0, said.output or 0
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
    }
    details: dict[str, int] = {}
    if said.cache_read is not None:
        details["cached_tokens"] = said.cache_read
    if said.cache_write is not None:
        details["cache_write_tokens"] = said.cache_write
    if details:
        usage["prompt_tokens_details"] = details
    return usage


def _bedrock_usage(said: Said) -> dict[str, int]:
    usage = {
        "inputTokens": _fresh(said),
        "outputTokens": said.output or 0,
        "totalTokens": (said.input or 0) + (said.output or 0),
    }
    if said.cache_read is not None:
        usage["cacheReadInputTokens"] = said.cache_read
    if said.cache_write is not None:
        usage["cacheWriteInputTokens"] = said.cache_write
    return usage


def _bedrock(said: Said) -> list[tuple[str, dict[str, Any]]]:
    made: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    index = 0
    deltas: list[dict[str, Any]]
    if said.thinking:
        deltas = [
            {"reasoningContent": {"text": said.thinking}},
            {"reasoningContent": {"signature": "c2lnbmVk"}},
        ]
        made.extend(_bedrock_block(index, deltas))
        index += 1
    if said.chunks:
        made.extend(_bedrock_block(index, [{"text": piece} for piece in said.chunks]))
        index += 1
    for at, asked in enumerate(said.tools):
        start = {"toolUse": {"toolUseId": asked.id or f"tooluse_{at}", "name": asked.name}}
        made.append(("contentBlockStart", {"start": start, "contentBlockIndex": index}))
        halves = _halves(_arguments(asked))
        made.extend(_bedrock_block(index, [{"toolUse": {"input": half}} for half in halves]))
        index += 1
    stop = said.stop or ("tool_use" if said.tools else "end_turn")
    made.append(("messageStop", {"stopReason": stop}))
    if said.input is not None:
        usage = _bedrock_usage(said)
        made.append(("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))
    return made


def _bedrock_block(index: int, deltas: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    made: list[tuple[str, dict[str, Any]]] = [
        ("contentBlockDelta", {"delta": delta, "contentBlockIndex": index}) for delta in deltas
    ]
    return [*made, ("contentBlockStop", {"contentBlockIndex": index})]


def whole_body(protocol: Protocol, said: Said, *, model: str) -> dict[str, Any]:
    """The reply to a request that does not stream."""
    calls = [
        {"id": asked.id or f"call_{at}", "name": asked.name, "arguments": _arguments(asked)}
        for at, asked in enumerate(said.tools)
    ]
    text = "".join(said.chunks)
    if protocol == "anthropic":
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["name"],
                "input": json.loads(call["arguments"]),
            }
            for call in calls
        ]
        usage = {**_anthropic_usage(said), "output_tokens": said.output or 0}
        return {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": said.stop or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
            "usage": usage,
        }
    if protocol == "bedrock":
        blocks: list[dict[str, Any]] = [{"text": text}] if text else []
        blocks += [
            {
                "toolUse": {
                    "toolUseId": call["id"],
                    "name": call["name"],
                    "input": json.loads(call["arguments"]),
                }
            }
            for call in calls
        ]
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": said.stop or ("tool_use" if calls else "end_turn"),
            "usage": _bedrock_usage(said),
            "metrics": {"latencyMs": 1},
        }
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    finish = said.stop or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _openai_usage(said),
    }


_KINDS = {
    429: "rate_limit_error",
    529: "overloaded_error",
    500: "api_error",
    401: "authentication_error",
}
_AWS = {
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
    500: "InternalServerException",
}


def error_body(protocol: Protocol, status: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The body and extra headers of an error answer."""
    if protocol == "anthropic":
        kind = _KINDS.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": "as scripted"}}, {}
    if protocol == "bedrock":
        kind = _AWS.get(status, "ValidationException")
        return {"message": "as scripted"}, {"x-amzn-ErrorType": kind}
    return {"error": {"message": "as scripted", "type": "scripted", "code": status}}, {}


def error_event(protocol: Protocol) -> bytes:
    """An error inside a stream that began with 200."""
    if protocol == "anthropic":
        error = {"type": "overloaded_error", "message": "as scripted"}
        return _sse({"type": "error", "error": error}, name="error")
    if protocol == "bedrock":
        return frame("serviceUnavailableException", {"message": "as scripted"}, message="exception")
    return _sse({"error": {"message": "as scripted", "code": 529}})


def broken_event(protocol: Protocol) -> bytes:
    """An event that does not parse."""
    if protocol == "anthropic":
        return b'event: content_block_delta\ndata: {"type": "content_block_delta", "ind\n\n'
    if protocol == "bedrock":
        whole = frame("contentBlockDelta", {"delta": {"text": "x"}, "contentBlockIndex": 0})
        return whole[:-1] + bytes([whole[-1] ^ 0xFF])
    return b'data: {"id": "chatcmpl-fake", "choi\n\n'


def odd_event(protocol: Protocol) -> bytes:
    """An event that parses and is none of the protocol."""
    if protocol == "anthropic":
        body = {"type": "content_block_delta", "delta": {"type": "text_delta", "words": 7}}
        return _sse(body, name="content_block_delta")
    if protocol == "bedrock":
        return frame("contentBlockDelta", {"contentBlockIndex": 0})
    return _sse({"hello": 1})


def filler(protocol: Protocol, size: int) -> bytes:
    """One event of about `size` bytes that brings no content."""
    if protocol == "bedrock":
        thought = {"reasoningContent": {"text": "x" * size}}
        return frame("contentBlockDelta", {"delta": thought, "contentBlockIndex": 9})
    return b": " + b"x" * size + b"\n\n"
