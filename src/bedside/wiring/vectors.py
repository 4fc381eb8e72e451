"""The index of vectors that the settings name."""

from __future__ import annotations

from bedside.core.errors import MissingExtra
from bedside.knowledge.embed.protocol import Embedder
from bedside.knowledge.index.follow import Follower
from bedside.knowledge.index.protocol import VectorIndex
from bedside.knowledge.near import Outside
from bedside.settings import Settings
from bedside.storage.store import Store

__all__ = ["make_index", "make_outside"]


def make_index(settings: Settings, store: Store, *, model: str, dim: int) -> VectorIndex | None:
    """The index outside the rows; `None` for memory, which needs none. Nothing is opened yet.

    Raises:
        MissingExtra: The client of the index is not installed.
    """
    if settings.vectors == "memory":
        return None
    if settings.vectors == "pgvector":
        try:
            from bedside.knowledge.index.pgvector import PgVectorIndex
        except ImportError:
            raise MissingExtra("BEDSIDE_VECTORS=pgvector", extra="postgres") from None
        return PgVectorIndex(store, model=model, dim=dim)
    try:
        from bedside.knowledge.index.qdrant import QdrantIndex, connect
    except ImportError:
        raise MissingExtra("BEDSIDE_VECTORS=qdrant", extra="qdrant") from None
    local = "://" not in settings.qdrant
    client = connect(settings.qdrant, key=settings.qdrant_key)
    return QdrantIndex(client, model=model, dim=dim, local=local)


def make_outside(settings: Settings, store: Store, embedder: Embedder | None) -> Outside | None:
    """The index with its follower; `None` where vectors are held in memory, or there are none.

    Raises:
        MissingExtra: As `make_index`.
    """
    if embedder is None:
        return None
    index = make_index(settings, store, model=embedder.id, dim=embedder.dim)
    if index is None:
        return None
    return Outside(
        index,
        Follower(store, index, model=embedder.id),
        model=embedder.id,
        most_in_memory=settings.vectors_in_memory,
    )
