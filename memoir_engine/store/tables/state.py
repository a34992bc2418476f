"""What the store keeps for itself: counters, the planner's lease, settings, and the cache of profiles.

Invariant: nothing here is evidence; profiles can be rebuilt from the chunks at any time.
Source: DESIGN §5, §8.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, String, Table

from memoir_engine.store.types import TABLE, LongBytes, UTCDateTime, key, metadata

counter = Table(
    "counter",
    metadata,
    Column("name", key(40), primary_key=True),
    Column("value", BigInteger, nullable=False),
    **TABLE,
)

lease = Table(
    "lease",
    metadata,
    Column("name", key(40), primary_key=True),
    Column("owner", String(200)),
    Column("heartbeat_at", UTCDateTime),
    **TABLE,
)

setting = Table(
    "setting",
    metadata,
    Column("name", key(40), primary_key=True),
    Column("value", String(200), nullable=False),
    **TABLE,
)

profile = Table(
    "profile",
    metadata,
    Column("category_id", BigInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("tokenizer", String(100), nullable=False),
    Column("body", LongBytes, nullable=False),
    **TABLE,
)
