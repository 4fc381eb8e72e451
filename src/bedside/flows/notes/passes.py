"""Which chunks go into which call: all into one, or as few passes as fit, along sections. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.core.context import Block, Count, Item
from bedside.core.errors import BudgetTooSmall
from bedside.core.source import Source, Span
from bedside.flows.notes.note import Note
from bedside.flows.notes.prompts import Prompt
from bedside.language.note_chunks import NoteChunk

__all__ = ["Pass", "blocks_of", "chunk_item", "passes"]

Pass = tuple[NoteChunk, ...]
_FENCE = 60
"""Tokens around a chunk: its fences with title, section and place, on the safe side."""
_TITLE = "Clinical note"


def passes(note: Note, *, room: int, count: Count) -> tuple[Pass, ...]:
    """Cut a note's chunks into runs that fit.

    Args:
        note: The note.
        room: Tokens that the chunks of one call may take.
        count: The session's counter.

    Returns:
        One run where all fit. Else sections are kept whole where they fit, in order; a section that
        does not fit alone is cut between its chunks.

    Raises:
        BudgetTooSmall: one chunk alone does not fit.
    """
    sizes = {
        chunk.id: count(note.text[chunk.start : chunk.end]) + _FENCE + 2 * count(chunk.section)
        for chunk in note.chunks
    }
    largest = max(sizes.values(), default=0)
    if largest > room:
        raise BudgetTooSmall(needed=largest, available=room, blocks={"one chunk": largest})
    found: list[Pass] = []
    held: list[NoteChunk] = []
    left = room
    for section in _by_section(note.chunks):
        size = sum(sizes[chunk.id] for chunk in section)
        if size > left and held and size <= room:
            found.append(tuple(held))
            held, left = [], room
        for chunk in section:
            if sizes[chunk.id] > left:
                found.append(tuple(held))
                held, left = [], room
            held.append(chunk)
            left -= sizes[chunk.id]
    if held:
        found.append(tuple(held))
    return tuple(found)


def _by_section(chunks: Sequence[NoteChunk]) -> list[list[NoteChunk]]:
    found: list[list[NoteChunk]] = []
    last_end = -1
    for chunk in chunks:
        if found and found[-1][-1].section == chunk.section and chunk.start < last_end:
            found[-1].append(chunk)
        else:
            found.append([chunk])
        last_end = chunk.end
    return found


def chunk_item(note: Note, chunk: NoteChunk) -> Item:
    """A chunk as the model sees it: its header derived, its text quotable."""
    source = Source(
        id=note.source.id,
        revision=note.source.revision,
        kind="note",
        title=_TITLE,  # a file's name may hold a person's
        section=chunk.section,
        dated=note.source.dated,
    )
    return Item(
        note.text[chunk.start : chunk.end],
        key=chunk.id,
        span=Span(source=source, start=chunk.start, end=chunk.end),
        note=f"## {chunk.section} ({chunk.id}, chars {chunk.start}-{chunk.end})",
    )


def blocks_of(prompt: Prompt, data: dict[str, tuple[Item, ...]]) -> tuple[Block, ...]:
    """A template as blocks: our words before its first variable go into the cached prefix."""
    made: list[Block] = []
    for index, piece in enumerate(prompt.pieces):
        if index % 2:
            made.append(Block(piece, data[piece], zone="middle", protected=True, priority=90))
        elif piece.strip():
            first = index == 0
            made.append(
                Block(
                    "instructions" if first else f"instructions {index}",
                    Item(piece.strip(), key=f"{prompt.name}@{prompt.version}"),
                    slot="system" if first else "tail",
                    zone="primacy" if first else "middle",
                    stability="static" if first else "turn",
                    protected=True,
                    priority=100,
                    trust="ours",
                )
            )
    return tuple(made)
