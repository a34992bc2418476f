"""The audit: actions, their hash-chained events, the head, and what may have to be erased.

Invariant: an event is never updated or deleted; `audit_head` is the last row locked before a commit.
`at` is text (ISO 8601, UTC, microseconds) because it is part of what is hashed.
Source: DESIGN §6.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, SmallInteger, String, Table, UniqueConstraint

from memoir_engine.store.types import TABLE, LongText, key, metadata

payload = Table(
    "payload",
    metadata,
    Column("digest", key(64), primary_key=True),  # sha256(salt ‖ body)
    Column("salt", key(32), nullable=False),
    Column("body", LongText, nullable=False),
    **TABLE,
)

action = Table(
    "action",
    metadata,
    Column("id", key(26), primary_key=True),
    Column("verb", key(40), nullable=False),
    Column("actor", String(200), nullable=False),
    Column("at", key(27), nullable=False),
    Column("run_id", key(26)),
    Column("undoes", key(26)),
    Column("payload", key(64), nullable=False),  # reason and receipt; empty where there is neither
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    Index(None, "at"),
    Index(None, "actor", "at"),
    Index(None, "run_id"),
    Index(None, "undoes"),
    **TABLE,
)

audit_event = Table(
    "audit_event",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", key(27), nullable=False),
    Column("action_id", key(26), nullable=False),
    Column("kind", key(40), nullable=False),
    Column("body", LongText, nullable=False),  # canonical JSON: ids, numbers and digests only
    Column("payload", key(64)),
    Column("prev_hash", key(64), nullable=False),
    Column("hash", key(64), nullable=False),
    UniqueConstraint("prev_hash"),
    Index(None, "action_id"),
    Index(None, "kind", "seq"),
    Index(None, "at"),
    **TABLE,
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", key(64), nullable=False),
    Column("at", key(27), nullable=False),
    **TABLE,
)
