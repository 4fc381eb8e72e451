"""Quotes found in stored text, claims held against it, answers released in checked units.

Pure: values in, values out. `resolve` and `check` need nothing but text.
"""

from __future__ import annotations

from bedside.grounding.check import CheckedClaim, Report, check
from bedside.grounding.cite import ChunkCitation, ChunkPlace, Marker, markers, parse_chunk, problems
from bedside.grounding.evaluate import EvaluatedItem, NoteEvaluation, evaluate_note
from bedside.grounding.gate import AnswerGate, gate_for
from bedside.grounding.guardrails import (
    Guardrails,
    Policy,
    guardrail_text,
    guardrails,
)
from bedside.grounding.prose import Prose, prompt_text
from bedside.grounding.resolve import Ambiguous, NotFound, Resolution, Resolved, resolve
from bedside.grounding.source import SourceText

__all__ = [
    "Ambiguous",
    "AnswerGate",
    "CheckedClaim",
    "ChunkCitation",
    "ChunkPlace",
    "EvaluatedItem",
    "Guardrails",
    "Marker",
    "NotFound",
    "NoteEvaluation",
    "Policy",
    "Prose",
    "Report",
    "Resolution",
    "Resolved",
    "SourceText",
    "check",
    "evaluate_note",
    "gate_for",
    "guardrail_text",
    "guardrails",
    "markers",
    "parse_chunk",
    "problems",
    "prompt_text",
    "resolve",
]
