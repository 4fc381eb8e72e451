"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime

__all__ = ["SystemClock"]


class SystemClock:
    """Tells the machine's time, aware, in UTC."""

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)  # noqa: TID251 - the one real clock

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()
