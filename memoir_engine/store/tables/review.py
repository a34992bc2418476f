"""What people sign, and what was erased: where a digest still stands and what it covered does not.

Invariant: a row is written by an event and only its `to_seq` is ever updated; statements and reasons stand in payloads.
The verdict of a reviewer belongs to one filing and stands in its row.
Source: DESIGN §6.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, String, Table

from memoir_engine.store.types import TABLE, key, metadata

sign_off = Table(
    "sign_off",
    metadata,
    Column("from_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("to_seq", BigInteger, nullable=False),
    Column("subject", key(20), nullable=False),  # source or category
    Column("subject_id", BigInteger, nullable=False),
    Column("signer", String(200), nullable=False),
    Column("state", key(64), nullable=False),  # digest of what was signed
    Column("payload", key(64), nullable=False),  # the statement
    Index(None, "subject", "subject_id", "to_seq"),
    **TABLE,
)

tombstone = Table(
    "tombstone",
    metadata,
    Column("place", key(40), primary_key=True),  # the table whose row lost its text, or `outcome` of a run
    Column("row_key", key(64), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),  # the event that erased it
    Column("remains", key(64), nullable=False),  # digest of what was left of the row; empty: nothing
    Index(None, "seq"),
    **TABLE,
)
