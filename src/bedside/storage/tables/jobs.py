"""Durable work, and the catalogue of hot data."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, String, Table, Text

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["catalogue", "job", "meta"]

job = Table(
    "job",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("patient", String),
    Column("session", String),  # erased with the session
    Column("turn", String),  # the turn whose commit wrote it; None where a door did
    Column("payload", Text, nullable=False, default="{}"),  # JSON of ids, never content
    Column("state", String, nullable=False),  # queued | running | done | failed
    Column("attempts", Integer, nullable=False, default=0),
    Column("error", String),  # the error's type, never its text
    Column("owner", String),
    Column("lease_until", UtcTime),
    Column("run_after", UtcTime, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Index("ix_job_queue", "state", "run_after"),
    Index("ix_job_turn", "tenant", "turn"),
)

catalogue = Table(
    "catalogue",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("kind", String, primary_key=True),  # prompt | price | sop | flag | pack
    Column("key", String, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("epoch", Integer, nullable=False),  # of the tenant, when this version became live
    Column("body", Text, nullable=False),
    Column("by", String, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index("ix_catalogue_epoch", "tenant", "epoch"),
)

meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
