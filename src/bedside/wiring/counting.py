"""The token counter that the engine declares."""

from __future__ import annotations

from bedside.core.context import Count

__all__ = ["counter"]


def counter(correction: float) -> tuple[Count, str]:
    """A counter and its name. `correction` is the model's tokens per o200k token."""
    from bedside.context.tokens import o200k

    return o200k(correction)
