"""Tokens, by which programs open a door. Source: docs/decisions/0112."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memoir_engine.core.run import Role


@dataclass(frozen=True)
class TokenView:
    """A token without its secret. user: whose data it reads and writes; None is the workspace's."""

    id: int
    name: str
    roles: tuple[Role, ...]
    user: str | None
    made_by: str
    made_at: datetime
    expires_at: datetime | None
    state: Literal["valid", "expired", "revoked"]


@dataclass(frozen=True)
class NewToken:
    """A token that was just made. secret: shown this once, and kept nowhere."""

    secret: str
    token: TokenView
    action_id: str
