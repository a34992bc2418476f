"""Index of calls by subject: paid answers of one subject are looked up together."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_model_call_subject_fingerprint"), "model_call", ["subject", "fingerprint"], unique=False)
    op.drop_index(op.f("ix_model_call_fingerprint_subject"), table_name="model_call")
