"""Turns that are running in this process: a door may come, leave, and come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from bedside.core.errors import Conflict, Unavailable
from bedside.core.turn import Citation, Delta, Plan, TurnRequest

__all__ = ["Broadcast", "Event"]

Event = Plan | Delta | Citation


class Broadcast:
    """The events of one running turn, kept so that a late door hears them from the start."""

    def __init__(self, request: TurnRequest) -> None:
        self.request = request
        self.events: list[Event] = []
        self.task: asyncio.Task[Any] | None = None
        self.stopped = False
        self._changed = asyncio.Event()

    async def stop(self) -> bool:
        """End the turn now: its model call is closed, and it is stored as incomplete.

        Returns:
            False where it ended by itself first: what is being stored is stored whole.
        """
        assert self.task is not None
        if not self.stopped:  # to cancel again would cut the storing
            self.stopped = self.task.cancel()
        await asyncio.wait({self.task})
        return self.task.cancelled()

    async def emit(self, event: Event) -> None:
        """Add an event and wake whoever listens."""
        self.events.append(event)
        self._changed.set()
        self._changed = asyncio.Event()

    async def result(self) -> Any:
        """What the turn came to; leaving does not end it.

        Raises:
            Conflict: the turn was stopped.
            Unavailable: the engine stopped before the turn had ended.
        """
        assert self.task is not None
        try:
            return await asyncio.shield(self.task)
        except asyncio.CancelledError:
            if self.task.cancelled() and self.stopped:
                raise Conflict(
                    "turn", why="it was stopped", do="Ask again to begin anew."
                ) from None
            if self.task.cancelled():
                raise Unavailable(
                    "the turn",
                    why="the engine stopped before it had ended",
                    do="Ask again with the same idempotency key.",
                ) from None
            raise

    async def listen(self) -> AsyncIterator[Event]:
        """Every event from the first to the last, as it comes; ends with the turn."""
        seen = 0
        while True:
            changed = self._changed
            while seen < len(self.events):
                yield self.events[seen]
                seen += 1
            if self.task is None or self.task.done():
                return
            waiting = asyncio.ensure_future(changed.wait())
            try:
                await asyncio.wait({waiting, self.task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()  # also where the door left: nothing may wait for ever
