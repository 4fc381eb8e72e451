"""The thirteen guardrails: prompt texts, sets for each flow, and the settings of their checks."""

from __future__ import annotations

from bedside.grounding.guardrails.policy import Guardrails, Policy, guardrails
from bedside.grounding.guardrails.texts import (
    IDS,
    SETS,
    Country,
    GuardId,
    Rule,
    country,
    guardrail_text,
    rules,
)

__all__ = [
    "IDS",
    "SETS",
    "Country",
    "GuardId",
    "Guardrails",
    "Policy",
    "Rule",
    "country",
    "guardrail_text",
    "guardrails",
    "rules",
]
