"""Summary and plan as values, and as the contract's JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from bedside.core.value import value

__all__ = [
    "PARTS",
    "TITLES",
    "Part",
    "Recommendation",
    "Statement",
    "plan_json",
    "summary_json",
    "to_check",
]

Part = Literal[
    "patient_snapshot",
    "key_problems",
    "pertinent_history",
    "medicines_allergies",
    "objective_findings",
    "labs_imaging",
    "assessment",
]
PARTS: tuple[Part, ...] = get_args(Part)
TITLES: Mapping[Part, str] = {
    "patient_snapshot": "Patient snapshot",
    "key_problems": "Key problems",
    "pertinent_history": "Pertinent history",
    "medicines_allergies": "Medicines and allergies",
    "objective_findings": "Objective findings",
    "labs_imaging": "Labs and imaging",
    "assessment": "Assessment",
}
SURE = 0.8
"""Below this confidence a recommendation carries a guard note."""


@value
class Statement:
    """One fact of the summary.

    `source` is `SECTION section, chunk_N:start-end`; the cited words stand at `[start, end)`.
    `about` is the note's own heading over them ("Hypertension"), where they do not say what they
    are about.
    """

    part: Part
    text: str
    source: str
    start: int
    end: int
    about: str | None = None


@value
class Recommendation:
    """One item of the plan; `number` is 1 for the most urgent, `confidence` in [0, 1].

    `guard` says why the reader should look twice; it is there whenever the confidence is below 0.8.
    `about` as in `Statement`.
    """

    number: int
    text: str
    source: str
    start: int
    end: int
    confidence: float
    guard: str | None = None
    about: str | None = None


def summary_json(items: Sequence[Statement]) -> dict[str, list[dict[str, str]]]:
    """The seven arrays, each in the order given; empty is `[]`."""
    return {
        part: [
            {"text": one.text, "source": one.source, **_about(one)}
            for one in items
            if one.part == part
        ]
        for part in PARTS
    }


def _about(one: Statement | Recommendation) -> dict[str, str]:
    return {"about": one.about} if one.about else {}


def plan_json(items: Sequence[Recommendation]) -> dict[str, list[dict[str, Any]]]:
    """The plan, by number."""
    return {
        "recommendations": [
            {
                "number": one.number,
                "recommendation": one.text,
                "source": one.source,
                "confidence": one.confidence,
                "hallucination_guard_note": one.guard,
                **_about(one),
            }
            for one in sorted(items, key=lambda item: item.number)
        ]
    }


def to_check(turn: Mapping[str, Any]) -> list[str]:
    """What the checks flagged and did not mend, in words: allergies that contradict each other, say."""
    return [
        one["detail"]
        for one in turn.get("guardrails") or ()
        if one["outcome"] == "flagged" and one["detail"]
    ]
