"""What the three protocols' readers share: strict reading of what a provider sent. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, cast

from bedside.core.context import ToolResult
from bedside.models.failure import Failure
from bedside.models.provider import Reply, Usage

__all__ = [
    "Reader",
    "count",
    "mapping",
    "object_arguments",
    "result_text",
    "string",
    "whole_arguments",
]


class Reader(Protocol):
    """Takes one stream's events in order."""

    def feed(self, event: Mapping[str, Any]) -> str:
        """The text that this event brought, "" where it brought none.

        Raises `Failure("malformed")` for an event that is not of the protocol.
        """
        ...

    def finish(self) -> Reply:
        """The reply. Raises `Failure`: `empty` or `cut` where the stream ended too early."""
        ...

    @property
    def usage(self) -> Usage:
        """What was reported so far."""
        ...


def mapping(found: object) -> Mapping[str, Any]:
    """`found` as a mapping, or `Failure("malformed")`."""
    if not isinstance(found, Mapping):
        raise Failure("malformed")
    return cast("Mapping[str, Any]", found)


def string(found: object) -> str:
    """`found` as a string, or `Failure("malformed")`."""
    if not isinstance(found, str):
        raise Failure("malformed")
    return found


def result_text(result: ToolResult) -> str:
    """What the model reads of a tool's result: it was rendered and fenced when it was appended."""
    return result.error if result.error is not None else "".join(i.body for i in result.items)


def count(found: object) -> int | None:
    """A token count: a whole number of 0 or more, `None` for anything else."""
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def whole_arguments(written: str) -> str:
    """A tool call's arguments as the model wrote them; no arguments are an empty object.

    They need not be JSON: who answers the call says so to the model, which then mends its own.
    """
    return written.strip() or "{}"


def object_arguments(written: str) -> dict[str, Any]:
    """A tool call's arguments as a provider takes them back: an object, whatever was written.

    What is not one JSON object goes back as text under `invalid_json`, so that the model sees
    what it wrote beside the error that answers it.
    """
    try:
        found = json.loads(written or "{}")
    except (ValueError, RecursionError):
        found = None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {"invalid_json": written}
