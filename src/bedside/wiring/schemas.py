"""The contract's JSON Schemas."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal

__all__ = ["schema"]


def schema(name: Literal["patient", "turn"]) -> dict[str, Any]:
    """The schema of a turn, or of the simple patient JSON that `bedside import` reads."""
    if name == "patient":
        from bedside.record.simple import patient_schema

        return patient_schema()
    text = files("bedside.wiring").joinpath("turn.schema.json").read_text(encoding="utf-8")
    return json.loads(text)
