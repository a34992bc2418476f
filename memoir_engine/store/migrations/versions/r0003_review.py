"""A reviewer's verdict on a filing; what people sign; what was erased."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, key

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("filing", sa.Column("verdict", key(20), nullable=True))
    op.create_table(
        "sign_off",
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("subject", key(20), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("signer", sa.String(200), nullable=False),
        sa.Column("state", key(64), nullable=False),
        sa.Column("payload", key(64), nullable=False),
        sa.PrimaryKeyConstraint("from_seq", name=op.f("pk_sign_off")),
        **TABLE,
    )
    op.create_index(op.f("ix_sign_off_subject_subject_id_to_seq"), "sign_off", ["subject", "subject_id", "to_seq"], unique=False)
    op.create_table(
        "tombstone",
        sa.Column("place", key(40), nullable=False),
        sa.Column("row_key", key(64), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("remains", key(64), nullable=False),
        sa.PrimaryKeyConstraint("place", "row_key", "seq", name=op.f("pk_tombstone")),
        **TABLE,
    )
    op.create_index(op.f("ix_tombstone_seq"), "tombstone", ["seq"], unique=False)
    op.create_index(op.f("ix_action_at"), "action", ["at"], unique=False)
    op.create_index(op.f("ix_action_actor_at"), "action", ["actor", "at"], unique=False)
    op.execute("INSERT INTO counter (name, value) VALUES ('erasure', 0)")
