"""The notes flow: summary, plan and sections of a clinical note, every item traced."""

from __future__ import annotations

from bedside.flows.notes.flow import NOTES
from bedside.flows.notes.note import Note, NoteNeed, StoredNote

__all__ = ["NOTES", "Note", "NoteNeed", "StoredNote"]
