"""When a fact expires; facts drawn from a source; the agent a fact is from, and what callers note beside it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import LongText, UTCDateTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("fact", sa.Column("agent_id", sa.String(200), nullable=True))
    op.add_column("fact", sa.Column("meta", LongText, nullable=True))
    op.add_column("fact_status", sa.Column("expires_at", UTCDateTime, nullable=True))
    op.add_column("fact_origin", sa.Column("source_id", sa.BigInteger(), nullable=True))
    op.create_index(op.f("ix_fact_origin_source_id"), "fact_origin", ["source_id"], unique=False)
