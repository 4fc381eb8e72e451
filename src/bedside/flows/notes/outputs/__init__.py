"""A summarised note as JSON, Markdown, a page, or FHIR. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

from bedside.flows.notes.outputs.fhir import to_fhir
from bedside.flows.notes.outputs.markdown import to_markdown
from bedside.flows.notes.outputs.page import to_page

__all__ = ["ENDINGS", "FORMATS", "Format", "rendered", "to_fhir", "to_markdown", "to_page"]

Format = Literal["json", "md", "html", "fhir"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: Mapping[Format, str] = {
    "json": ".json",
    "md": ".md",
    "html": ".html",
    "fhir": ".fhir.json",
}


def rendered(turn: Mapping[str, Any], text: str, form: Format, *, at: datetime) -> str:
    """A turn of the notes flow in one of the formats, with a line break at its end.

    Args:
        turn: As the contract has it.
        text: The note's stored text, which the citations point into.
        form: The format.
        at: When it is rendered; a time zone is needed.
    """
    if form == "md":
        return to_markdown(turn)
    if form == "html":
        return to_page(turn, text)
    body = to_fhir(turn, text, at=at) if form == "fhir" else turn
    return json.dumps(body, ensure_ascii=False, indent=1, default=str) + "\n"
