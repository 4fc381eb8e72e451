"""Turns as server-sent events: plan, delta, citation, done, error."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from bedside.core.errors import BedsideError
from bedside.core.turn import Citation, Delta, Plan
from bedside.flows.result import citation
from bedside.flows.trace import TurnResult
from bedside.wiring import Event

__all__ = ["events", "failure", "frame"]

log = logging.getLogger("bedside.server")


def frame(name: str, body: object) -> bytes:
    """One event on the wire."""
    return f"event: {name}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


async def events(stream: AsyncIterator[Event | TurnResult]) -> AsyncIterator[bytes]:
    """The stream of a turn; a failure is the last event, never a cut connection."""
    try:
        async for event in stream:
            name, body = _shape(event)
            yield frame(name, body)
    except Exception as error:  # noqa: BLE001 - the process edge; a stream never ends in silence
        yield frame("error", failure(error))


def failure(error: Exception) -> dict[str, str]:
    """What a stream says of a failure, without patient content."""
    if isinstance(error, BedsideError):
        return {"type": type(error).__name__, "title": error.title, "detail": str(error)}
    log.error("a stream failed: %s", type(error).__name__)
    return {"type": "Unexpected", "title": "Unexpected failure", "detail": type(error).__name__}


def _shape(event: Event | TurnResult) -> tuple[str, Any]:
    if isinstance(event, Plan):
        return "plan", {
            "intent": event.intent,
            "categories": list(event.categories),
            "source": event.source,
            "queries": list(event.queries),
        }
    if isinstance(event, Delta):
        return "delta", {"text": event.text}
    if isinstance(event, Citation):
        return "citation", citation(event)
    return "done", dict(event.body)
