"""From the windows that a store returns to chunks: each once, ties by id, none cut in a tie."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bedside.core.errors import InvalidArgument
from bedside.knowledge.index.protocol import Neighbour

__all__ = ["chunks_nearest"]

_MOST_WINDOWS = 8_000
"""Where ties and long chunks end the search for more."""


def chunks_nearest(
    fetch: Callable[[int], Sequence[Neighbour]], *, limit: int
) -> tuple[Neighbour, ...]:
    """The best window of each of the `limit` nearest chunks.

    `fetch(n)` gives the n nearest windows, best first. A chunk has several windows, and equal
    windows come in any order, so more are fetched until the last one is past the limit.

    Raises:
        InvalidArgument: `limit` is below 1.
    """
    if limit < 1:
        raise InvalidArgument("limit", found=limit, want="at least 1")
    wanted = limit + max(8, limit // 4)
    while True:
        windows = fetch(wanted)
        best: dict[str, Neighbour] = {}
        for near in windows:
            own = best.get(near.chunk)
            if own is None or near.similarity > own.similarity:
                best[near.chunk] = near
        ranked = sorted(best.values(), key=lambda near: (-near.similarity, near.chunk))
        past = len(ranked) > limit and windows[-1].similarity < ranked[limit - 1].similarity
        if past or len(windows) < wanted or wanted >= _MOST_WINDOWS:
            return tuple(ranked[:limit])
        wanted = min(wanted * 4, _MOST_WINDOWS)
