"""Words that are to be forgotten, in the states of graphs.

Invariant: a state stays readable: its texts lose the words and keep their lengths, its names stay. What a serialiser of the
caller's has encrypted cannot be looked into. States are no evidence, so nothing stands for what went.
Source: DESIGN §6 (erasure).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import select, update

from memoir_engine.store import tables as t
from memoir_engine.store.packing import packed, unpacked
from memoir_engine.store.types import Tx
from memoir_engine.text.packed_strings import replaced
from memoir_engine.text.traces import Own

_TABLES: dict[str, tuple[Any, str]] = {
    "value": (t.checkpoint_value, "bytes"),
    "write": (t.checkpoint_write, "bytes"),
    "state": (t.checkpoint, "body"),
}
_STREAM = {"yield_per": 200}


def quoting(tx: Tx, own: Own) -> Iterator[str]:
    """Keys of the rows that hold its words."""
    for name, (table, column) in _TABLES.items():
        keys = list(table.primary_key.columns)
        rows = tx.execute(select(*keys, table.c[column]).order_by(*keys).execution_options(**_STREAM))
        for *key, data in rows:
            if _without(data, own) != data:
                yield "/".join([name, *map(str, key)])


def take_out(tx: Tx, own: Own, keys: Iterable[str]) -> None:
    for key in keys:
        name, *parts = key.split("/")
        table, column = _TABLES[name]
        mine = [one == one.type.python_type(part) for one, part in zip(table.primary_key.columns, parts, strict=True)]
        data = tx.execute(select(table.c[column]).where(*mine)).scalar_one()
        tx.execute(update(table).where(*mine).values({column: _without(data, own)}))


def _without(data: bytes, own: Own) -> bytes:
    head, parts = unpacked(data)
    changed = [replaced(part, own.blanked) for part in parts]
    return data if changed == parts else packed(head, changed)
