"""States of graphs that stopped and will go on: LangGraph's checkpoints, each a difference from its parent.

Invariant: a value is written once and never changes; a checkpoint says which values it holds. Numbers of values count up within a
series of a thread (one for each list, one for all else) and are never given again. Bytes are as `store/packing.py` writes them:
what is in them is the serialiser's affair.
No evidence: like the inputs of a run, they are kept to go on with.
Source: SESSION 4.3; DESIGN §5.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, SmallInteger, Table, UniqueConstraint

from memoir_engine.store.types import TABLE, LongBytes, LongText, UTCDateTime, key, metadata

COMPACT = {**TABLE, "sqlite_with_rowid": False}  # a key of several columns stands once on SQLite, too

checkpoint_thread = Table(
    "checkpoint_thread",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", key(64), nullable=False),  # the key of its user, empty for nobody's
    Column("thread_key", key(64), nullable=False),  # of `thread_id`
    Column("ns_key", key(64), nullable=False),  # of `ns`; a graph within a graph has a namespace of its own
    Column("thread_id", LongText, nullable=False),
    Column("ns", LongText, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("last_values", LongText, nullable=False),  # JSON: the last number given, by series
    UniqueConstraint("owner", "thread_key", "ns_key"),
    **COMPACT,
)

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("thread", BigInteger, ForeignKey("checkpoint_thread.number"), primary_key=True, autoincrement=False),
    Column("id", key(64), primary_key=True),  # LangGraph's, which sorts by time
    Column("parent", key(64)),
    Column("run_id", key(64)),  # the graph's
    Column("body", LongBytes, nullable=False),  # which values it holds; what it says itself; its metadata
    **COMPACT,
)

checkpoint_value = Table(
    "checkpoint_value",
    metadata,
    Column("thread", BigInteger, ForeignKey("checkpoint_thread.number"), primary_key=True, autoincrement=False),
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    Column("bytes", LongBytes, nullable=False),
    **COMPACT,
)

checkpoint_write = Table(
    "checkpoint_write",
    metadata,
    Column("thread", BigInteger, ForeignKey("checkpoint_thread.number"), primary_key=True, autoincrement=False),
    Column("checkpoint_id", key(64), primary_key=True),
    Column("task_id", key(64), primary_key=True),
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),  # 0: what it wrote; below: errors, interrupts, resumes
    Column("bytes", LongBytes, nullable=False),
    **COMPACT,
)
