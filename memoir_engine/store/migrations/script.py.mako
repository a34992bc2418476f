"""${message}"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import LongBytes, LongText, TABLE, UTCDateTime, key

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
