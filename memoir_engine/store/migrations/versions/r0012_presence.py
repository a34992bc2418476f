"""Who looks at an item at this moment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, key

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "presence",
        sa.Column("visitor", key(64), nullable=False),
        sa.Column("item", key(64), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("visitor", name=op.f("pk_presence")),
        **TABLE,
    )
