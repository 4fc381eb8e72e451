"""The index of vectors that the settings name."""

from __future__ import annotations

from importlib import import_module

from bedside.core.errors import MissingExtra
from bedside.knowledge.embed.protocol import Embedder
from bedside.knowledge.index.follow import Follower
from bedside.knowledge.index.protocol import VectorIndex
from bedside.knowledge.near import Outside
from bedside.settings import Settings
from bedside.storage.store import Store

__all__ = ["load_client", "make_index", "make_outside"]


def load_client(settings: Settings) -> None:
    """Import what the index of the settings needs; nothing for memory.

    Raises:
        MissingExtra: It is not installed.
    """
    extras = {"pgvector": "postgres", "qdrant": "qdrant"}
    if settings.vectors == "memory":
        return
    try:
        import_module(f"bedside.knowledge.index.{settings.vectors}")
    except ImportError:
        raise MissingExtra(
            f"BEDSIDE_VECTORS={settings.vectors}", extra=extras[settings.vectors]
        ) from None


def make_index(settings: Settings, store: Store, *, model: str, dim: int) -> VectorIndex | None:
    """The index outside the rows; `None` for memory, which needs none. Nothing is opened yet.

    Raises:
        MissingExtra: The client of the index is not installed.
    """
    load_client(settings)
    if settings.vectors == "memory":
        return None
    if settings.vectors == "pgvector":
        from bedside.knowledge.index.pgvector import PgVectorIndex

        return PgVectorIndex(store, model=model, dim=dim)
    from bedside.knowledge.index.qdrant import QdrantIndex, connect

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
