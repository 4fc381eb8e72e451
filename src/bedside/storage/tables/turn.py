"""Sessions, turns, messages, citations, prompt parts, reports."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Date,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from bedside.storage.tables.base import UtcTime, metadata

__all__ = [
    "citation",
    "message",
    "prompt_part",
    "report",
    "session",
    "session_source",
    "state",
    "turn",
    "turn_prompt",
]

session = Table(
    "session",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("flow", String, nullable=False),
    Column("patient", String),  # None: no patient in this conversation
    Column("actor", String, nullable=False),
    Column("as_of", Date, nullable=False),  # ages count from it for the whole session
    Column("pinned", Text, nullable=False, default="{}"),  # JSON
    Column("revision", Integer, nullable=False, default=0),
    Column("fence", Integer, nullable=False, default=0),  # grows with every lease
    Column("lease_turn", String),
    Column("lease_owner", String),
    Column("lease_until", UtcTime),
    Column("created_at", UtcTime, nullable=False),
    Index("ix_session_patient", "tenant", "patient"),
)

session_source = Table(
    "session_source",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("n", Integer, primary_key=True),  # from 1; never reused
    Column("source", String, nullable=False),
    Column("revision", Integer, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "session"], ["session.tenant", "session.id"], ondelete="CASCADE"
    ),
    UniqueConstraint("tenant", "session", "source", "revision"),
)

state = Table(
    "state",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("person", String, primary_key=True),  # "" is the shared row
    Column("body", Text, nullable=False),  # JSON
    ForeignKeyConstraint(
        ["tenant", "session"], ["session.tenant", "session.id"], ondelete="CASCADE"
    ),
)

turn = Table(
    "turn",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("session", String, nullable=False),
    Column("flow", String, nullable=False),
    Column("patient", String),
    Column("actor", String, nullable=False),
    Column("key", String),  # idempotency key
    Column("request_sha256", String, nullable=False),
    Column("status", String, nullable=False),  # open | complete | incomplete | refused
    Column("fence", Integer, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("result", Text),  # the turn as the contract has it, JSON; None while open
    Column("trace", Text),  # JSON: {"public": [...], "private": [...]}
    Column("review", String, nullable=False, default="draft"),
    Column("review_by", String),
    Column("review_at", UtcTime),
    ForeignKeyConstraint(
        ["tenant", "session"], ["session.tenant", "session.id"], ondelete="CASCADE"
    ),
    UniqueConstraint("tenant", "actor", "key"),
    Index("ix_turn_session", "tenant", "session", "started_at"),
    Index("ix_turn_patient", "tenant", "patient"),
)

message = Table(
    "message",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("ordinal", Integer, primary_key=True),  # 0-based in the session
    Column("turn", String, nullable=False),
    Column("person", String, nullable=False, default=""),
    Column("role", String, nullable=False),  # user | assistant
    Column("source", String, nullable=False),  # the citable revision that holds the text
    Column("at", UtcTime, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "session"], ["session.tenant", "session.id"], ondelete="CASCADE"
    ),
)

citation = Table(
    "citation",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("turn", String, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("n", Integer, nullable=False),
    Column("source", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("answer_start", Integer, nullable=False),
    Column("answer_end", Integer, nullable=False),
    ForeignKeyConstraint(["tenant", "turn"], ["turn.tenant", "turn.id"], ondelete="CASCADE"),
)

prompt_part = Table(
    "prompt_part",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("patient", String, primary_key=True),  # "" for none; erased with the patient
    Column("sha256", String, primary_key=True),
    Column("body", Text, nullable=False),
)

turn_prompt = Table(
    "turn_prompt",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("turn", String, primary_key=True),
    Column("call", Integer, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("role", String, nullable=False),
    Column("sha256", String, nullable=False),
    ForeignKeyConstraint(["tenant", "turn"], ["turn.tenant", "turn.id"], ondelete="CASCADE"),
)

report = Table(
    "report",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("turn", String, nullable=False),
    Column("patient", String),
    Column("target", String, nullable=False),  # answer | claim:<i> | flag:<i>
    Column("kind", String, nullable=False),  # wrong | missing | unsafe | other
    Column("note", Text, nullable=False, default=""),
    Column("by", String, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("state", String, nullable=False, default="open"),
    Index("ix_report_turn", "tenant", "turn"),
)
