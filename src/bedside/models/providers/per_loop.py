"""One client per event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["PerLoop"]

C = TypeVar("C")


class PerLoop(Generic[C]):
    """One SDK client per event loop, since its pooled connections belong to a loop."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, C] = WeakKeyDictionary()

    async def get(self) -> C:
        """The client of the running loop. The SDK is imported in a thread: it takes a second."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            made = await asyncio.to_thread(self._make)
            self._made.setdefault(loop, made)
        return self._made[loop]

    def pop(self) -> C | None:
        """Take the running loop's client out, to close it."""
        return self._made.pop(asyncio.get_running_loop(), None)
