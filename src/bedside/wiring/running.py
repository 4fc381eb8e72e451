"""Turns that are running in this process: a door may come, leave, and come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from bedside.core.turn import Citation, Delta, Plan

__all__ = ["Broadcast", "Event"]

Event = Plan | Delta | Citation


class Broadcast:
    """The events of one running turn, kept so that a late door hears them from the start."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.task: asyncio.Task[Any] | None = None
        self._changed = asyncio.Event()

    async def emit(self, event: Event) -> None:
        """Add an event and wake whoever listens."""
        self.events.append(event)
        self._changed.set()
        self._changed = asyncio.Event()

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
            await asyncio.wait({waiting, self.task}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
