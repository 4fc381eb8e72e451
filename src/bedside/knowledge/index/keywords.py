"""The fields by which an index filters, in the one form that `knowledge.filters` compares."""

from __future__ import annotations

from datetime import date

from bedside.core.value import value
from bedside.knowledge.filters import fold
from bedside.knowledge.index.entry import Document
from bedside.knowledge.needs import Filters

__all__ = ["Asked", "Keywords", "asked_of", "keywords_of"]


@value
class Keywords:
    """Of one document, folded. Absent fields are empty or `None`, and pass no filter."""

    specialty: str
    type: str
    conditions: tuple[str, ...]
    drugs: tuple[str, ...]
    published: date | None


@value
class Asked:
    """What a search asks of each field, folded; `None` asks nothing."""

    specialty: str | None
    type: str | None
    condition: str | None
    drug: str | None
    document: str | None
    since: date | None


def keywords_of(document: Document) -> Keywords:
    """A document's fields."""
    return Keywords(
        specialty=fold(document.specialty),
        type=fold(document.type),
        conditions=tuple(sorted({fold(name) for name in document.conditions})),
        drugs=tuple(sorted({fold(name) for name in document.drugs})),
        published=document.dated,
    )


def asked_of(filters: Filters) -> Asked:
    """A search's filters."""

    def folded(name: str | None) -> str | None:
        return None if name is None else fold(name)

    return Asked(
        specialty=folded(filters.specialty),
        type=folded(filters.type),
        condition=folded(filters.condition),
        drug=folded(filters.drug),
        document=filters.document,
        since=filters.since,
    )
