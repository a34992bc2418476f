"""Passages, and the vectors of whatever is searched."""

from __future__ import annotations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Tables follow with what uses them."""
