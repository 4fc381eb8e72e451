"""How far a case is: the weighted completeness, its band, and what drives it (IN-15). Pure."""

from __future__ import annotations

from typing import Literal

from bedside.core.value import value
from bedside.sop.contract import Contract
from bedside.sop.state import State

__all__ = ["GREEN", "WEIGHTS", "YELLOW", "Readiness", "readiness"]

WEIGHTS = {
    "demographics": 20, "procedure": 25, "medical": 30, "financial": 10, "documents": 15,
}  # fmt: skip
"""Percent of the score by part; they sum to 100."""
GREEN, YELLOW = 80, 50
GENERIC_MOST = 49


@value
class Readiness:
    """`score` is in [0, 100]; `drivers` name the parts that lower it, the heaviest first."""

    band: Literal["green", "yellow", "red"]
    score: int
    drivers: tuple[str, ...]


def readiness(contract: Contract, state: State) -> Readiness:
    """The readiness of a case. A case without a procedure's contract is never complete."""
    shares = contract.completeness(state)
    score = round(sum(WEIGHTS[part] * shares[part] for part in WEIGHTS))
    lost = sorted(((WEIGHTS[part] * (1 - shares[part]), part) for part in WEIGHTS), reverse=True)
    drivers = [f"{part}: {shares[part]:.0%} known" for by, part in lost if by > 0]
    if contract.generic:
        score = min(score, GENERIC_MOST)
        drivers.insert(0, "procedure: none with a contract")
    band: Literal["green", "yellow", "red"] = (
        "green" if score >= GREEN else "yellow" if score >= YELLOW else "red"
    )
    return Readiness(band=band, score=score, drivers=tuple(drivers))
