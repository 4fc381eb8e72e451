"""Tombstones: that a patient was erased, and nothing of whom."""

from __future__ import annotations

from sqlalchemy import Column, String, Table

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["erasure"]

erasure = Table(
    "erasure",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),  # random: an erasure is one event, also a second one
    Column("patient", String, nullable=False),  # storage.secret.reference: a keyed hash
    Column("actor", String, nullable=False),
    Column("at", UtcTime, nullable=False),
)
