"""The hint of each response mode, as the prompt has it."""

from __future__ import annotations

from typing import Literal

__all__ = ["HINTS", "Mode"]

Mode = Literal["casual", "default", "synopsis", "plan", "broad", "detail"]

HINTS: dict[Mode, str] = {
    "casual": "Answer in one or two plain sentences, at most 60 words.",
    "default": (
        "Headline first: the answer itself in one sentence. Then the few cited facts that carry it, "
        "most relevant first. At most 120 words."
    ),
    "synopsis": (
        "A one-liner (age, sex, main problems), then problems, medicines, key results and what is open. "
        "At most 150 words."
    ),
    "plan": (
        "Headline first. Then options as a short list, each with its reason and citation, what speaks "
        "against it in this patient, and what to check before. At most 250 words."
    ),
    "broad": "Headline first, then one short paragraph per aspect, each cited. At most 300 words.",
    "detail": "Headline first, then the evidence step by step, each step cited. At most 400 words.",
}
