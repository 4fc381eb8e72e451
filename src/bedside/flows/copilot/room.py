"""The room in an answer of so many words, and how it is shared out. Pure."""

from __future__ import annotations

import re

from bedside.flows.copilot.tools.sheet import Sheet, words_in

__all__ = [
    "DOCUMENT_SHARE",
    "GUIDELINE_SHARE",
    "HONEST",
    "MOST_GAPS",
    "PRESSING",
    "TAIL",
    "say_if_fits",
    "short_text",
    "words_left",
]


HONEST = "Composed without a model from entries as written; nothing is interpreted."
TAIL = words_in(HONEST)
GUIDELINE_SHARE, DOCUMENT_SHARE = 0.35, 0.25
MOST_GAPS = 3
PRESSING = {"drug", "plan", "medications"}
"""Intents whose answer may lead to a prescription: allergies stand before the rest."""
_CITED_SOURCE = re.compile(r"\s*\(source: .*?\)(?=\.?\s*\Z)", re.DOTALL)


def words_left(sheet: Sheet, limit: int) -> int:
    """How many words are left for anything but the last line."""
    return limit - TAIL - sheet.words


def say_if_fits(line: str, sheet: Sheet, limit: int) -> bool:
    """Add a line where there is room for it; False where there is none."""
    if words_in(line) > words_left(sheet, limit):
        return False
    sheet.say(line)
    return True


def short_text(text: str) -> str:
    """A finding without the citation of its rule, which stands in the insight itself."""
    return _CITED_SOURCE.sub("", text).rstrip(". ") + "."
