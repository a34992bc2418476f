"""Cuts of conversations, and the facts drawn from them."""

from __future__ import annotations

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Tables follow with what uses them."""
