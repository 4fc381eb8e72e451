"""What the inspect page shows of a receipt and of a trace, in words and widths. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bedside.grounding.guardrails.texts import rules

__all__ = ["guardrails", "of", "said"]

_LETTERS = {"primacy": "P", "middle": "M", "recency": "R"}


def of(
    receipt: Mapping[str, Any] | None, before: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """A receipt with each block's place in the bar and its change since the turn before.

    `x` and `width` are tokens: the bar is as wide as the limit. `change` is `None` where there is no
    turn before, or that one had no such block.
    """
    if not receipt:
        return None
    old = {block["name"]: block["given"] for block in before["blocks"]} if before else {}
    most = max((max(b["wanted"], b["given"]) for b in receipt["blocks"]), default=0) or 1
    at = 0
    blocks: list[dict[str, Any]] = []
    for block in receipt["blocks"]:
        blocks.append(
            {
                **block,
                "x": at,
                "letter": _LETTERS.get(block["zone"], "?"),
                "share_given": round(100 * block["given"] / most, 1),
                "share_wanted": round(100 * block["wanted"] / most, 1),
                "change": block["given"] - old[block["name"]] if block["name"] in old else None,
            }
        )
        at += block["given"]
    gone = [name for name in old if name not in {block["name"] for block in receipt["blocks"]}]
    return {**receipt, "blocks": blocks, "compared": bool(before), "gone": gone}


def guardrails() -> dict[str, str]:
    """The title of each guardrail by its id."""
    return {rule.id: rule.title for rule in rules()}


def said(found: Any) -> str:
    """A value of a trace in words; never as a program writes it."""
    if found is None:
        return "not known"
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, float):
        return f"{found:.1f}"
    if isinstance(found, Mapping):
        return (
            ", ".join(f"{str(name).replace('_', ' ')} {said(one)}" for name, one in found.items())
            or "none"
        )
    if isinstance(found, list | tuple):
        return ", ".join(said(one) for one in found) or "none"
    return str(found)
