"""The evaluator of notes: any vendor's summary and plan against the note they are of (NO-08)."""

from __future__ import annotations

from bedside.grounding.evaluate.evaluate import evaluate_note
from bedside.grounding.evaluate.finding import Finding
from bedside.grounding.evaluate.result import EvaluatedItem, NoteEvaluation

__all__ = ["EvaluatedItem", "Finding", "NoteEvaluation", "evaluate_note"]
