"""Notes of people on categories: descriptions, guidance and locks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongText, key

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "category_note",
        sa.Column("category_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("description", LongText, nullable=False),
        sa.Column("guidance", LongText, nullable=False),
        sa.Column("locked", sa.Integer(), nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("category_id", "from_seq", name=op.f("pk_category_note")),
        **TABLE,
    )
    op.create_index(op.f("ix_category_note_to_seq"), "category_note", ["to_seq"])
