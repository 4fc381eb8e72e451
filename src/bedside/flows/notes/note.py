"""A note as a turn reads it: its stored text, its sections, its chunks. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from bedside.core.source import Source, Span
from bedside.core.turn import Need
from bedside.core.value import value
from bedside.grounding.cite import ChunkCitation, ChunkPlace, parse_chunk, problems
from bedside.language.note_chunks import NoteChunk, note_chunks
from bedside.language.note_sections import NoteSection, note_sections

__all__ = ["Note", "NoteNeed", "StoredNote"]


@value
class StoredNote:
    """One immutable revision of a note, with its text."""

    source: Source
    text: str


@value
class NoteNeed(Need["Note"]):
    """The note with this source id, inside the grant's scope."""

    note: str


class Note:
    """A stored note, cut into sections and chunks.

    Offsets are code points of the stored text, half-open.
    """

    def __init__(
        self, stored: StoredNote | Note, sections: Iterable[NoteSection] | None = None
    ) -> None:
        self.source, self.text = stored.source, stored.text
        self.sections = tuple(note_sections(stored.text)) if sections is None else tuple(sections)
        self.chunks = tuple(note_chunks(self.text, self.sections))

    @cached_property
    def _ends(self) -> list[int]:
        return [chunk.end for chunk in self.chunks]

    @cached_property
    def by_id(self) -> Mapping[str, NoteChunk]:
        """The chunks by their ids."""
        return {chunk.id: chunk for chunk in self.chunks}

    @cached_property
    def places(self) -> Mapping[str, ChunkPlace]:
        """Where each chunk stands, as the citation check wants it."""
        return {
            chunk.id: ChunkPlace(section=chunk.section, start=chunk.start, end=chunk.end)
            for chunk in self.chunks
        }

    def holder(self, start: int, end: int) -> NoteChunk | None:
        """The first chunk that holds `[start, end)` whole: in an overlap, the lower one."""
        at = bisect_left(self._ends, end)  # chunks end in order
        if at == len(self.chunks) or self.chunks[at].start > start:
            return None
        return self.chunks[at]

    def cite(self, start: int, end: int) -> str | None:
        """The written citation of `[start, end)`; `None` where no chunk holds it whole."""
        chunk = self.holder(start, end)
        if chunk is None or start >= end:
            return None
        cited = ChunkCitation(section=chunk.section, chunk=chunk.id, start=start, end=end)
        return str(cited)

    def span(self, citation: str) -> Span:
        """The span that a citation names.

        Raises:
            BadInput: the citation is of another form.
            ValueError: the citation does not hold in this note.
        """
        read = parse_chunk(citation)
        if problems(read, self.places):
            raise ValueError
        return Span(source=self.source, start=read.start, end=read.end)

    def chunks_json(self) -> list[dict[str, Any]]:
        """The contract's `chunks`."""
        return [
            {"id": c.id, "section_title": c.section, "start": c.start, "end": c.end}
            for c in self.chunks
        ]

    def sections_json(self) -> list[dict[str, Any]]:
        """The contract's answer of `bedside note sections`."""
        return [
            {
                "title": s.title,
                "start": s.start,
                "end": s.end,
                "body": s.body,
                "kind": s.kind,
                "found_by": s.found_by,
            }
            for s in self.sections
        ]
