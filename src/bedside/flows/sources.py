"""From a need to the room that meets it: concurrent, each under its own deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import BedsideError, OutsideError
from bedside.core.turn import Gathered, Got, Lost, Need

__all__ = ["GRACE_MS", "Reader", "Sources"]

Reader = Callable[[Any, Grant], Awaitable[Any]]
"""Meets one kind of need under one grant and returns the room's own value."""


GRACE_MS = 75
"""Beyond a need's deadline: a room that keeps the deadline brings its own fallback in time."""
LOADING_S = 20.0
"""So long a process waits, once, for a room to load what it keeps in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Maps the type of a need to its room, and to what serves when the room is late or down.

    A room is given up 75 ms after the need's deadline, so that the room's own fallback, which it
    brings at the deadline, is not lost to a race. A source that fails makes the turn poorer, never
    broken: it comes back as `Lost`, or as `Got` with `via` naming the fallback.

    `loads` is what a room reads into memory once in a process, a model or an index: the deadline is
    for answering, so it begins after that, or after 20 s.
    """

    readers: Mapping[type[Need[Any]], Reader]
    fallbacks: Mapping[type[Need[Any]], tuple[str, Reader]]
    clock: Clock
    loads: Mapping[type[Need[Any]], Reader] = field(default_factory=dict)

    async def gather(self, needs: Sequence[Need[Any]], grant: Grant) -> Gathered:
        """Meet every need at once; the order of `needs` is kept."""
        found = await asyncio.gather(*(self._meet(need, grant) for need in needs))
        return dict(zip(needs, found, strict=True))

    async def _meet(self, need: Need[Any], grant: Grant) -> Got[Any] | Lost:
        if (load := self.loads.get(type(need))) is not None:
            with suppress(TimeoutError, BedsideError):  # the room itself says what does not serve
                async with asyncio.timeout(LOADING_S):
                    await load(need, grant)
        start = self.clock.monotonic()

        def ms() -> float:
            return (self.clock.monotonic() - start) * 1000

        reader = self.readers.get(type(need))
        if reader is None:
            return Lost(why="refused", detail=f"no room meets {type(need).__name__}")
        try:
            async with asyncio.timeout((need.deadline_ms + GRACE_MS) / 1000):
                return Got(value=await reader(need, grant), ms=ms())
        except TimeoutError:
            lost = Lost(why="timeout", ms=ms())
        except OutsideError as error:
            lost = Lost(why="failed", ms=ms(), detail=type(error).__name__)
        except BedsideError as error:  # policy, or a need that asks for what cannot be
            return Lost(why="refused", ms=ms(), detail=type(error).__name__)
        if type(need) not in self.fallbacks:
            return lost
        name, fallback = self.fallbacks[type(need)]
        try:
            async with asyncio.timeout(need.deadline_ms / 1000):
                return Got(value=await fallback(need, grant), via=f"{name} ({lost.why})", ms=ms())
        except (TimeoutError, BedsideError):
            return lost
