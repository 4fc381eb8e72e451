"""Hard data in the context, where the plan needs clinical reasoning (CO-08). Pure."""

from __future__ import annotations

from bedside.core.context import Block
from bedside.flows.copilot.plan import Nothing
from bedside.flows.flow import View

__all__ = ["hard_blocks"]


def hard_blocks(view: View[Nothing]) -> list[Block]:
    """Specialty guidance, ranges, evidence and textbooks; nothing for a greeting or a look-up."""
    return []
