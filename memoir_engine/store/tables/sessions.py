"""Conversations: sessions and what was said in them, each message once.

Invariant: a message never changes; it goes with its session, with the limit of messages, or with words that are to be forgotten,
and an event says so. Numbers of messages are never given again, so whatever names (session, n) means one message or none.
What is counted in a session's row is what its events make it; nothing has to read the history to append to it.
Source: DESIGN §5; SESSION 1, 5.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, SmallInteger, String, Table, UniqueConstraint

from memoir_engine.store.types import TABLE, LongText, UTCDateTime, key, metadata

session = Table(
    "session",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", key(64), nullable=False),  # the key of its user, empty for nobody's
    Column("id_key", key(64), nullable=False),  # of `session_id`: the same on every database, spaces at its end too
    Column("session_id", String(200), nullable=False),
    Column("user_id", String(200)),
    Column("created_at", UTCDateTime, nullable=False),
    Column("max_messages", Integer),  # of its own; none: as configured
    Column("timeout_s", Double),
    Column("metadata", LongText, nullable=False),
    Column("last_at", UTCDateTime, nullable=False),
    Column("last_n", Integer, nullable=False),  # of the last message there ever was
    Column("messages", Integer, nullable=False),  # that are kept
    Column("turns", Integer, nullable=False),  # of a person, among them
    Column("chars", BigInteger, nullable=False),
    Column("cleared_seq", BigInteger),  # the last event that cleared it
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    UniqueConstraint("owner", "id_key"),
    Index(None, "owner", "last_at"),
    **TABLE,
)

message = Table(
    "message",
    metadata,
    Column("session_number", BigInteger, ForeignKey("session.number"), primary_key=True, autoincrement=False),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("kind", key(30), nullable=False),  # LangChain's type: human, ai, system, tool, …
    Column("id", LongText),  # the caller's
    Column("name", LongText),
    Column("at", UTCDateTime, nullable=False),
    Column("parts", SmallInteger, nullable=False),  # 1: content is a JSON list of parts
    Column("content", LongText, nullable=False),
    Column("rest", LongText, nullable=False),  # JSON: tool calls, metadata, all that is not the default
    Column("run_id", key(26)),
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    **TABLE,
)
