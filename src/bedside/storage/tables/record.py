"""Patients, their record entries as facts, the resources as received, and their documents."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Date,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["directory", "document", "entry", "patient", "resource"]

patient = Table(
    "patient",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("name_key", String, nullable=False),  # case-folded, for finding
    Column("birth_date", Date),
    Column("sex", String, nullable=False, default=""),
    Column("deceased", String),  # ISO date, "yes", "no"; NULL: not recorded
    Column("identifiers", Text, nullable=False, default="[]"),  # JSON array, hospital numbers
    Column("revision", Integer, nullable=False),  # counts imports that changed something
    Column("as_of", UtcTime),  # newest moment in the record
    Column("updated_at", UtcTime, nullable=False),
    Index("ix_patient_name", "tenant", "name_key"),
)

entry = Table(
    "record_entry",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("source", String, primary_key=True),  # id in `source`, kind "record"
    Column("revision", Integer, nullable=False),  # the current revision of that source
    Column("patient", String, nullable=False),
    Column("resource", String, nullable=False),  # "Observation/123"
    Column("part", String, nullable=False, default=""),
    Column("category", String, nullable=False),  # record.needs.Category
    Column("when", UtcTime),
    Column("counted", Boolean, nullable=False),  # False: entered in error, refuted, not done
    Column("payload", Text, nullable=False),  # JSON: the fields of a Fact, decimals as written
    Column("sha256", String, nullable=False),  # of the resource as received
    Column("reader", Integer, nullable=False),  # version of the reader that made the payload
    ForeignKeyConstraint(["tenant", "patient"], ["patient.tenant", "patient.id"]),
    Index("ix_record_entry_scope", "tenant", "patient", "category"),
)

resource = Table(
    "record_resource",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("patient", String, primary_key=True),  # "": belongs to no patient
    Column("key", String, primary_key=True),  # "Observation/123"
    Column("type", String, nullable=False),
    Column("known", Boolean, nullable=False),  # a reader made facts of it
    Column("sha256", String, nullable=False),
    Column("raw", LargeBinary, nullable=False),  # zlib of the JSON as received, UTF-8
)

directory = Table(
    "record_directory",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("key", String, primary_key=True),  # "Organization/123"
    Column("name", String, nullable=False),
)

document = Table(
    "record_document",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("patient", String, nullable=False),
    Column("title", String, nullable=False),
    Column("category", String, nullable=False, default=""),
    Column("dated", Date),
    Column("facility", String, nullable=False, default=""),
    Column("file_name", String, nullable=False, default=""),
    Column("media_type", String, nullable=False),
    Column("status", String, nullable=False),  # record.documents.Status
    Column("index", String, nullable=False),  # "absent" | "words" | "ready"
    Column("source", String),  # id in `source`, kind "document"; NULL: not parsed yet
    Column("origin", String, nullable=False, default=""),  # "DocumentReference/1"; "": uploaded
    Column("problem", String, nullable=False, default=""),  # why it failed, without its content
    Column("sha256", String, nullable=False),
    Column("size", Integer, nullable=False),  # bytes
    Column("content", LargeBinary),  # as received; NULL: kept elsewhere
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    ForeignKeyConstraint(["tenant", "patient"], ["patient.tenant", "patient.id"]),
    Index("ix_record_document_scope", "tenant", "patient"),
    Index("ix_record_document_status", "tenant", "status"),
)
