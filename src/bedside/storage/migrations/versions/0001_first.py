"""The first schema."""

from __future__ import annotations

from alembic import op

from bedside.storage.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Apply."""
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    """Take back."""
    metadata.drop_all(op.get_bind())
