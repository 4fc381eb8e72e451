"""Reciprocal rank fusion of ranked lists. Pure; no I/O."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from bedside.core.errors import InvalidArgument

__all__ = ["RRF_K", "fuse"]

T = TypeVar("T", bound=Hashable)
RRF_K = 60


def fuse(rankings: Sequence[Sequence[T]], *, k: int = RRF_K) -> dict[T, float]:
    """Merge ranked lists by reciprocal rank (Cormack, Clarke and Buettcher 2009).

    Args:
        rankings: Best first; a thing may occur in several lists, once in each. No list is favoured.
        k: Damping, at least 1; larger flattens the influence of the top ranks.

    Returns:
        A score for each thing, the sum of `1 / (k + rank)` with ranks from 1, in
        (0, len(rankings) / (k + 1)]; higher is better.

    Raises:
        InvalidArgument: `k` is below 1.
    """
    if k < 1:
        raise InvalidArgument("k", found=k, want="at least 1")
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, 1):
            scores[thing] = scores.get(thing, 0.0) + 1.0 / (k + rank)
    return scores
