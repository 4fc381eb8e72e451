"""Who listens a second time for danger: the local embedder, and weights made for its vectors."""

from __future__ import annotations

import asyncio
from typing import Any

from bedside.clinical.danger.hints import Hint, HintNeed, hinted, hints_fit
from bedside.core.access import Grant
from bedside.flows.sources import Reader
from bedside.settings import Settings

__all__ = ["hearer", "hears_hints", "why_deaf"]


def why_deaf(settings: Settings, embedder: Any) -> str:
    """Why only the rules listen; "" where hints are heard."""
    if not settings.hints:
        return "hints are switched off (BEDSIDE_HINTS)"
    if embedder is None:
        return "embeddings are switched off"
    if not hints_fit(str(embedder.id)):
        return f"the weights were not made for {embedder.id}"
    return ""


def hears_hints(settings: Settings, embedder: Any) -> bool:
    """Is there somebody who can listen?"""
    return not why_deaf(settings, embedder)


def hearer(embedder: Any) -> Reader:
    """Meets a `HintNeed`: nothing leaves this process."""

    async def hear(need: HintNeed, grant: Grant) -> Hint | None:
        del grant

        def listen() -> Hint | None:
            return hinted(need.text, embedder.embed([need.text], kind="query")[0].tolist())

        return await asyncio.to_thread(listen)

    return hear
