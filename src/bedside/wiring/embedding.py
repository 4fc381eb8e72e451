"""The embedder that the settings name."""

from __future__ import annotations

import re
from typing import Any

from bedside.core.errors import InvalidArgument
from bedside.settings import Settings

__all__ = ["make_embedder"]

_SERVED = re.compile(r"openai:(.+)@([1-9]\d{0,4})")
_SECONDS = 20.0


def make_embedder(settings: Settings) -> Any:
    """The local model, one of an OpenAI-compatible server on this machine, or `None` for no embeddings.

    Every passage and every question goes to the embedder, patients' own among them, so a server elsewhere
    is refused: what leaves this machine is told for each turn, and embeddings are not told yet.

    Raises:
        InvalidArgument: A kind of embedder that is none, or a server that is not on this machine.
    """
    if settings.embedder == "none":
        return None
    if settings.embedder == "local":
        from bedside.knowledge.embed.minilm import MiniLM

        return MiniLM(cache=settings.cache)
    served = _SERVED.fullmatch(settings.embedder)
    if served is None:
        raise InvalidArgument(
            "BEDSIDE_EMBEDDER",
            found=settings.embedder,
            want="local, none, or openai:MODEL@COLUMNS with OPENAI_BASE_URL on this machine",
        )
    from bedside.models.address import is_loopback

    if not settings.openai_base_url or not is_loopback(settings.openai_base_url):
        raise InvalidArgument(
            "OPENAI_BASE_URL",
            found=settings.openai_base_url,
            want="a server on this machine: patients' texts are embedded there",
        )
    import httpx

    from bedside.knowledge.embed.remote import OpenAIEmbedder

    return OpenAIEmbedder(
        client=httpx.Client(timeout=_SECONDS, follow_redirects=False, trust_env=False),
        base=settings.openai_base_url,
        model=served[1],
        key=settings.openai_api_key or None,
        dim=int(served[2]),
    )
