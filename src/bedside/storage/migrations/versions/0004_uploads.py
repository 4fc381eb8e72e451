"""What was read in the documents of intake cases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "record_upload",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("tenant", "id", "patient", "contract", "named", "type", "label", "why")
        ),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("picture", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "id"],
            ["record_document.tenant", "record_document.id"],
            name=op.f("fk_record_upload_tenant_record_document"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_record_upload")),
    )
    op.create_index("ix_record_upload_case", "record_upload", ["tenant", "patient"])


def downgrade() -> None:
    """Take back."""
    op.drop_table("record_upload")
