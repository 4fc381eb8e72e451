"""Passages as the text that a model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["EMPTY", "render"]

EMPTY = "No relevant guidelines found."


def render(hits: Sequence[Mapping[str, Any]]) -> str:
    """The `<clinical_guidelines>` element with a `<source>` for each hit.

    Args:
        hits: As a search answers them, in the order to be shown, each with its source number as `n`.

    Returns:
        Text whose every `<`, `>`, `&` and quote from a document is escaped, so that no text can close
        its element (EN-K8). Without hits the element holds one sentence that says so. `score` is the
        cosine where there is one, else the fused score, to two decimals; bulk text has "none".
    """
    if not hits:
        return f"<clinical_guidelines>\n{EMPTY}\n</clinical_guidelines>"
    parts: list[str] = []
    for hit in hits:
        score = hit["score"] if hit["similarity"] is None else hit["similarity"]
        shown = "none" if score is None else f"{score:.2f}"
        title = escape(hit["document"], quote=True)
        section = escape(hit["section"], quote=True)
        body = escape(hit["text"], quote=False)
        parts.append(
            f'<source id="{hit["n"]}" document="{title}" section="{section}" score="{shown}">\n'
            f"{body}\n</source>"
        )
    return "<clinical_guidelines>\n" + "\n".join(parts) + "\n</clinical_guidelines>"
