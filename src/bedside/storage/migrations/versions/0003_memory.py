"""What is remembered of a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TABLES = (
    "memory_hidden", "memory_consent", "memory_message", "memory_session", "memory_summary",
    "memory_fact",
)  # fmt: skip


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "memory_fact",
        *_texts("tenant", "owner", "kind", "id"),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        *_texts("session", "patient", "category", "source"),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("revision", "start", "end")),
        _at(),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "owner", "kind", "id", name=op.f("pk_memory_fact")),
    )
    op.create_index("ix_memory_fact_session", "memory_fact", ["tenant", "session"])
    op.create_index("ix_memory_fact_source", "memory_fact", ["tenant", "source"])
    op.create_table(
        "memory_summary",
        *_texts("tenant", "owner", "session", "patient"),
        sa.Column("upto", sa.Integer(), nullable=False),
        _at(),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "owner", "session", name=op.f("pk_memory_summary")),
    )
    op.create_table(
        "memory_session",
        *_texts("tenant", "owner", "session", "model", "patient", "sha256"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant", "owner", "session", "model", name=op.f("pk_memory_session")
        ),
    )
    op.create_table(
        "memory_message",
        *_texts("tenant", "owner", "source", "model", "session", "patient"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant", "owner", "source", "model", name=op.f("pk_memory_message")
        ),
    )
    op.create_index("ix_memory_message_session", "memory_message", ["tenant", "session"])
    op.create_table(
        "memory_consent",
        *_texts("tenant", "owner", "patient", "what", "actor"),
        _at(),
        sa.PrimaryKeyConstraint(
            "tenant", "owner", "patient", "what", name=op.f("pk_memory_consent")
        ),
    )
    op.create_table(
        "memory_hidden",
        *_texts("tenant", "source", "session"),
        _at(),
        sa.PrimaryKeyConstraint("tenant", "source", name=op.f("pk_memory_hidden")),
    )


def downgrade() -> None:
    """Take back."""
    for name in _TABLES:
        op.drop_table(name)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=False) for name in names]


def _at() -> sa.Column[object]:
    return sa.Column("at", sa.DateTime(timezone=True), nullable=False)
