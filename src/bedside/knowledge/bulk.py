"""What is given when search cannot serve: the beginnings of documents, at a sentence's end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, select

from bedside.core.source import Span
from bedside.knowledge.index.rows import source_value
from bedside.knowledge.needs import Hit
from bedside.language.sentences import sentences
from bedside.storage.tables.source import source

__all__ = ["BULK_CHARS", "BULK_DOCUMENTS", "bulk", "cut_at_sentence"]

BULK_CHARS = 12_000
BULK_DOCUMENTS = 10


def bulk(
    connection: Connection,
    *,
    tenant: str,
    patient: str,
    only: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
) -> list[Hit]:
    """The first 12,000 characters of at most 10 documents of a patient, newest first.

    `only` these documents, where given, in its order; `leave_out` are represented already.
    """
    query = (
        select(source)
        .where(
            source.c.tenant == tenant,
            source.c.patient == patient,
            source.c.kind.in_(("document", "note")),
        )
        .order_by(source.c.id, source.c.revision.desc())
    )
    if only is not None:
        query = query.where(source.c.id.in_(list(only)))
    newest: dict[str, Row[Any]] = {}
    for row in connection.execute(query):
        newest.setdefault(row.id, row)
    rows = [row for name, row in newest.items() if name not in leave_out]
    if only is None:
        rows.sort(key=lambda row: (-(row.dated or date.min).toordinal(), row.id))
    else:
        wanted = list(only)
        rows.sort(key=lambda row: wanted.index(row.id))
    found: list[Hit] = []
    for row in rows[:BULK_DOCUMENTS]:
        text: str = row.text
        start = len(text) - len(text.lstrip())
        end = cut_at_sentence(text, start, BULK_CHARS)
        if start < end:
            found.append(
                Hit(
                    chunk_id=f"{row.id}:{row.revision}:bulk",
                    span=Span(source=source_value(row), start=start, end=end),
                    text=text[start:end],
                    prefix="",
                    rank=len(found) + 1,
                    score=0.0,
                    via="bulk",
                )
            )
    return found


def cut_at_sentence(text: str, start: int, most: int) -> int:
    """The end of the last whole sentence within `most` characters of `start`; else of a word."""
    if len(text) - start <= most:
        return len(text.rstrip())
    piece = text[start : start + most]
    spans = sentences(piece)
    if len(spans) > 1:
        return start + spans[-2][1]
    blank = max(piece.rfind(" "), piece.rfind("\n"))
    return start + (blank if blank > 0 else most)
