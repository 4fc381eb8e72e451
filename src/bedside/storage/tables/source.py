"""One table of citable text, in immutable revisions, and its chunks."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Date,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["chunk", "source"]

source = Table(
    "source",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("kind", String, nullable=False),  # core.source.SourceKind
    Column("patient", String),  # None: shared knowledge
    Column("session", String),  # messages only
    Column("title", String, nullable=False),
    Column("section", String, nullable=False, default=""),
    Column("dated", Date),
    Column("superseded", Boolean, nullable=False, default=False),
    Column("sha256", String, nullable=False),
    Column("media_type", String, nullable=False, default="text/plain"),
    Column("meta", Text, nullable=False, default="{}"),  # JSON: EN-K3 fields, facility, file name
    Column("state", String, nullable=False, default="ready"),  # "words" | "ready" (visible states)
    Column("created_at", UtcTime, nullable=False),
    # Last: what stands behind a long text in a SQLite row is only reached by reading through it.
    Column("text", Text, nullable=False),
    Index("ix_source_state", "tenant", "state", "kind", "patient"),
    Index("ix_source_scope", "tenant", "patient", "kind"),
    Index("ix_source_sha", "tenant", "patient", "sha256"),
)

chunk = Table(
    "chunk",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("source", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("patient", String),
    Column("ordinal", Integer, nullable=False),  # 0-based inside its source
    Column("total", Integer, nullable=False),
    Column("section", String, nullable=False, default=""),
    Column("prefix", String, nullable=False, default=""),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("tokens", Integer),  # rendered, under the default tokenizer; None: not yet counted
    ForeignKeyConstraint(
        ["tenant", "source", "revision"],
        ["source.tenant", "source.id", "source.revision"],
        ondelete="CASCADE",
    ),
    Index("ix_chunk_source", "tenant", "source", "revision"),
    Index("ix_chunk_patient", "tenant", "patient"),
)
