"""A flow's budget in the window of the model that is asked. Pure."""

from __future__ import annotations

from dataclasses import replace

from bedside.core.context import Budget

__all__ = ["narrowed"]

_ANSWER = 4
"""What may be written gives way first, but keeps one part in so many of the window."""


def narrowed(budget: Budget, *, window: int | None = None, beside: int = 0) -> Budget:
    """The budget with `beside` tokens more set aside, so that prompt and answer fit `window`.

    What may be written gives way first, down to a quarter of the window; then the limit, and with
    it, by the same share, `loop`, the `soft` threshold and pools given in tokens.

    Args:
        budget: What the flow declares.
        window: The model's context window in tokens; `None` where no model's bounds it.
        beside: Tokens of what goes with every call beside the messages: tool schemas, the answer's.
    """
    made = replace(budget, overhead=budget.overhead + beside)
    if window is None or budget.limit + budget.output <= window:
        return made
    output = max(min(budget.output, window // _ANSWER), min(budget.output, window - budget.limit))
    limit = min(budget.limit, max(window - output, 1))
    share = limit / budget.limit
    return replace(
        made,
        limit=limit,
        output=output,
        loop=int(budget.loop * share),
        soft=(int(budget.soft[0] * share), budget.soft[1]) if budget.soft else None,
        pools=tuple(
            replace(pool, tokens=int(pool.tokens * share)) if pool.tokens else pool
            for pool in budget.pools
        ),
    )
