"""How far each webhook was told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, key

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhook",
        sa.Column("name", key(64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("owner", key(64), nullable=True),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_ms", sa.BigInteger(), nullable=False),
        sa.Column("state", key(10), nullable=False),
        sa.Column("problem", sa.String(200), nullable=False),
        sa.Column("delivered_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_webhook")),
        **TABLE,
    )
