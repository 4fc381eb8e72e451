"""What is derived about a value: its age, whether it is stale, alone, or close to its limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bedside.record.needs import Fact

__all__ = ["with_notes"]


def with_notes(facts: Sequence[Fact], *, as_of: date) -> list[Fact]:
    """Add nothing yet."""
    del as_of
    return list(facts)
