"""The first schema, frozen: later migrations change it, nothing edits it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TABLES = (
    "audit",
    "catalogue",
    "job",
    "knowledge_change",
    "meta",
    "patient",
    "prompt_part",
    "record_directory",
    "record_resource",
    "report",
    "session",
    "source",
    "chunk",
    "message",
    "record_document",
    "record_entry",
    "session_source",
    "state",
    "turn",
    "chunk_vector",
    "chunk_words",
    "citation",
    "turn_prompt",
)
"""In the order in which foreign keys let them be made."""


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "audit",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("session", sa.String(), nullable=True),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("previous", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_patient", "audit", ["tenant", "patient"])
    op.create_table(
        "catalogue",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "kind", "key", "version", name=op.f("pk_catalogue")),
    )
    op.create_index("ix_catalogue_epoch", "catalogue", ["tenant", "epoch"])
    op.create_table(
        "job",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("session", sa.String(), nullable=True),
        sa.Column("turn", sa.String(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("run_after", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_job")),
    )
    op.create_index("ix_job_queue", "job", ["state", "run_after"])
    op.create_index("ix_job_turn", "job", ["tenant", "turn"])
    op.create_table(
        "knowledge_change",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_knowledge_change")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_knowledge_change_tenant", "knowledge_change", ["tenant", "seq"])
    op.create_table(
        "meta",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "patient",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("birth_date", sa.Date(), nullable=True),
        sa.Column("sex", sa.String(), nullable=False),
        sa.Column("deceased", sa.String(), nullable=True),
        sa.Column("identifiers", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("as_of", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_patient")),
    )
    op.create_index("ix_patient_name", "patient", ["tenant", "name_key"])
    op.create_table(
        "prompt_part",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "patient", "sha256", name=op.f("pk_prompt_part")),
    )
    op.create_table(
        "record_directory",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_record_directory")),
    )
    op.create_table(
        "record_resource",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("known", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "patient", "key", name=op.f("pk_record_resource")),
    )
    op.create_table(
        "report",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_report")),
    )
    op.create_index("ix_report_turn", "report", ["tenant", "turn"])
    op.create_table(
        "session",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("as_of", sa.Date(), nullable=False),
        sa.Column("pinned", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("lease_turn", sa.String(), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_session")),
    )
    op.create_index("ix_session_patient", "session", ["tenant", "patient"])
    op.create_table(
        "source",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("session", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("section", sa.String(), nullable=False),
        sa.Column("dated", sa.Date(), nullable=True),
        sa.Column("superseded", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", "revision", name=op.f("pk_source")),
    )
    op.create_index("ix_source_scope", "source", ["tenant", "patient", "kind"])
    op.create_index("ix_source_sha", "source", ["tenant", "patient", "sha256"])
    op.create_index("ix_source_state", "source", ["tenant", "state", "kind", "patient"])
    op.create_table(
        "chunk",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("section", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "source", "revision"],
            ["source.tenant", "source.id", "source.revision"],
            name=op.f("fk_chunk_tenant_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_chunk")),
    )
    op.create_index("ix_chunk_patient", "chunk", ["tenant", "patient"])
    op.create_index("ix_chunk_source", "chunk", ["tenant", "source", "revision"])
    op.create_table(
        "message",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "session"],
            ["session.tenant", "session.id"],
            name=op.f("fk_message_tenant_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "session", "ordinal", name=op.f("pk_message")),
    )
    op.create_table(
        "record_document",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("dated", sa.Date(), nullable=True),
        sa.Column("facility", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("index", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "patient"],
            ["patient.tenant", "patient.id"],
            name=op.f("fk_record_document_tenant_patient"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_record_document")),
    )
    op.create_index("ix_record_document_scope", "record_document", ["tenant", "patient"])
    op.create_index("ix_record_document_status", "record_document", ["tenant", "status"])
    op.create_table(
        "record_entry",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("patient", sa.String(), nullable=False),
        sa.Column("resource", sa.String(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("when", sa.DateTime(timezone=True), nullable=True),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("reader", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "patient"],
            ["patient.tenant", "patient.id"],
            name=op.f("fk_record_entry_tenant_patient"),
        ),
        sa.PrimaryKeyConstraint("tenant", "source", name=op.f("pk_record_entry")),
    )
    op.create_index("ix_record_entry_scope", "record_entry", ["tenant", "patient", "category"])
    op.create_table(
        "session_source",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "session"],
            ["session.tenant", "session.id"],
            name=op.f("fk_session_source_tenant_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "session", "n", name=op.f("pk_session_source")),
        sa.UniqueConstraint(
            "tenant", "session", "source", "revision", name=op.f("uq_session_source_tenant")
        ),
    )
    op.create_table(
        "state",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "session"],
            ["session.tenant", "session.id"],
            name=op.f("fk_state_tenant_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "session", "person", name=op.f("pk_state")),
    )
    op.create_table(
        "turn",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("trace", sa.Text(), nullable=True),
        sa.Column("review", sa.String(), nullable=False),
        sa.Column("review_by", sa.String(), nullable=True),
        sa.Column("review_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "session"],
            ["session.tenant", "session.id"],
            name=op.f("fk_turn_tenant_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_turn")),
        sa.UniqueConstraint("tenant", "actor", "key", name=op.f("uq_turn_tenant")),
    )
    op.create_index("ix_turn_patient", "turn", ["tenant", "patient"])
    op.create_index("ix_turn_session", "turn", ["tenant", "session", "started_at"])
    op.create_table(
        "chunk_vector",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("chunk", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("window", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "chunk"],
            ["chunk.tenant", "chunk.id"],
            name=op.f("fk_chunk_vector_tenant_chunk"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "chunk", "model", "window", name=op.f("pk_chunk_vector")),
    )
    op.create_table(
        "chunk_words",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("chunk", sa.String(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "chunk"],
            ["chunk.tenant", "chunk.id"],
            name=op.f("fk_chunk_words_tenant_chunk"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "chunk", name=op.f("pk_chunk_words")),
    )
    op.create_table(
        "citation",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("answer_start", sa.Integer(), nullable=False),
        sa.Column("answer_end", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "turn"],
            ["turn.tenant", "turn.id"],
            name=op.f("fk_citation_tenant_turn"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "turn", "ordinal", name=op.f("pk_citation")),
    )
    op.create_table(
        "turn_prompt",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("call", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "turn"],
            ["turn.tenant", "turn.id"],
            name=op.f("fk_turn_prompt_tenant_turn"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "turn", "call", "ordinal", name=op.f("pk_turn_prompt")),
    )


def downgrade() -> None:
    """Take back."""
    for name in reversed(TABLES):
        op.drop_table(name)
