"""Blood pressure, called just "pressure" when illnesses are asked for: high, or no illness. Pure."""

from __future__ import annotations

import re

from bedside.flows.intake.answers import Span, clauses

__all__ = ["is_good", "put_pressure"]

_NO_PRESSURE = re.compile(
    r"\b(?:no|not|never|without|don't|dont|doesn't|haven't|isn't|nor|neither)\b[^.!?;,]{0,30}\bpressure\b|\bpressure\W+(?:no|none|never)\W*$",
    re.IGNORECASE,
)
_GOOD_PRESSURE = re.compile(
    r"\b(?:normal|fine|ok|okay|good|perfect|great|alright|all right)\b", re.IGNORECASE
)
_KEPT_DOWN = re.compile(
    r"\b(?:control\w*|tablets?|pills?|medic\w+|treat\w*|high|with|on|take|takes|yes|not|isn't)\b",
    re.IGNORECASE,
)


def put_pressure(text: str, span: Span, has: dict[str, Span], hasnt: dict[str, Span]) -> None:
    """Put "pressure", said of illnesses, where it belongs: "my pressure is normal" is none."""
    here = next((text[a:b] for a, b in clauses(text) if a <= span[0] < b), text)
    name = "high blood pressure"
    if (_NO_PRESSURE.search(here) and not _GOOD_PRESSURE.search(here)) or (
        _GOOD_PRESSURE.search(here) and not _KEPT_DOWN.search(here)
    ):
        hasnt.setdefault(name, span)
    elif not re.search(r"\blow\b", here, re.IGNORECASE):
        has.setdefault(name, span)


def is_good(text: str, at: int) -> bool:
    """Does the clause there call the pressure normal, and not just kept down by a medicine?"""
    here = next((text[a:b] for a, b in clauses(text) if a <= at < b), text)
    return _GOOD_PRESSURE.search(here) is not None and _KEPT_DOWN.search(here) is None
