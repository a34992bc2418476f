"""Conversations: sessions and their messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongText, UTCDateTime, key

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "session",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("id_key", key(64), nullable=False),
        sa.Column("session_id", sa.String(200), nullable=False),
        sa.Column("user_id", sa.String(200), nullable=True),
        sa.Column("created_at", UTCDateTime(), nullable=False),
        sa.Column("max_messages", sa.Integer(), nullable=True),
        sa.Column("timeout_s", sa.Double(), nullable=True),
        sa.Column("metadata", LongText, nullable=False),
        sa.Column("last_at", UTCDateTime(), nullable=False),
        sa.Column("last_n", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("chars", sa.BigInteger(), nullable=False),
        sa.Column("cleared_seq", sa.BigInteger(), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_session")),
        sa.UniqueConstraint("owner", "id_key", name=op.f("uq_session_owner_id_key")),
        **TABLE,
    )
    op.create_index(op.f("ix_session_owner_last_at"), "session", ["owner", "last_at"], unique=False)
    op.create_table(
        "message",
        sa.Column("session_number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", key(30), nullable=False),
        sa.Column("id", LongText, nullable=True),
        sa.Column("name", LongText, nullable=True),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.Column("parts", sa.SmallInteger(), nullable=False),
        sa.Column("content", LongText, nullable=False),
        sa.Column("rest", LongText, nullable=False),
        sa.Column("run_id", key(26), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["session_number"], ["session.number"], name=op.f("fk_message_session_number")),
        sa.PrimaryKeyConstraint("session_number", "n", name=op.f("pk_message")),
        **TABLE,
    )
    op.execute("INSERT INTO counter (name, value) VALUES ('session', 0)")
