"""The two written forms of a citation, parsed strictly (EN-G1). Pure.

`[3]` names a numbered source. `ASSESSMENT section, chunk_3:120-164` names exact characters of a
note. What is nearly one of them is none: a reader must never see a citation that was guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["ChunkCitation", "ChunkPlace", "Marker", "Problem", "markers", "parse_chunk", "problems"]

Problem = Literal[
    "unknown_section", "unknown_chunk", "section_mismatch", "empty_span", "span_outside_chunk"
]

_MARKER = re.compile(r"\[([1-9]\d{0,3})\]")
_CHUNK = re.compile(
    r"(?P<section>\S(?:[^\n]*\S)?) section, (?P<chunk>chunk_(?:0|[1-9]\d*)):"
    r"(?P<start>0|[1-9]\d*)-(?P<end>0|[1-9]\d*)"
)


@value
class Marker:
    """`[n]` at `text[start:end]`; n is at least 1."""

    n: int
    start: int
    end: int


@value
class ChunkCitation:
    """Characters `[start, end)` of a note, in a chunk of a section. Not yet checked."""

    section: str
    chunk: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.section} section, {self.chunk}:{self.start}-{self.end}"


@value
class ChunkPlace:
    """Where a chunk stands in its note: section title as written, `[start, end)` code points."""

    section: str
    start: int
    end: int


def markers(text: str) -> tuple[Marker, ...]:
    """Every `[n]` of `text`, in order; "[03]", "[1-3]" and "[1, 2]" are none."""
    return tuple(
        Marker(n=int(match[1]), start=match.start(), end=match.end())
        for match in _MARKER.finditer(text)
    )


def parse_chunk(text: str) -> ChunkCitation:
    """Read `SECTION section, chunk_N:start-end`; nothing may stand before or after it.

    Raises:
        BadInput: the text has another form.
    """
    match = _CHUNK.fullmatch(text)
    if match is None:
        raise BadInput(
            "citation",
            why="it is not of the form 'SECTION section, chunk_N:start-end'",
            do="Write the section title as it stands, one chunk id, and one span.",
        )
    return ChunkCitation(
        section=match["section"],
        chunk=match["chunk"],
        start=int(match["start"]),
        end=int(match["end"]),
    )


def problems(citation: ChunkCitation, chunks: Mapping[str, ChunkPlace]) -> tuple[Problem, ...]:
    """What is wrong with a parsed citation, given the note's chunks; empty where nothing is.

    Section titles compare by case. The span must be non-empty and lie inside the chunk.
    """
    found: list[Problem] = []
    if all(place.section != citation.section for place in chunks.values()):
        found.append("unknown_section")
    if citation.start >= citation.end:
        found.append("empty_span")
    place = chunks.get(citation.chunk)
    if place is None:
        return (*found, "unknown_chunk")
    if place.section != citation.section and "unknown_section" not in found:
        found.append("section_mismatch")
    if citation.start < place.start or citation.end > place.end:
        found.append("span_outside_chunk")
    return tuple(found)
