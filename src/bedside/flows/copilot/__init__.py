"""The copilot: pure declarations over the turn, with its prompts and data."""

from __future__ import annotations

from bedside.flows.copilot.flow import COPILOT

__all__ = ["COPILOT"]
