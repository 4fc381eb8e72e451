"""The guardrails' prompt texts, and which flow uses which (EN-G4). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = ["IDS", "SETS", "Country", "GuardId", "Rule", "country", "guardrail_text", "rules"]

GuardId = Literal[
    "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G11", "G12", "G13"
]  # fmt: skip
IDS: tuple[GuardId, ...] = (
    "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G11", "G12", "G13",
)  # fmt: skip
SETS: dict[str, tuple[GuardId, ...]] = {
    "copilot": IDS,
    "briefing": ("G1", "G2", "G5", "G6", "G7", "G8", "G10", "G11", "G12", "G13"),
    "notes": ("G1", "G2", "G8", "G10"),
    "companion": ("G4", "G6", "G7"),
    "intake": ("G4", "G6", "G7"),
}
"""The guardrails of each application, in order."""


@value
class Rule:
    """One guardrail. `text` is its prompt text; `check` is True where a machine checks answers."""

    id: GuardId
    title: str
    text: str
    check: bool
    patient_only: bool = False
    without_patient: str = ""


@value
class Country:
    """Whose guidance counts, in order, and the references for doses and interactions."""

    code: str
    authorities: tuple[str, ...]
    references: tuple[str, ...]


def _load(name: str) -> dict[str, Any]:
    path = files("bedside.grounding.guardrails").joinpath(name)
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def rules() -> tuple[Rule, ...]:
    """All thirteen, in order."""
    rows = _load("rules.yaml")
    return tuple(
        Rule(
            id=name,
            title=row["title"],
            text=row["text"],
            check=row["check"],
            patient_only=row.get("patient_only", False),
            without_patient=row.get("without_patient", ""),
        )
        for name in IDS
        for row in (rows[name],)
    )


def country(code: str) -> Country:
    """The references of a country (ISO 3166-1 alpha-2, any case); "INT" where it is not known."""
    rows = _countries()
    return rows.get(code.upper(), rows["INT"])


@cache
def _countries() -> dict[str, Country]:
    return {
        code: Country(
            code=code,
            authorities=tuple(row["authorities"]),
            references=tuple(row["references"]),
        )
        for code, row in _load("countries.yaml").items()
    }


def guardrail_text(
    flow: str = "copilot",
    *,
    patient: bool = True,
    at: str = "INT",
    ids: Sequence[GuardId] | None = None,
) -> str:
    """The guardrails of a flow as prompt text: static for a country and a mode.

    Args:
        flow: A key of `SETS`.
        patient: With a patient; without one, patient-only rules are left out.
        at: The country whose authorities and references are named.
        ids: These instead of the flow's set.

    Raises:
        InvalidArgument: the flow has no set and `ids` is not given.
    """
    if ids is None and flow not in SETS:
        raise InvalidArgument("flow", found=flow, want="one of " + ", ".join(SETS))
    chosen = SETS[flow] if ids is None else tuple(ids)
    place = country(at)
    lines: list[str] = []
    for rule in rules():
        if rule.id not in chosen or (rule.patient_only and not patient):
            continue
        text = rule.text if patient or not rule.without_patient else rule.without_patient
        text = text.replace("{authorities}", ", ".join(place.authorities))
        text = text.replace("{references}", ", ".join(place.references))
        lines.append(f"{rule.id} {rule.title}. {text}")
    return "\n".join(lines)
