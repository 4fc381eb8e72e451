"""Danger in what a person writes: heard by one module for every room."""

from __future__ import annotations

from bedside.clinical.danger.hear import Danger, Heard, danger_packs, heard

__all__ = ["Danger", "Heard", "danger_packs", "heard"]
