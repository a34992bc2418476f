"""Passages, and the vectors of whatever is searched.

Invariant: nothing here is evidence. A passage is a span and holds no text of its own; passages of sources can be cut again, and
vectors computed again, at any time.
`from_seq` and `to_seq` are of the clock of searching (`ids.tick`), not of the audit: a passage may be cut long after its text was
added, and no index may miss one. Vectors of two embedders stand side by side and never meet.
Source: DESIGN §2.3, §5; MEMOLLA F-02-02.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, Table

from memoir_engine.store.types import TABLE, LongBytes, key, metadata

passage = Table(
    "passage",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("source_id", BigInteger),  # one of the two
    Column("session_number", BigInteger),
    Column("owner", key(64), nullable=False),  # `owners.owner_key`: '' for the workspace
    Column("n", Integer, nullable=False),  # from 0 within its source or session
    Column("start", BigInteger, nullable=False),  # into the source's text, or into the first message
    Column("end", BigInteger, nullable=False),  # of the source's text, or of the last message
    Column("first_message", BigInteger),
    Column("last_message", BigInteger),
    Column("dated", key(10)),  # ISO 8601, as precise as it is known: 2024, 2024-05 or 2024-05-17
    Column("from_seq", BigInteger, nullable=False),
    Column("to_seq", BigInteger, nullable=False),
    Index(None, "source_id", "n"),
    Index(None, "session_number", "n"),
    Index(None, "owner", "from_seq"),
    Index(None, "owner", "to_seq"),
    **TABLE,
)

embedding = Table(
    "embedding",
    metadata,
    Column("kind", key(10), primary_key=True),  # "passage" or "fact"
    Column("item_id", BigInteger, primary_key=True, autoincrement=False),
    Column("embedder", key(120), primary_key=True),
    Column("dim", Integer, nullable=False),
    Column("vector", LongBytes, nullable=False),  # float32, little-endian, of unit length
    Column("seq", BigInteger, nullable=False),  # of the clock of searching
    Index(None, "kind", "embedder", "seq"),
    **TABLE,
)
