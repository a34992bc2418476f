"""Remarks of people on answers and on items of the review, and how far they have read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, key

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "remark",
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("item", key(80), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("verdict", key(20), nullable=True),
        sa.Column("chunk_id", sa.BigInteger(), nullable=True),
        sa.Column("names", key(26), nullable=True),
        sa.Column("payload", key(64), nullable=False),
        sa.PrimaryKeyConstraint("from_seq", name=op.f("pk_remark")),
        **TABLE,
    )
    op.create_index(op.f("ix_remark_item_to_seq"), "remark", ["item", "to_seq"], unique=False)
    op.create_index(op.f("ix_remark_kind_to_seq"), "remark", ["kind", "to_seq"], unique=False)
    op.create_index(op.f("ix_remark_number"), "remark", ["number"], unique=False)
    op.create_table(
        "notice_mark",
        sa.Column("person", key(64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("person", name=op.f("pk_notice_mark")),
        **TABLE,
    )
    op.execute("INSERT INTO counter (name, value) VALUES ('remark', 0)")
