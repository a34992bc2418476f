"""States of graphs that stopped and will go on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongBytes, LongText, UTCDateTime, key

COMPACT = {**TABLE, "sqlite_with_rowid": False}  # a key of several columns stands once on SQLite, too

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "checkpoint_thread",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("owner", key(64), nullable=False),
        sa.Column("thread_key", key(64), nullable=False),
        sa.Column("ns_key", key(64), nullable=False),
        sa.Column("thread_id", LongText, nullable=False),
        sa.Column("ns", LongText, nullable=False),
        sa.Column("created_at", UTCDateTime, nullable=False),
        sa.Column("last_values", LongText, nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_checkpoint_thread")),
        sa.UniqueConstraint("owner", "thread_key", "ns_key", name=op.f("uq_checkpoint_thread_owner_thread_key_ns_key")),
        **COMPACT,
    )
    op.create_table(
        "checkpoint",
        sa.Column("thread", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", key(64), nullable=False),
        sa.Column("parent", key(64), nullable=True),
        sa.Column("run_id", key(64), nullable=True),
        sa.Column("body", LongBytes, nullable=False),
        sa.PrimaryKeyConstraint("thread", "id", name=op.f("pk_checkpoint")),
        sa.ForeignKeyConstraint(["thread"], ["checkpoint_thread.number"], name=op.f("fk_checkpoint_thread")),
        **COMPACT,
    )
    op.create_table(
        "checkpoint_value",
        sa.Column("thread", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("bytes", LongBytes, nullable=False),
        sa.PrimaryKeyConstraint("thread", "n", name=op.f("pk_checkpoint_value")),
        sa.ForeignKeyConstraint(["thread"], ["checkpoint_thread.number"], name=op.f("fk_checkpoint_value_thread")),
        **COMPACT,
    )
    op.create_table(
        "checkpoint_write",
        sa.Column("thread", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("checkpoint_id", key(64), nullable=False),
        sa.Column("task_id", key(64), nullable=False),
        sa.Column("slot", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("bytes", LongBytes, nullable=False),
        sa.PrimaryKeyConstraint("thread", "checkpoint_id", "task_id", "slot", name=op.f("pk_checkpoint_write")),
        sa.ForeignKeyConstraint(["thread"], ["checkpoint_thread.number"], name=op.f("fk_checkpoint_write_thread")),
        **COMPACT,
    )
    op.execute("INSERT INTO counter (name, value) VALUES ('thread', 0)")
