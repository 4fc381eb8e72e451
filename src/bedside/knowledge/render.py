"""Hits as the text that a model reads and as the JSON that the command prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from bedside.knowledge.needs import Hit, Hits

__all__ = ["EMPTY", "as_json", "render"]

EMPTY = "No relevant guidelines found."


def render(hits: Sequence[Hit], *, numbers: Mapping[str, int] | None = None) -> str:
    """The `<clinical_guidelines>` element with a `<source>` for each hit.

    Args:
        hits: In the order to be shown.
        numbers: Source number by chunk id, where numbering runs over several searches; the ranks
            count otherwise.

    Returns:
        Text whose every `<`, `>`, `&` and quote from a document is escaped. Without hits the element
        holds one sentence that says so. `score` is the cosine where there is one, else the fused
        score, to two decimals.
    """
    if not hits:
        return f"<clinical_guidelines>\n{EMPTY}\n</clinical_guidelines>"
    parts: list[str] = []
    for hit in hits:
        number = (numbers or {}).get(hit.chunk_id, hit.rank)
        score = hit.score if hit.similarity is None else hit.similarity
        title = escape(hit.span.source.title, quote=True)
        section = escape(hit.span.source.section, quote=True)
        body = escape(hit.text, quote=False)
        parts.append(
            f'<source id="{number}" document="{title}" section="{section}" score="{score:.2f}">\n'
            f"{body}\n</source>"
        )
    return "<clinical_guidelines>\n" + "\n".join(parts) + "\n</clinical_guidelines>"


def as_json(hits: Hits) -> dict[str, object]:
    """What `bedside search --json` prints; offsets are code points, half-open."""
    return {
        "hits": [
            {
                "rank": hit.rank,
                "score": round(hit.score, 4),
                "document_id": str(hit.span.source.id),
                "document": hit.span.source.title,
                "section": hit.span.source.section,
                "chunk_id": hit.chunk_id,
                "start": hit.span.start,
                "end": hit.span.end,
                "text": hit.text,
                "prefix": hit.prefix,
                "similarity": None if hit.similarity is None else round(hit.similarity, 4),
                "lexical": None if hit.lexical is None else round(hit.lexical, 4),
                "revision": hit.span.source.revision,
                "superseded": hit.span.source.superseded,
                "published": hit.span.source.dated.isoformat() if hit.span.source.dated else None,
                "via": hit.via,
            }
            for hit in hits.hits
        ],
        "removed_by_filter": dict(hits.removed_by_filter),
        "degraded": list(hits.degraded),
        "why_empty": hits.why_empty,
    }
