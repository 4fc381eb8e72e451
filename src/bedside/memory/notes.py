"""What a clinician asks to have remembered about the work: "Remember that I prefer mmol/mol." Pure.

A note is about how the clinician works and never about a patient: what names one, or speaks of one,
is refused. A note said in a patient's conversation is kept under that patient all the same, so that
no other patient's turn can ever see it.
"""

from __future__ import annotations

import re
from typing import Literal

from bedside.core.value import value
from bedside.language.sentences import sentences

__all__ = ["MOST_NOTES", "Noted", "read_note"]

MOST_NOTES = 20
_LONGEST = 200
_ASKED = re.compile(
    r"^(?:please\s+)?(?:remember|keep in mind|note for (?:next time|later|the future))\b(?:\s+that\b)?[:,]?\s+(?=\S)",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"^(?:from now on|in (?:the )?future|for next time)[,:]?\s+\S"
    r"|^(?:please\s+)?(?:always|never)\s+(?:show|give|write|list|use|put|cite|start|begin|include|mention)\b"
    r"|^I\s+(?:always\s+|usually\s+|generally\s+)?prefer\b",
    re.IGNORECASE,
)
_OF_SOMEBODY = re.compile(
    r"\b(?:he|she|him|her|hers|his|the patient|this patient|that patient|my patient|patient's|"
    r"Mr|Mrs|Ms|Miss|MRN|DOB|born|ward \d+|bed \d+)\b\.?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{4,}|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}")


@value
class Noted:
    """A note at `text[start:end]` of the message, or why the message holds none that may be kept."""

    start: int = 0
    end: int = 0
    why: Literal["", "about a patient", "too long"] = ""


def read_note(text: str) -> Noted | None:
    """The first sentence that asks to be remembered; `None` where none does."""
    for start, end in sentences(text) or [(0, len(text))]:
        said = text[start:end]
        asked = _ASKED.match(said)
        if asked is None and _LASTING.match(said) is None:
            continue
        if said.rstrip().endswith("?"):
            continue
        if _OF_SOMEBODY.search(said) or _NUMBERED.search(said):
            return Noted(why="about a patient")
        if end - start > _LONGEST:
            return Noted(why="too long")
        return Noted(start=start + (asked.end() if asked else 0), end=end)
    return None
