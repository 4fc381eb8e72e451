"""A call with a time limit, for work that cannot be interrupted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from bedside.core.errors import DeadlineExceeded

__all__ = ["within"]

T = TypeVar("T")


def within(seconds: float, what: str, work: Callable[[], T]) -> T:
    """Run `work` in a thread and wait at most so long; an abandoned thread never blocks an exit.

    Raises:
        DeadlineExceeded: It took longer; what it gives later is dropped.
    """
    answer: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller as it is
            answer.put((None, error))

    threading.Thread(target=run, daemon=True, name=f"within:{what}").start()
    try:
        found, error = answer.get(timeout=max(seconds, 0.001))
    except queue.Empty:
        raise DeadlineExceeded(what, seconds=seconds) from None
    if error is not None:
        raise error
    return found  # type: ignore[return-value]
