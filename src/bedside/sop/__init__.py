"""SOP contracts for intake: what a procedure needs to be known, and what a case still lacks."""

from __future__ import annotations

from bedside.sop.contract import Contract
from bedside.sop.state import State

__all__ = ["Contract", "State"]
