"""What a model writes: one JSON envelope, decoded whole and validated (IN-11). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bedside.core.turn import Draft, Quote

__all__ = ["SCHEMA", "Envelope", "EnvelopeDecoder"]

LONGEST_MESSAGE = 4_000
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class Envelope(BaseModel):
    """The envelope. Bytes come in here, so it is checked by Pydantic."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    message: str = Field(min_length=1, max_length=LONGEST_MESSAGE)
    extracted_data: dict[str, Any] = Field(default_factory=dict)
    detected_comorbidities: tuple[str, ...] = ()
    phase_complete: bool = False
    suggested_next: str | None = None


SCHEMA: dict[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "message", "extracted_data", "detected_comorbidities", "phase_complete", "suggested_next",
    ],
    "properties": {
        "message": {"type": "string"},
        "extracted_data": {"type": "object"},
        "detected_comorbidities": {"type": "array", "items": {"type": "string"}},
        "phase_complete": {"type": "boolean"},
        "suggested_next": {"type": ["string", "null"]},
    },
}  # fmt: skip


class EnvelopeDecoder:
    """Decodes the envelope when it is whole. Implements `bedside.core.turn.Decoder`.

    What is no envelope gives an empty draft with the payload `None`; its text is never shown.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take more of the stream; nothing is certain before the end."""
        self._parts.append(delta)
        return ()

    def finish(self) -> Draft:
        """The message as the draft's text, the envelope as its payload."""
        found = _read("".join(self._parts))
        if found is None:
            return Draft(text="", by="model", payload=None)
        return Draft(text=" ".join(found.message.split()), by="model", payload=found)


def _read(text: str) -> Envelope | None:
    match = _OBJECT.search(text)
    if match is None:
        return None
    try:
        return Envelope.model_validate(json.loads(match.group()))
    except (ValueError, ValidationError, RecursionError):
        return None
