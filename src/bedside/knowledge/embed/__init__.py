"""Text to unit vectors: the local model, remote ones, and the protocol they share."""

from __future__ import annotations

from bedside.knowledge.embed.protocol import Embedder, Kind

__all__ = ["Embedder", "Kind"]
