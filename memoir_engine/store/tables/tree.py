"""The category tree and what is filed in it, as history.

Invariant: a row holds from `from_seq` until before `to_seq`; open rows have `to_seq` = FAR; only `to_seq` is ever updated
(and the review stamp of a filing). Open names are unique per parent, a chunk has one open filing.
Source: DESIGN §2.7, §5; MEMOIR 3.3–3.8.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, UniqueConstraint

from memoir_engine.store.types import TABLE, UTCDateTime, key, metadata

category = Table(
    "category",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("level", Integer, nullable=False),
    Column("created_seq", BigInteger, nullable=False),
    **TABLE,
)

category_version = Table(
    "category_version",
    metadata,
    Column("category_id", BigInteger, ForeignKey("category.id"), primary_key=True, autoincrement=False),
    Column("from_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("to_seq", BigInteger, nullable=False),
    Column("parent_id", BigInteger, ForeignKey("category.id")),  # NULL at level 1
    Column("parent_key", BigInteger, nullable=False),
    Column("name", String(200), nullable=False),
    Column("name_key", key(64), nullable=False),
    Column("merged_into", BigInteger),
    Column("salt", key(32), nullable=False),
    Column("digest", key(64), nullable=False),
    UniqueConstraint("parent_key", "name_key", "to_seq"),
    Index(None, "parent_id", "to_seq"),
    **TABLE,
)

filing = Table(
    "filing",
    metadata,
    Column("chunk_id", BigInteger, ForeignKey("chunk.id"), primary_key=True, autoincrement=False),
    Column("from_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("to_seq", BigInteger, nullable=False),
    Column("category_id", BigInteger, ForeignKey("category.id"), nullable=False),
    Column("created_at", UTCDateTime, nullable=False),  # the chunk's
    Column("decision_id", BigInteger),
    Column("reviewed_by", String(200)),
    Column("reviewed_seq", BigInteger),
    Column("verdict", key(20)),  # approved, rejected or skipped; NULL with a reviewer: re-filed by them
    UniqueConstraint("chunk_id", "to_seq"),
    Index("ix_filing_page", "category_id", "to_seq", "created_at", "chunk_id"),
    Index(None, "from_seq"),
    Index(None, "to_seq"),
    **TABLE,
)
