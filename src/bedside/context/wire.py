"""An assembly as providers take it, and as bytes for storing and replay. Pure mappings."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, cast

from bedside.core.context import Assembly, Item, Message, Opaque, ToolCall, ToolResult
from bedside.core.errors import BadInput

__all__ = ["dump", "load", "prompt_hash", "text_of", "to_anthropic", "to_openai"]

_MARK = {"type": "ephemeral"}
Part = str | ToolCall | ToolResult | Opaque


def text_of(message: Message) -> str:
    """The message's own text: its string parts joined, tool results as the model reads them."""
    return "".join(
        part if isinstance(part, str) else _result(part) if isinstance(part, ToolResult) else ""
        for part in message.parts
    )


def _result(result: ToolResult) -> str:
    return result.error if result.error is not None else "".join(i.body for i in result.items)


def to_anthropic(assembly: Assembly) -> dict[str, Any]:
    """Map to `system` (text blocks) and `messages`, with `cache_control` at the breaks.

    Neighbouring messages of one role become one, since the API wants roles to alternate. Opaque
    parts of other providers are left out.

    Raises:
        BadInput: a tool call's arguments, or an opaque part, are not JSON.
    """
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for message in assembly.messages:
        blocks = [made for part in message.parts for made in _anthropic(part)]
        if message.cache_break and blocks:
            blocks[-1] = {**blocks[-1], "cache_control": _MARK}
        if message.role == "system":
            system.extend(blocks)
        elif messages and messages[-1]["role"] == message.role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": message.role, "content": blocks})
    return {"system": system, "messages": messages}


def _anthropic(part: Part) -> list[dict[str, Any]]:
    if isinstance(part, str):
        return [{"type": "text", "text": part}] if part else []
    if isinstance(part, ToolCall):
        arguments = _json(part.arguments or "{}", what="a tool call's arguments")
        return [{"type": "tool_use", "id": part.id, "name": part.name, "input": arguments}]
    if isinstance(part, ToolResult):
        made: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": part.id,
            "content": _result(part),
        }
        return [{**made, "is_error": True} if part.error is not None else made]
    if part.provider != "anthropic":
        return []
    return [_json(part.data.decode("utf-8", "replace"), what="an opaque part")]


def _json(text: str, *, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput(what, why="it is not JSON") from error


def to_openai(assembly: Assembly) -> dict[str, Any]:
    """Map to `messages` of a chat completion. Opaque parts have no place there and are left out.

    The API caches long prefixes by itself: breaks need no marks.
    """
    messages: list[dict[str, Any]] = []
    for message in assembly.messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        messages.extend(
            {"role": "tool", "tool_call_id": part.id, "content": _result(part)} for part in results
        )
        text = "".join(part for part in message.parts if isinstance(part, str))
        calls = [
            {
                "id": part.id,
                "type": "function",
                "function": {"name": part.name, "arguments": part.arguments or "{}"},
            }
            for part in message.parts
            if isinstance(part, ToolCall)
        ]
        if calls:
            messages.append({"role": message.role, "content": text or None, "tool_calls": calls})
        elif text or not results:
            messages.append({"role": message.role, "content": text})
    return {"messages": messages}


def prompt_hash(messages: Sequence[Message]) -> str:
    """SHA-256 (hex) of the prompt's bytes: equal exactly when the prompt is."""
    return sha256(dump(messages)).hexdigest()


def dump(messages: Sequence[Message]) -> bytes:
    """Canonical bytes of a prompt, for storing and replay; `load` gives the messages back.

    Kept: roles, texts, tool parts as rendered, opaque parts, token counts and breaks. An item of
    a tool result keeps its text, not its span.
    """
    rows = [
        {
            "role": message.role,
            "parts": [_plain(part) for part in message.parts],
            "tokens": message.tokens,
            "cache_break": message.cache_break,
        }
        for message in messages
    ]
    return json.dumps(rows, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def _plain(part: Part) -> object:
    if isinstance(part, str):
        return part
    if isinstance(part, ToolCall):
        return {"call": part.id, "name": part.name, "arguments": part.arguments}
    if isinstance(part, ToolResult):
        return {"result": part.id, "items": [i.body for i in part.items], "error": part.error}
    return {"opaque": part.provider, "data": b64encode(part.data).decode()}


def load(stored: bytes) -> tuple[Message, ...]:
    """Messages from the bytes of `dump`.

    Raises:
        BadInput: the bytes are not what `dump` writes.
    """
    try:
        rows = cast("list[Mapping[str, Any]]", json.loads(stored))
        return tuple(
            Message(
                role=cast("Literal['system', 'user', 'assistant']", row["role"]),
                parts=tuple(_part(part) for part in row["parts"]),
                tokens=row["tokens"],
                cache_break=row["cache_break"],
            )
            for row in rows
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput("a stored prompt", why="it is not in the form that dump writes") from error


def _part(plain: Any) -> Part:
    if isinstance(plain, str):
        return plain
    if "call" in plain:
        return ToolCall(id=plain["call"], name=plain["name"], arguments=plain["arguments"])
    if "result" in plain:
        items = tuple(Item(body, key=plain["result"]) for body in plain["items"])
        return ToolResult(id=plain["result"], items=items, error=plain["error"])
    return Opaque(provider=plain["opaque"], data=b64decode(plain["data"]))
