"""What doors say of texts, and are told of them, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from bedside.knowledge.ingest import Labels
from bedside.knowledge.needs import Hit

__all__ = ["ending_of", "hit_json", "labels_of"]


def labels_of(meta: Mapping[str, Any]) -> Labels:
    """A document's metadata as a door was given it; lists may be separated by commas."""

    def names(key: str) -> tuple[str, ...]:
        given = meta.get(key) or ()
        parts = given.split(",") if isinstance(given, str) else given
        return tuple(part.strip() for part in parts if part.strip())

    published = meta.get("published")
    return Labels(
        id=meta.get("id") or "",
        title=meta.get("title") or "",
        specialty=meta.get("specialty") or "",
        type=meta.get("type") or "",
        conditions=names("conditions"),
        drugs=names("drugs"),
        published=date.fromisoformat(published) if published else None,
        supersedes=meta.get("supersedes") or "",
    )


def hit_json(hit: Hit) -> dict[str, Any]:
    """One passage that a search found."""
    return {
        "rank": hit.rank,
        "score": hit.score if hit.via == "search" else None,  # bulk text is not scored
        "document_id": hit.span.source.id,
        "document": hit.span.source.title,
        "section": hit.span.source.section or hit.prefix.strip("[] "),
        "chunk_id": hit.chunk_id,
        "start": hit.span.start,
        "end": hit.span.end,
        "text": hit.text,
        "date": hit.span.source.dated.isoformat() if hit.span.source.dated else None,
        "superseded": hit.span.source.superseded,
        "similarity": hit.similarity,
        "lexical": hit.lexical,
    }


def ending_of(media_type: str) -> str:
    """The ending of a file of this media type; ".txt" where none is known."""
    return {
        "application/pdf": ".pdf",
        "text/html": ".html",
        "text/markdown": ".md",
        "image/png": ".png",
        "image/jpeg": ".jpg",
    }.get(media_type, ".txt")
