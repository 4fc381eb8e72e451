"""The audit trail: append-only and hash-chained, one chain per tenant."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, String, Table

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["audit"]

audit = Table(
    "audit",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("seq", Integer, primary_key=True),  # from 1, without gaps
    Column("at", UtcTime, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),  # read | write | export | erase | grant | ...
    Column("patient", String),
    Column("session", String),
    Column("purpose", String, nullable=False, default=""),
    Column("previous", String, nullable=False),  # hash of entry seq - 1; "" for the first
    Column("hash", String, nullable=False),
    Index("ix_audit_patient", "tenant", "patient"),
)
