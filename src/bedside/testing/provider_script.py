"""What the fake provider says: replies, faults, and the order in which it gives them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = [
    "Asked",
    "Fault",
    "FaultKind",
    "Protocol",
    "Received",
    "Said",
    "Script",
    "Turn",
    "read_script",
]

Protocol = Literal["anthropic", "openai", "openrouter", "bedrock"]
FaultKind = Literal[
    "rate_limited",
    "rate_limited_bare",
    "overloaded",
    "server_error",
    "reset",
    "silence",
    "cut",
    "error_in_stream",
    "malformed",
    "empty",
    "wrong_schema",
    "drip",
    "huge",
    "status",
]
"""Thirteen faults of a running server and a free one; a refused connection needs no server."""


@value
class Asked:
    """One tool call of a reply; `arguments` is written as JSON, as it stands if it is a string."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@value
class Said:
    """One good reply.

    `pieces` are the text as it is streamed; without them `text` goes word by word. `input` and
    `output` are the usage reported, `None` reports none; `input` counts the whole prompt, the two
    cache counts included. `stop` is the protocol's own word, "" the natural one. `delay_s` passes
    before every event after the first, `first_s` before the first.
    """

    text: str = ""
    pieces: tuple[str, ...] = ()
    tools: tuple[Asked, ...] = ()
    thinking: str = ""
    input: int | None = 100
    output: int | None = 20
    cache_read: int | None = None
    cache_write: int | None = None
    stop: str = ""
    delay_s: float = 0.0
    first_s: float = 0.0

    @property
    def chunks(self) -> tuple[str, ...]:
        """The text as it is streamed."""
        if self.pieces:
            return self.pieces
        words = self.text.split(" ")
        return tuple(word if at == 0 else f" {word}" for at, word in enumerate(words) if word or at)


@value
class Fault:
    """One bad reply.

    `after` events of `said` go out first (`cut`, `error_in_stream`, `malformed`, `wrong_schema`,
    `silence`, `huge`). `status` answers with that status, and with `location` if given. `retry_after` is in seconds, `seconds` passes between the bytes of a `drip`,
    `size` is how many bytes `huge` has.
    """

    kind: FaultKind
    said: Said = field(default_factory=lambda: Said(text="Half of an answer."))
    after: int = 0
    status: int = 400
    retry_after: float | None = None
    seconds: float = 1.0
    size: int = 50_000_000
    location: str = ""


Turn = Said | Fault


@value
class Received:
    """One request as it came. `text` is all of its prompt's text, `last` that of the last message."""

    protocol: Protocol
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: bytes

    @property
    def text(self) -> str:
        """All strings of the system prompt and the messages, one per line."""
        return "\n".join(_strings([self.body.get("system"), self.body.get("messages")]))

    @property
    def last(self) -> str:
        """All strings of the last message."""
        messages = self.body.get("messages") or [None]
        return "\n".join(_strings(messages[-1]))


def _strings(node: object) -> list[str]:
    if isinstance(node, str):
        return [node]
    if isinstance(node, list):
        return [found for each in node for found in _strings(each)]
    if isinstance(node, Mapping):
        return [
            found
            for name, each in node.items()
            if name not in {"role", "type", "cache_control", "cachePoint", "id", "media_type"}
            for found in _strings(each)
        ]
    return []


Steps = Sequence[Turn] | Callable[[Received], Turn]
Script = Steps | Mapping[str, Steps]
"""Turns in order, the last one repeating; or a function of the request; or one of them per
protocol."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = ""
    pieces: list[str] = []
    tools: list[_Asked] = []
    thinking: str = ""
    input: int | None = 100
    output: int | None = 20
    cache_read: int | None = None
    cache_write: int | None = None
    stop: str = ""
    delay_s: float = 0.0
    first_s: float = 0.0
    fault: str = ""
    after: int = 0
    status: int = 400
    retry_after: float | None = None
    seconds: float = 1.0
    size: int = 50_000_000
    location: str = ""

    def made(self) -> Turn:
        said = Said(
            text=self.text,
            pieces=tuple(self.pieces),
            tools=tuple(
                Asked(name=each.name, arguments=each.arguments, id=each.id) for each in self.tools
            ),
            thinking=self.thinking,
            input=self.input,
            output=self.output,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
            stop=self.stop,
            delay_s=self.delay_s,
            first_s=self.first_s,
        )
        if not self.fault:
            return said
        if self.fault not in get_args(FaultKind):
            raise BadInput("script", why=f"no fault {self.fault!r}")
        return Fault(
            kind=self.fault,  # type: ignore[arg-type]
            said=said,
            after=self.after,
            status=self.status,
            retry_after=self.retry_after,
            seconds=self.seconds,
            size=self.size,
            location=self.location,
        )


def read_script(path: Path) -> Script:
    """Read a script: a JSON list of turns, or an object of such lists by protocol.

    A turn is `{"text": ...}` or `{"fault": kind, ...}` with the fields of `Said` and `Fault`.

    Raises:
        BadInput: the file cannot be read, or is not of this form.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {name: _turns(each) for name, each in found.items()}
        return _turns(found)
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise BadInput(path.name, why="not a script of turns") from error


def _turns(found: Any) -> list[Turn]:
    return [_Turn.model_validate(each).made() for each in found]
