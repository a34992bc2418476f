"""Inputs to resume a run, replaced sources, and the version of a contextual helper in force."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongBytes, key

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_LATEST = "(SELECT MAX(h.version) FROM contextual_helper h WHERE h.source_id = source.id)"


def upgrade() -> None:
    op.create_table(
        "run_input",
        sa.Column("run_id", key(26), nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bytes", LongBytes, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_input_run_id")),
        sa.PrimaryKeyConstraint("run_id", "part", name=op.f("pk_run_input")),
        **TABLE,
    )
    op.add_column("source", sa.Column("replaces", sa.BigInteger(), nullable=True))
    op.add_column("source", sa.Column("helper_version", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_source_replaces"), "source", ["replaces"], unique=False)
    op.execute(f"UPDATE source SET helper_version = {_LATEST}")
