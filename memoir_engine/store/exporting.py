"""Everything that stands in the store, into one file.

Invariant: one snapshot; rows in the order of their keys, as every database would tell them, streamed. Caches, leases and names of
processes stay out; settings too, but for the depth, which belongs to the store.
Source: API `memory.export`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Table, select

from memoir_engine.results import Exported
from memoir_engine.store import archive, chain, schema, state
from memoir_engine.store import tables as t
from memoir_engine.store.archive import Manifest, Writing
from memoir_engine.store.canon import stamp
from memoir_engine.store.database import Database
from memoir_engine.store.types import Tx

LEFT_OUT = frozenset({"embedding", "lease", "passage", "profile"})
OF_CACHES = ("passage", "search")  # their counters
DEPTH = "depth"
_FEW = {"source_file", "source_text", "run_input"}  # rows of megabytes


def export(db: Database, path: Path, *, made_by: str) -> Exported:
    """Raises ExportFailed."""
    return db.read(lambda tx: _write(tx, path, made_by))


def tables() -> tuple[Table, ...]:
    """In an order in which they can be filled."""
    return tuple(table for table in t.metadata.sorted_tables if table.name not in LEFT_OUT)


def _write(tx: Tx, path: Path, made_by: str) -> Exported:
    with archive.writing(path) as into:
        for table in tables():
            into.table(table.name, [column.name for column in table.columns], _rows(tx, table))
        head, manifest = chain.head(tx), _manifest(tx, into, made_by)
        into.manifest(manifest)
    rows = {name.removeprefix("tables/").removesuffix(".jsonl"): member.rows for name, member in into.members.items()}
    return Exported(str(path), path.stat().st_size, head, manifest.state, rows)


def _manifest(tx: Tx, into: Writing, made_by: str) -> Manifest:
    head = chain.head(tx)
    told = {"seq": head.seq, "hash": head.hash, "at": stamp(head.at)}
    depth = schema.stored_depth(tx) or 0
    return Manifest(schema.REVISION, depth, told, state.state_hash(tx), into.members, made_by)


def _rows(tx: Tx, table: Table) -> Iterator[list[Any]]:
    wanted = select(table).order_by(*table.primary_key.columns)
    if table is t.setting:
        wanted = wanted.where(t.setting.c.name == DEPTH)
    if table is t.counter:
        wanted = wanted.where(t.counter.c.name.not_in(OF_CACHES))
    stream = tx.execute(wanted.execution_options(yield_per=4 if table.name in _FEW else 1000))
    hidden = [at for at, column in enumerate(table.columns) if (table.name, column.name) == ("run", "owner")]
    for row in stream:
        yield [None if at in hidden else _plain(value) for at, value in enumerate(row)]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return stamp(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
