"""What happened in a turn, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bedside.core.clock import Clock
from bedside.core.ids import TurnId
from bedside.core.turn import Ended
from bedside.core.value import value

__all__ = ["Trace", "TurnResult"]


@value
class TurnResult:
    """A turn that ended. `body` is the turn as the contract has it."""

    turn: TurnId
    status: Literal["complete", "incomplete", "refused"]
    body: Mapping[str, Any]


class Trace:
    """What happened in a turn, in order. Times are milliseconds since the turn began.

    `calls` are the model calls that ended; `asking` is true while one is under way, so that a turn
    that is cut knows whether text may have left without a word of how it went.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._start = clock, clock.monotonic()
        self.events: list[dict[str, Any]] = []
        self.calls: list[Ended] = []
        self.asking = False

    def ms(self) -> float:
        """Milliseconds since the turn began."""
        return (self._clock.monotonic() - self._start) * 1000

    def add(self, kind: str, /, **public: object) -> None:
        """Note an event. Its fields are exported, so they hold ids, counts and names only."""
        self.events.append({"event": kind, "at_ms": round(self.ms(), 2), **public})
