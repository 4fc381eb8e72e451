"""Entries that cannot both be right, found by rule."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.record.needs import Contradiction, Fact

__all__ = ["contradictions_in"]


def contradictions_in(facts: Sequence[Fact]) -> tuple[Contradiction, ...]:
    """Find nothing yet."""
    del facts
    return ()
