"""An exported memory into an empty store, of any kind of database.

Invariant: all of it or nothing, in one transaction, which ends only if the head, the state and the whole record are those of the
manifest. What a file says is checked by its column before a database sees it. The depth is the file's.
An export of an earlier schema lacks columns that came later: they are empty.
Source: API `Memory.import_`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, LargeBinary, String, Table, delete, func, insert, select

from memoir_engine.errors import ImportTooNew, StoreNotEmpty
from memoir_engine.results import AuditHead
from memoir_engine.store import archive, chain, ids, schema, state, verify
from memoir_engine.store import tables as t
from memoir_engine.store.archive import Reading
from memoir_engine.store.canon import moment_of, stamp
from memoir_engine.store.database import Database
from memoir_engine.store.exporting import tables
from memoir_engine.store.types import Tx, UTCDateTime

FIRST = "0003"  # the first schema that was exported
SEEDED = (t.audit_head, t.counter, t.setting)  # filled when a store is made
_AT_ONCE, _MOST_BYTES = 500, 4_000_000


def look(path: Path) -> int:
    """Read the whole file once and touch no database; the depth. Raises ImportRefused, ImportTooNew."""
    with archive.reading(path) as file:
        _refuse_newer(file, path)
        for table in tables():
            for _ in _rows(file, table):
                pass
        return file.manifest.depth


def fill(db: Database, path: Path) -> AuditHead:
    """Raises StoreNotEmpty, ImportRefused; then the store is as it was."""
    with archive.reading(path) as file:
        return db.write(lambda tx: _fill(tx, file, db.safe_url), operation="the import")


def _fill(tx: Tx, file: Reading, url: str) -> AuditHead:
    ids.lock_tree(tx)
    _refuse_filled(tx, url)
    for table in SEEDED:
        tx.execute(delete(table))
    for table in tables():
        for some in _portions(_rows(file, table)):
            tx.execute(insert(table), some)
    _count_on(tx)
    _refuse_other(tx, file)
    return chain.head(tx)


def _refuse_newer(file: Reading, path: Path) -> None:
    found = file.manifest.revision
    if not found.isdigit() or found < FIRST:
        file.refuse(f"its schema {found!r} was never exported")
    if found > schema.REVISION:
        raise ImportTooNew(file=str(path), found=f"schema {found}", known=f"schema {schema.REVISION}")


def _refuse_filled(tx: Tx, url: str) -> None:
    for table in tables():
        if table not in SEEDED and tx.execute(select(func.count()).select_from(table)).scalar_one():
            raise StoreNotEmpty(url=url)


def _refuse_other(tx: Tx, file: Reading) -> None:
    """What stands now must be what was exported, and hold."""
    head, said = chain.head(tx), file.manifest.head
    if (head.seq, head.hash, stamp(head.at)) != (said["seq"], said["hash"], said["at"]):
        file.refuse(f"its history ends with event {head.seq}, the manifest says {said['seq']}")
    if schema.stored_depth(tx) != file.manifest.depth:
        file.refuse(f"its depth is {schema.stored_depth(tx)}, the manifest says {file.manifest.depth}")
    check = verify.check(tx)
    if not check.ok:
        file.refuse(f"its record does not hold: {check.problem}")
    if state.state_hash(tx) != file.manifest.state:
        file.refuse("what stands in it is not what the manifest says")


def _count_on(tx: Tx) -> None:
    """Counters that came after the file was written."""
    known = set(tx.execute(select(t.counter.c.name)).scalars())
    missing = [{"name": name, "value": 0} for name in ids.COUNTERS if name not in known]
    if missing:
        tx.execute(insert(t.counter), missing)


def _portions(rows: Iterator[tuple[dict[str, Any], int]]) -> Iterator[list[dict[str, Any]]]:
    """As many as a packet holds. rows: with their size."""
    some: list[dict[str, Any]] = []
    size = 0
    for row, length in rows:
        if some and (len(some) == _AT_ONCE or size + length > _MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(row)
        size += length
    if some:
        yield some


def _rows(file: Reading, table: Table) -> Iterator[tuple[dict[str, Any], int]]:
    lines = file.table(table.name)
    columns = _columns(file, table, next(lines, None))
    member = f"tables/{table.name}.jsonl"
    for number, values in enumerate(lines, 2):
        if len(values) != len(columns):
            file.refuse(f"{member}, line {number}: {len(values)} values for {len(columns)} columns")
        row = dict.fromkeys(table.columns.keys())
        for column, value in zip(columns, values, strict=True):
            try:
                row[column.name] = _value(column, value)
            except (TypeError, ValueError) as wrong:
                file.refuse(f"{member}, line {number}, {column.name}: {wrong}")
        yield row, sum(len(value) for value in values if isinstance(value, str))


def _columns(file: Reading, table: Table, named: list[Any] | None) -> list[Column[Any]]:
    missing = [c.name for c in table.columns if named is not None and c.name not in named and not c.nullable]
    strange = [name for name in named or () if name not in table.columns]
    if strange or missing or len(set(named or ())) != len(named or ()):
        file.refuse(f"tables/{table.name}.jsonl, line 1: its columns are not {', '.join(table.columns.keys())}")
    return [table.columns[name] for name in named or ()]


def _value(column: Column[Any], value: Any) -> Any:
    """As the column's type has it. Raises TypeError or ValueError."""
    if value is None:
        if not column.nullable:
            raise ValueError("it may not be empty")
        return None
    if isinstance(column.type, UTCDateTime):
        return _moment(_text(value))
    if isinstance(column.type, LargeBinary):
        return _bytes(_text(value))
    if isinstance(column.type, String):
        return _text(value, column.type.length)
    return _number(column, value)


def _text(value: Any, limit: int | None = None) -> str:
    if not isinstance(value, str):
        raise TypeError("it is no text")
    if "\x00" in value or (limit is not None and len(value) > limit):
        raise ValueError("it does not fit its column")
    value.encode()
    return value


def _moment(value: str) -> datetime:
    found = moment_of(value)
    if found.tzinfo is None:
        raise ValueError("it is a time without a zone")
    return found


def _bytes(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as wrong:
        raise ValueError(f"it is no base64 ({wrong})") from wrong


def _number(column: Column[Any], value: Any) -> int | float:
    kinds = (int, float) if column.type.python_type is float else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError("it is no number of its kind")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("it is too large")
    return value
