"""What the knowledge room can be asked, and what comes back."""

from __future__ import annotations

from datetime import date
from typing import Literal

from bedside.core.source import Span
from bedside.core.turn import Need
from bedside.core.value import value

__all__ = ["Filters", "Hit", "Hits", "SearchNeed"]

Retriever = Literal["hybrid", "lexical", "dense"]


@value
class Filters:
    """Filters apply before ranking; `None` does not filter."""

    specialty: str | None = None
    type: str | None = None
    condition: str | None = None
    drug: str | None = None
    document: str | None = None
    since: date | None = None


@value
class Hit:
    """One passage. `text` equals the stored text at `span`; `rank` is from 1.

    `score` is the fused score, higher is better; `similarity` is cosine in [-1, 1] and `lexical` the
    BM25 score, `None` where that retriever did not return it. `via` is "search" or "bulk".
    """

    chunk_id: str
    span: Span
    text: str
    prefix: str
    rank: int
    score: float
    similarity: float | None = None
    lexical: float | None = None
    via: str = "search"
    tokens: int | None = None


@value
class Hits:
    """Passages, best first. `why_empty` says why there is none; `removed_by_filter` counts chunks.

    `degraded` names what did not serve ("vectors not ready: 3 documents", "dense timed out"). `read_as`
    holds the query's misspelt words, each with the library's word that was searched for instead;
    `in_no_passage` its words that nothing searched holds, nor holds another name of.
    """

    hits: tuple[Hit, ...] = ()
    why_empty: str = ""
    removed_by_filter: tuple[tuple[str, int], ...] = ()
    degraded: tuple[str, ...] = ()
    read_as: tuple[tuple[str, str], ...] = ()
    in_no_passage: tuple[str, ...] = ()


@value
class SearchNeed(Need[Hits]):
    """Search shared knowledge, or the patient's own documents (scope comes from the grant)."""

    query: str
    corpus: Literal["knowledge", "documents"]
    limit: int = 5
    filters: Filters = Filters()
    retriever: Retriever = "hybrid"
    selected: tuple[str, ...] = ()
    """Documents that the user selected: always represented, by bulk text if search misses them."""
    fresh: tuple[str, ...] = ()
    """Documents attached for this turn: always represented by their most relevant passages."""
