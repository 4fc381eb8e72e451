"""What search is made of: words and vectors of chunks, and the log that snapshots follow."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
)

from bedside.storage.tables.base import metadata

__all__ = ["chunk_vector", "chunk_words", "knowledge_change"]

chunk_words = Table(
    "chunk_words",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("chunk", String, primary_key=True),
    Column("length", Integer, nullable=False),  # words, stop words aside
    Column("data", LargeBinary, nullable=False),  # knowledge.words: stems with their counts
    ForeignKeyConstraint(["tenant", "chunk"], ["chunk.tenant", "chunk.id"], ondelete="CASCADE"),
)

chunk_vector = Table(
    "chunk_vector",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("chunk", String, primary_key=True),
    Column("model", String, primary_key=True),  # Embedder.id
    Column("window", Integer, primary_key=True),  # 0-based; long chunks have several
    Column("data", LargeBinary, nullable=False),  # float32, little-endian, norm 1
    ForeignKeyConstraint(["tenant", "chunk"], ["chunk.tenant", "chunk.id"], ondelete="CASCADE"),
)

knowledge_change = Table(
    "knowledge_change",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("tenant", String, nullable=False),
    Column("source", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("what", String, nullable=False),  # words | ready | marked | gone
    Index("ix_knowledge_change_tenant", "tenant", "seq"),
    sqlite_autoincrement=True,  # a number is never used twice, also after a removal
)
