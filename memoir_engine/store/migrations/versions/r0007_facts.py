"""Cuts of conversations, the facts drawn from them, where each was said, and what became of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongText, UTCDateTime, key

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cut",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("conversation", LongText, nullable=False),
        sa.Column("conversation_key", key(64), nullable=False),
        sa.Column("session_number", sa.BigInteger(), nullable=True),
        sa.Column("cut_id", LongText, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("of", sa.Integer(), nullable=False),
        sa.Column("strategy", LongText, nullable=False),
        sa.Column("first_message", sa.Integer(), nullable=False),
        sa.Column("last_message", sa.Integer(), nullable=False),
        sa.Column("message_ids", LongText, nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("oversize", sa.SmallInteger(), nullable=False),
        sa.Column("split", sa.SmallInteger(), nullable=False),
        sa.Column("failed", sa.SmallInteger(), nullable=False),
        sa.Column("run_id", key(26), nullable=True),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cut")),
        **TABLE,
    )
    op.create_index(op.f("ix_cut_owner_conversation_key_to_seq"), "cut", ["owner", "conversation_key", "to_seq"], unique=False)
    op.create_index(op.f("ix_cut_session_number"), "cut", ["session_number"], unique=False)
    op.create_table(
        "fact",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("uid", key(36), nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("user_id", sa.String(200), nullable=True),
        sa.Column("type", key(20), nullable=False),
        sa.Column("content", LongText, nullable=False),
        sa.Column("subject", LongText, nullable=False),
        sa.Column("entities", LongText, nullable=False),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("valid_from", UTCDateTime, nullable=True),
        sa.Column("from_precision", key(10), nullable=True),
        sa.Column("valid_to", UTCDateTime, nullable=True),
        sa.Column("to_precision", key(10), nullable=True),
        sa.Column("said_at", UTCDateTime, nullable=True),
        sa.Column("recorded_at", UTCDateTime, nullable=False),
        sa.Column("recorded_seq", sa.BigInteger(), nullable=False),
        sa.Column("run_id", key(26), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fact")),
        sa.UniqueConstraint("uid", name=op.f("uq_fact_uid")),
        **TABLE,
    )
    op.create_index(op.f("ix_fact_owner_id"), "fact", ["owner", "id"], unique=False)
    op.create_table(
        "fact_status",
        sa.Column("fact_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("status", key(10), nullable=False),
        sa.Column("cause", key(10), nullable=True),
        sa.Column("superseded_by", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", UTCDateTime, nullable=True),
        sa.Column("payload", key(64), nullable=True),
        sa.PrimaryKeyConstraint("fact_id", "from_seq", name=op.f("pk_fact_status")),
        **TABLE,
    )
    op.create_index(op.f("ix_fact_status_owner_to_seq_fact_id"), "fact_status", ["owner", "to_seq", "fact_id"], unique=False)
    op.create_index(op.f("ix_fact_status_owner_from_seq"), "fact_status", ["owner", "from_seq"], unique=False)
    op.create_index(op.f("ix_fact_status_superseded_by"), "fact_status", ["superseded_by"], unique=False)
    op.create_table(
        "fact_origin",
        sa.Column("fact_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("session_number", sa.BigInteger(), nullable=True),
        sa.Column("conversation", LongText, nullable=False),
        sa.Column("message", sa.Integer(), nullable=False),
        sa.Column("message_id", LongText, nullable=True),
        sa.Column("role", LongText, nullable=False),
        sa.Column("speaker", LongText, nullable=True),
        sa.Column("said_at", UTCDateTime, nullable=True),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("said", key(64), nullable=False),
        sa.Column("cut", sa.BigInteger(), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("fact_id", "n", name=op.f("pk_fact_origin")),
        **TABLE,
    )
    op.create_index(op.f("ix_fact_origin_session_number_message"), "fact_origin", ["session_number", "message"], unique=False)
    op.create_table(
        "fact_relation",
        sa.Column("source_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("run_id", key(26), nullable=True),
        sa.PrimaryKeyConstraint("source_id", "target_id", "from_seq", name=op.f("pk_fact_relation")),
        **TABLE,
    )
    op.create_index(op.f("ix_fact_relation_owner_to_seq"), "fact_relation", ["owner", "to_seq"], unique=False)
    op.create_index(op.f("ix_fact_relation_target_id"), "fact_relation", ["target_id"], unique=False)
    op.create_table(
        "fact_proposal",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("cause", key(10), nullable=False),
        sa.Column("doubt", key(20), nullable=False),
        sa.Column("new_id", sa.BigInteger(), nullable=False),
        sa.Column("old_ids", LongText, nullable=False),
        sa.Column("payload", key(64), nullable=False),
        sa.Column("outcome", key(10), nullable=True),
        sa.Column("run_id", key(26), nullable=True),
        sa.PrimaryKeyConstraint("id", "from_seq", name=op.f("pk_fact_proposal")),
        **TABLE,
    )
    op.create_index(op.f("ix_fact_proposal_owner_to_seq"), "fact_proposal", ["owner", "to_seq"], unique=False)
    op.execute("INSERT INTO counter (name, value) VALUES ('cut', 0)")
    op.execute("INSERT INTO counter (name, value) VALUES ('fact', 0)")
