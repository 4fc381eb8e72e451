"""What was read in the documents that came with an intake case."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKeyConstraint, Index, Integer, String, Table, Text

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["upload"]

upload = Table(
    "record_upload",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),  # of its row in record_document
    Column("patient", String, nullable=False),  # the case
    Column("contract", String, nullable=False),  # whose schema it is read by
    Column("named", String, nullable=False, default=""),  # document type by the file's name
    Column("type", String, nullable=False, default=""),  # by its content; "": not read yet
    Column("label", String, nullable=False, default=""),
    Column("why", String, nullable=False, default=""),  # record.uploads.Why
    Column("findings", Text, nullable=False, default="{}"),  # JSON by name, with spans
    Column("by", String, nullable=False, default=""),  # "rule", or the model that looked at it
    Column("job", String, nullable=False, default=""),  # id in `job` of the present try
    Column("pages", Integer, nullable=False),
    Column("picture", Integer, nullable=False),  # 1: read by OCR
    Column("seconds", Float),  # what reading took; NULL: not read
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    ForeignKeyConstraint(["tenant", "id"], ["record_document.tenant", "record_document.id"]),
    Index("ix_record_upload_case", "tenant", "patient"),
)
