"""Sources with their original bytes, their helpers and their chunks.

Invariant: all but a source's `status`, `status_seq` and `helper_version` never changes; events say all three, and `replaces`.
Bytes and texts are kept in parts: MySQL's default packet is 16 MB, an upload may be larger.
Source: DESIGN §5.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, UniqueConstraint

from memoir_engine.store.types import TABLE, LongBytes, LongText, UTCDateTime, key, metadata

source = Table(
    "source",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", String(500), nullable=False),
    Column("kind", key(20), nullable=False),
    Column("sha256", key(64), nullable=False),  # of the original bytes
    Column("text_sha256", key(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("status", key(20), nullable=False),
    Column("status_seq", BigInteger, nullable=False),
    Column("chars", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("title", LongText),
    Column("author", LongText),
    Column("dated", String(100)),
    Column("headings", LongText, nullable=False),
    Column("pages", LongText, nullable=False),
    Column("metadata", LongText, nullable=False),
    Column("doc_id", String(200)),
    Column("owner", String(200)),
    Column("created_at", UTCDateTime, nullable=False),
    Column("run_id", key(26)),
    Column("replaces", BigInteger),  # the source of which this is a newer version
    Column("helper_version", Integer),  # the one in force
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    Index(None, "sha256"),
    Index(None, "name"),
    Index(None, "doc_id"),
    Index(None, "replaces"),
    **TABLE,
)

source_file = Table(
    "source_file",
    metadata,
    Column("source_id", BigInteger, ForeignKey("source.id"), primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("bytes", LongBytes, nullable=False),
    **TABLE,
)

source_text = Table(
    "source_text",
    metadata,
    Column("source_id", BigInteger, ForeignKey("source.id"), primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("text", LongText, nullable=False),
    **TABLE,
)

contextual_helper = Table(
    "contextual_helper",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("source_id", BigInteger, ForeignKey("source.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("origin", key(20), nullable=False),
    Column("text", LongText, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("author", LongText),
    Column("dated", LongText),
    Column("topic", LongText),
    Column("created_at", UTCDateTime, nullable=False),
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    UniqueConstraint("source_id", "version"),
    **TABLE,
)

chunk = Table(
    "chunk",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("source_id", BigInteger, ForeignKey("source.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("text", LongText, nullable=False),
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    UniqueConstraint("source_id", "position"),
    **TABLE,
)
