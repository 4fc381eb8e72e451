"""What is remembered of a person: facts, summaries, vectors, consent, and what was taken back.

Every row has an `owner`: the person of a conversation, or the actor where a flow knows no persons.
`patient` is "" where the conversation is about none; every read asks for it, so that what was said
under one patient is not remembered under another.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, String, Table, Text

from bedside.storage.tables.base import UtcTime, metadata

__all__ = [
    "memory_consent",
    "memory_fact",
    "memory_hidden",
    "memory_message",
    "memory_session",
    "memory_summary",
]

memory_fact = Table(
    "memory_fact",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Column("kind", String, primary_key=True),  # session | profile | note
    Column("id", String, primary_key=True),
    Column("ordinal", Integer, nullable=False),  # order in its ledger, from 0
    Column("session", String, nullable=False),  # where it was said
    Column("patient", String, nullable=False),  # "" for none
    Column("category", String, nullable=False),
    Column("source", String, nullable=False),  # the person's own message
    Column("revision", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("quote", Text, nullable=False),  # the message's text from start to end
    Column("text", Text, nullable=False),
    Index("ix_memory_fact_session", "tenant", "session"),
    Index("ix_memory_fact_source", "tenant", "source"),
)

memory_summary = Table(
    "memory_summary",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("patient", String, nullable=False),
    Column("upto", Integer, nullable=False),  # messages that it covers, from the first
    Column("at", UtcTime, nullable=False),
    Column("body", Text, nullable=False),  # memory.summaries.Summary as JSON
)

memory_session = Table(
    "memory_session",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("model", String, primary_key=True),  # Embedder.id
    Column("patient", String, nullable=False),
    Column("sha256", String, nullable=False),  # of the facts and the summary that were embedded
    Column("data", LargeBinary, nullable=False),  # float32, little-endian, norm 1
)

memory_message = Table(
    "memory_message",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Column("source", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("session", String, nullable=False),
    Column("patient", String, nullable=False),
    Column("data", LargeBinary, nullable=False),  # a row of float32 for each sentence
    Index("ix_memory_message_session", "tenant", "session"),
)

memory_consent = Table(
    "memory_consent",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Column("patient", String, primary_key=True),
    Column("what", String, primary_key=True),  # across | notes
    Column("actor", String, nullable=False),  # who recorded it
    Column("at", UtcTime, nullable=False),
)

memory_hidden = Table(
    "memory_hidden",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("source", String, primary_key=True),  # a message that is never recalled again
    Column("session", String, nullable=False),
    Column("at", UtcTime, nullable=False),
)
