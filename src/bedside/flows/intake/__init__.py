"""Intake: a patient's conversation that fills a procedure's contract."""

from __future__ import annotations

from bedside.flows.intake.flow import INTAKE

__all__ = ["INTAKE"]
