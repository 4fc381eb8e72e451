"""The briefing: pure declarations over the turn, with its prompts."""

from __future__ import annotations

from bedside.flows.briefing.flow import BRIEFING

__all__ = ["BRIEFING"]
