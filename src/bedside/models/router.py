"""Which of the two models: a declared score per factor. Pure; the weights are the flow's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from bedside.core.errors import InvalidArgument
from bedside.core.turn import Route
from bedside.core.value import value

__all__ = ["Weights", "route"]


@value
class Weights:
    """Points per factor, by name, and the score from which the large model (`writer`) is asked."""

    threshold: int
    points: Mapping[str, int] = field(default_factory=dict)


def route(
    factors: Mapping[str, bool | int],
    *,
    weights: Weights,
    veil: tuple[str, ...] = (),
    exempt: bool = False,
) -> Route:
    """Add up the points of the factors that hold, and choose the role.

    Args:
        factors: By name: `True` counts once, `False` not at all, an integer that many times.
        weights: The flow's declared points and threshold.
        veil: Texts to take out before any remote call: names, numbers, dates of birth.
        exempt: True for a bundled synthetic patient.

    Returns:
        `writer` (large) at the threshold or above, else `mechanic` (small); `Route.factors` holds
        each factor that counted with its points, in the order of `weights`, so the trace shows
        the sum.

    Raises:
        InvalidArgument: a factor that has no declared points.
    """
    unknown = sorted(set(factors) - set(weights.points))
    if unknown:
        raise InvalidArgument(
            "factors", found=unknown, want="among " + ", ".join(sorted(weights.points))
        )
    counted = tuple(
        (name, points * int(factors[name]))
        for name, points in weights.points.items()
        if int(factors.get(name, 0))
    )
    score = sum(points for _, points in counted)
    return Route(
        role="writer" if score >= weights.threshold else "mechanic",
        score=score,
        factors=counted,
        veil=veil,
        exempt=exempt,
    )
