"""The embedder that the settings name."""

from __future__ import annotations

from typing import Any

from bedside.core.errors import InvalidArgument
from bedside.settings import Settings

__all__ = ["make_embedder"]


def make_embedder(settings: Settings) -> Any:
    """The local model, or `None` where embeddings are switched off.

    Raises:
        InvalidArgument: a kind of embedder that is none.
    """
    kind, _, _model = settings.embedder.partition(":")
    if kind == "none":
        return None
    if kind == "local":
        from bedside.knowledge.embed.minilm import MiniLM

        return MiniLM(cache=settings.cache)
    raise InvalidArgument("BEDSIDE_EMBEDDER", found=settings.embedder, want="local or none")
