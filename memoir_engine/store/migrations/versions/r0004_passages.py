"""Passages, and the vectors of whatever is searched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongBytes, key

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "passage",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=True),
        sa.Column("session_number", sa.BigInteger(), nullable=True),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("first_message", sa.BigInteger(), nullable=True),
        sa.Column("last_message", sa.BigInteger(), nullable=True),
        sa.Column("dated", key(10), nullable=True),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passage")),
        **TABLE,
    )
    op.create_index(op.f("ix_passage_source_id_n"), "passage", ["source_id", "n"], unique=False)
    op.create_index(op.f("ix_passage_session_number_n"), "passage", ["session_number", "n"], unique=False)
    op.create_index(op.f("ix_passage_owner_from_seq"), "passage", ["owner", "from_seq"], unique=False)
    op.create_index(op.f("ix_passage_owner_to_seq"), "passage", ["owner", "to_seq"], unique=False)
    op.create_table(
        "embedding",
        sa.Column("kind", key(10), nullable=False),
        sa.Column("item_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("embedder", key(120), nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("vector", LongBytes, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "item_id", "embedder", name=op.f("pk_embedding")),
        **TABLE,
    )
    op.create_index(op.f("ix_embedding_kind_embedder_seq"), "embedding", ["kind", "embedder", "seq"], unique=False)
    op.create_index(op.f("ix_source_doc_id"), "source", ["doc_id"], unique=False)
    op.execute("INSERT INTO counter (name, value) VALUES ('passage', 0)")
    op.execute("INSERT INTO counter (name, value) VALUES ('search', 0)")
