"""What a model answers for a note: its JSON Schemas, and the decoder of its JSON. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bedside.core.turn import Draft, Quote
from bedside.core.value import value
from bedside.flows.notes.summary import PARTS

__all__ = ["PLAN_SCHEMA", "SECTIONS_SCHEMA", "SUMMARY_SCHEMA", "JsonReply", "Reply"]


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_STRING = {"type": "string"}
_ITEMS = {"type": "array", "items": _object(text=_STRING, chunk=_STRING, quote=_STRING)}
SUMMARY_SCHEMA: Mapping[str, Any] = _object(**dict.fromkeys(PARTS, _ITEMS))
PLAN_SCHEMA: Mapping[str, Any] = _object(
    recommendations={
        "type": "array",
        "items": _object(
            number={"type": "integer"},
            recommendation=_STRING,
            source=_STRING,
            confidence={"type": "number"},
            hallucination_guard_note={"type": ["string", "null"]},
        ),
    }
)
SECTIONS_SCHEMA: Mapping[str, Any] = _object(
    sections={"type": "array", "items": _object(title=_STRING, chunk=_STRING, quote=_STRING)}
)
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


@value
class Reply:
    """A model's JSON object; `tree` is `None` where the text was none, and `why` says so."""

    tree: Mapping[str, Any] | None
    why: str = ""


class JsonReply:
    """Collects one JSON answer. Implements `bedside.core.turn.Decoder`; nothing of it streams."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take more of the stream; nothing of a JSON answer is shown as it comes."""
        self._parts.append(delta)
        return ()

    def finish(self) -> Draft:
        """The draft: the answer as it came, and read, as its payload."""
        text = "".join(self._parts)
        return Draft(text=text, payload=_read(text), by="model")


def _read(text: str) -> Reply:
    fenced = _FENCE.match(text)
    body = fenced.group(1) if fenced else text
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        return Reply(tree=None, why="the answer holds no JSON object")
    try:
        tree = json.loads(body[start : end + 1], parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Reply(tree=None, why="the answer is not valid JSON")
    return Reply(tree=tree) if isinstance(tree, dict) else Reply(tree=None, why="no JSON object")


def _no_number(name: str) -> float:
    raise ValueError(name)
