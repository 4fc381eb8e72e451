"""What is given when search cannot serve: the beginnings of texts, cut at a sentence's end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, func, select

from bedside.core.source import Span
from bedside.knowledge.filters import passes
from bedside.knowledge.index.entry import Document
from bedside.knowledge.index.rows import document_of, source_value
from bedside.knowledge.needs import Filters, Hit
from bedside.knowledge.question import Question
from bedside.language.sentences import sentences
from bedside.language.stems import stems
from bedside.storage.tables.source import source

__all__ = [
    "BULK_CHARS",
    "BULK_DOCUMENTS",
    "GUIDELINES",
    "GUIDELINE_CHARS",
    "bulk",
    "bulk_knowledge",
    "cut_at_sentence",
]

BULK_CHARS = 12_000
BULK_DOCUMENTS = 10
GUIDELINES = 2
GUIDELINE_CHARS = 4_000


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


def bulk_knowledge(
    connection: Connection, question: Question, *, tenants: Sequence[str], filters: Filters
) -> list[Hit]:
    """The first 4,000 characters of the at most 2 guidelines that a question names, best first.

    Without an index: a guideline is named by the words that the question shares with its title, its
    conditions and its medicines, synonyms included. One that shares none, that a filter refuses or
    that was superseded does not come, so nothing may come.
    """
    light = [column for column in source.c if column.name != "text"]
    rows = connection.execute(
        select(*light)
        .where(
            source.c.tenant.in_(list(tenants)),
            source.c.patient.is_(None),
            source.c.kind == "guideline",
            source.c.superseded.is_(False),
        )
        .order_by(source.c.tenant, source.c.id, source.c.revision.desc())
    )
    newest: dict[tuple[str, str], tuple[Row[Any], Document]] = {}
    for row in rows:
        newest.setdefault((row.tenant, row.id), (row, document_of(row)))
    known: list[tuple[int, int, int, Row[Any]]] = []
    for row, document in newest.values():
        title = frozenset(stems(document.title))
        labels = frozenset(stems(" ".join((*document.conditions, *document.drugs)))) | title
        shared = sum(1 for group in question.groups if group & labels)
        if shared and passes(document, filters):
            plain = sum(1 for group in question.groups if group & title)
            known.append((-shared, -plain, -(row.dated or date.min).toordinal(), row))
    known.sort(key=lambda found: (*found[:3], found[3].tenant, found[3].id))
    hits: list[Hit] = []
    for *_, row in known[:GUIDELINES]:
        text: str = connection.execute(
            select(func.substr(source.c.text, 1, GUIDELINE_CHARS * 2)).where(
                source.c.tenant == row.tenant,
                source.c.id == row.id,
                source.c.revision == row.revision,
            )
        ).scalar_one()
        start = len(text) - len(text.lstrip())
        end = cut_at_sentence(text, start, GUIDELINE_CHARS)
        if start < end:
            hits.append(
                Hit(
                    chunk_id=f"{row.id}:{row.revision}:bulk",
                    span=Span(source=source_value(row), start=start, end=end),
                    text=text[start:end],
                    prefix="",
                    rank=len(hits) + 1,
                    score=0.0,
                    via="bulk",
                )
            )
    return hits


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
