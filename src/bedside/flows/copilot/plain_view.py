"""The patient's own view of an answer: what a result means in everyday words (CO-10). Pure."""

from __future__ import annotations

from bedside.core.turn import Draft
from bedside.flows.copilot.plan import Nothing
from bedside.flows.flow import View

__all__ = ["in_plain_words"]


def in_plain_words(view: View[Nothing], draft: Draft) -> Draft:
    """The draft as it is for a clinician."""
    del view
    return draft
