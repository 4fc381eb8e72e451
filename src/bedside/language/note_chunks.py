"""Chunks of a clinical note: ids that are unique in the note, global offsets, one section each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bedside.language.chunks import chunk
from bedside.language.note_sections import NoteSection
from bedside.language.sections import Section

__all__ = ["NoteChunk", "note_chunks"]


class NoteChunk(NamedTuple):
    """`text[start:end]` of the note, code points, no blank at either end; `id` is `chunk_0..n`.

    Its section's heading belongs to the first chunk of the section. Chunks of one section overlap
    by at most 200 characters, beginning at a word.
    """

    id: str
    section: str
    start: int
    end: int


def note_chunks(text: str, sections: Sequence[NoteSection]) -> list[NoteChunk]:
    """Cut a note into chunks.

    Args:
        text: The note.
        sections: As `bedside.language.note_sections` finds them, in order.

    Returns:
        In order of position; together they hold every character that is not blank.
    """
    found: list[NoteChunk] = []
    for section in sections:
        title = section.title
        whole = Section(section.start, section.start, section.end, 1, title, (title,), "label")
        for piece in chunk(text, [whole], profile="note"):
            found.append(NoteChunk(f"chunk_{len(found)}", title, piece.start, piece.end))
    return found
