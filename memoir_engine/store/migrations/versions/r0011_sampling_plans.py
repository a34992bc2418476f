"""Sampling plans of audits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongText, key

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sampling_plan",
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("design", LongText, nullable=False),
        sa.Column("payload", key(64), nullable=False),
        sa.PrimaryKeyConstraint("from_seq", name=op.f("pk_sampling_plan")),
        **TABLE,
    )
    op.create_index(op.f("ix_sampling_plan_number"), "sampling_plan", ["number"], unique=False)
    op.create_index(op.f("ix_sampling_plan_to_seq"), "sampling_plan", ["to_seq"], unique=False)
