"""A circuit breaker per provider: stop asking one that fails, then ask once whether it is back."""

from __future__ import annotations

from collections import deque
from typing import Literal

from bedside.core.clock import Clock
from bedside.models.config import Policy

__all__ = ["Breaker"]


class Breaker:
    """Opens on failures in a row or on a failing half, cools down, then lets one probe through.

    Not thread-safe: it lives in one event loop, and no call of it awaits.
    """

    def __init__(self, *, policy: Policy, clock: Clock) -> None:
        self._policy, self._clock = policy, clock
        self._recent: deque[tuple[float, bool]] = deque()
        self._in_a_row = 0
        self._opened: float | None = None
        self._probing = False

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """What it would say now: `half_open` means that one probe may pass, or is on its way."""
        if self._opened is None:
            return "closed"
        waited = self._clock.monotonic() - self._opened
        return "half_open" if waited >= self._policy.breaker_cool_s else "open"

    def admit(self) -> bool:
        """May a call be made now? In the half-open state only the first asker gets `True`."""
        state = self.state
        if state == "half_open" and not self._probing:
            self._probing = True
            return True
        return state == "closed"

    def record(self, *, ok: bool) -> None:
        """Tell how an admitted call ended."""
        if self._probing:
            self._probing = False
            if ok:
                self._close()
            else:
                self._opened = self._clock.monotonic()
            return
        now = self._clock.monotonic()
        self._recent.append((now, ok))
        while self._recent and self._recent[0][0] < now - self._policy.breaker_window_s:
            self._recent.popleft()
        self._in_a_row = 0 if ok else self._in_a_row + 1
        failed = sum(not fine for _, fine in self._recent)
        half = len(self._recent) >= self._policy.breaker_minimum and (
            2 * failed >= len(self._recent)
        )
        if not ok and (self._in_a_row >= self._policy.breaker_failures or half):
            self._opened = now

    def forget(self) -> None:
        """Give an admission back unused: the call ended for reasons that say nothing."""
        self._probing = False

    def _close(self) -> None:
        self._opened, self._in_a_row = None, 0
        self._recent.clear()
