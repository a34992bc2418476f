"""Webhooks: how far each was told, by whom it is told at the moment, and what became of the last attempt.

Invariant: no evidence and outside the chain; one row for each webhook that was ever configured. It is never exported.
Source: docs/decisions/0136.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, String, Table

from memoir_engine.store.tables.columns import TABLE, key, metadata

webhook = Table(
    "webhook",
    metadata,
    Column("name", key(64), primary_key=True),
    Column("seq", BigInteger, nullable=False),  # the last event it was told of
    Column("owner", key(64)),  # who tells it, until the time below
    Column("until_ms", BigInteger, nullable=False),  # since 1970
    Column("failures", Integer, nullable=False),  # since it last took something
    Column("retry_ms", BigInteger, nullable=False),
    Column("state", key(10), nullable=False),  # ready, retrying, stopped
    Column("problem", String(200), nullable=False),
    Column("delivered_ms", BigInteger),
    **TABLE,
)
