"""Archive: a whole memory exported to one file, and imported into an empty store of any kind of database.

The file is a zip with JSON lines per table and a manifest that says what must be in it.
Invariant: an export is one snapshot, rows in the order of their keys; caches, leases, names of processes and settings but the
depth stay out. It is written beside its place and renamed when it is whole; read line by line, nothing is unpacked to disk. Rows
are what the manifest says, to the byte, or refused with member and line. An import is one transaction, which ends only if the
head, the state and the whole record are those of the manifest. Columns that came after an export's schema are empty.
Source: API "The ledger and the audit", `memory.export`, `Memory.import_`; DESIGN §12 (archive bombs).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from sqlalchemy import Column, LargeBinary, String, Table, delete, func, insert, select

from memoir_engine.core.errors import ExportFailed, ImportRefused, ImportTooNew, StoreNotEmpty
from memoir_engine.core.results import AuditHead, Exported
from memoir_engine.store import tables as store_tables
from memoir_engine.store import verification
from memoir_engine.store.chain import actions, state
from memoir_engine.store.chain.canonical_json import moment_of, stamp
from memoir_engine.store.db import ids, schema
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx
from memoir_engine.store.tables.columns import UTCDateTime

FORMAT, VERSION = "memoir-export", 1
MANIFEST = "manifest.json"
MOST_MANIFEST = 1_000_000  # bytes
MOST_LINE = 64_000_000  # bytes; the longest we write is a part of a file, 4 MB in base64
BOMB_RATIO, BOMB_BYTES = 400, 100_000_000  # what unpacks to more than both is none of ours: texts shrink to a tenth
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


@dataclass(frozen=True)
class Member:
    """rows: lines without the first one, which names the columns."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """head: seq, hash and time of the last event. state: hash of what stands."""

    revision: str
    depth: int
    head: dict[str, Any]
    state: str
    members: dict[str, Member] = field(default_factory=dict)
    made_by: str = ""
    format: str = FORMAT
    version: int = VERSION


class Writing:
    """An archive being written; `table` in any order, `manifest` last."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def table(self, name: str, columns: list[str], rows: Iterable[list[Any]]) -> None:
        whole, size, count = hashlib.sha256(), 0, -1
        with self._archive.open(_member(name), "w", force_zip64=True) as file:
            for values in _lines(columns, rows):
                line = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
                file.write(line)
                whole.update(line)
                size, count = size + len(line), count + 1
        self.members[_member(name)] = Member(count, size, whole.hexdigest())

    def manifest(self, manifest: Manifest) -> None:
        self._archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1, sort_keys=True))


@contextmanager
def writing(path: Path) -> Iterator[Writing]:
    """Raises ExportFailed; then nothing of it is left, and what was at the path before stays."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                yield Writing(archive)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as failed:
        raise ExportFailed(file=str(path), problem=failed.strerror or str(failed)) from failed
    finally:
        with suppress(OSError):
            part.unlink()


class Reading:
    """An archive whose manifest and list of members are sound. Each problem is ImportRefused."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._refuse_bombs()
        self.manifest = self._manifest()
        names = [entry.filename for entry in archive.infolist()]
        strange = sorted({each for each in names if each != MANIFEST and each not in self.manifest.members})
        if strange or len(names) != len(set(names)):
            self.refuse(
                f"it holds {strange[0]!r}, which its manifest does not name" if strange else "a member stands in it twice"
            )
        missing = sorted(self.manifest.members.keys() - set(names))
        if missing:
            self.refuse(f"{missing[0]} is missing")

    def table(self, name: str) -> Iterator[list[Any]]:
        """The names of its columns, then its rows; nothing where the table is not in it. Ends only if all was as promised."""
        member = _member(name)
        said = self.manifest.members.get(member)
        whole, size, count = hashlib.sha256(), 0, -1
        for line in self._raw(member) if said else ():
            count += 1
            whole.update(line)
            size += len(line)
            yield self._values(member, count + 1, line)
        if said and (count, size, whole.hexdigest()) != (said.rows, said.bytes, said.sha256):
            self.refuse(f"{member} is not what the manifest says: {max(count, 0)} rows of {said.rows}")

    def refuse(self, problem: str) -> NoReturn:
        raise ImportRefused(file=self._name, problem=problem)

    def _values(self, member: str, number: int, line: bytes) -> list[Any]:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            self.refuse(f"{member}, line {number}: it is no JSON")
        return values if isinstance(values, list) else self.refuse(f"{member}, line {number}: it is no row")

    def _raw(self, member: str) -> Iterator[bytes]:
        number = 0
        try:
            with self._archive.open(member) as file:
                while line := file.readline(MOST_LINE + 1):
                    number += 1
                    if len(line) > MOST_LINE:
                        self.refuse(f"{member}, line {number}: it is longer than any we write")
                    yield line
        except _BROKEN as broken:
            raise ImportRefused(
                file=self._name, problem=f"{member}, after line {number}: {broken or 'it is cut off'}"
            ) from broken

    def _refuse_bombs(self) -> None:
        entries = self._archive.infolist()
        packed, size = sum(entry.compress_size for entry in entries), sum(entry.file_size for entry in entries)
        if size > BOMB_BYTES and size > BOMB_RATIO * packed:
            self.refuse(f"{packed:,} bytes would unpack to {size:,}")

    def _manifest(self) -> Manifest:
        try:
            with self._archive.open(MANIFEST) as file:
                told = json.loads(file.read(MOST_MANIFEST))
        except KeyError:
            self.refuse("it has no manifest: it is no export of Memoir")
        except (*_BROKEN, ValueError) as broken:
            self.refuse(f"{MANIFEST} cannot be read ({broken})")
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            self.refuse("it is no export of Memoir")
        if isinstance(told.get("version"), int) and told["version"] > VERSION:
            raise ImportTooNew(file=self._name, found=f"format {told['version']}", known=f"format {VERSION}")
        try:
            return _told(told)
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            self.refuse(f"{MANIFEST} is not as we write it ({wrong})")


@contextmanager
def reading(path: Path) -> Iterator[Reading]:
    """Raises ImportRefused, ImportTooNew."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise ImportRefused(file=str(path), problem="it is no zip archive, or its end was cut off") from None
    except OSError as unreadable:
        raise ImportRefused(file=str(path), problem=unreadable.strerror or str(unreadable)) from unreadable
    with archive:
        yield Reading(archive, str(path))


def _member(table: str) -> str:
    return f"tables/{table}.jsonl"


def _lines(columns: list[str], rows: Iterable[list[Any]]) -> Iterator[list[Any]]:
    yield columns
    yield from rows


def _told(told: dict[str, Any]) -> Manifest:
    """Raises KeyError, TypeError or ValueError for another shape."""
    members = {
        str(name): Member(int(each["rows"]), int(each["bytes"]), str(each["sha256"])) for name, each in told["members"].items()
    }
    head = {"seq": int(told["head"]["seq"]), "hash": str(told["head"]["hash"]), "at": str(told["head"]["at"])}
    revision, depth = str(told["revision"]), int(told["depth"])
    if not 1 <= depth <= 100:
        raise ValueError(f"depth {depth}")
    return Manifest(revision, depth, head, str(told["state"]), members, str(told.get("made_by", "")))


LEFT_OUT = frozenset({"embedding", "lease", "passage", "profile"})
OF_CACHES = ("passage", "search")  # their counters
DEPTH = "depth"
_FEW = {"source_file", "source_text", "run_input"}  # rows of megabytes


def export(db: Database, path: Path, *, made_by: str) -> Exported:
    """Raises ExportFailed."""
    return db.read(lambda tx: _write(tx, path, made_by))


def tables() -> tuple[Table, ...]:
    """In an order in which they can be filled."""
    return tuple(table for table in store_tables.metadata.sorted_tables if table.name not in LEFT_OUT)


def _write(tx: Tx, path: Path, made_by: str) -> Exported:
    with writing(path) as into:
        for table in tables():
            into.table(table.name, [column.name for column in table.columns], _exported_rows(tx, table))
        head, manifest = actions.head(tx), _manifest(tx, into, made_by)
        into.manifest(manifest)
    rows = {name.removeprefix("tables/").removesuffix(".jsonl"): member.rows for name, member in into.members.items()}
    return Exported(str(path), path.stat().st_size, head, manifest.state, rows)


def _manifest(tx: Tx, into: Writing, made_by: str) -> Manifest:
    head = actions.head(tx)
    told = {"seq": head.seq, "hash": head.hash, "at": stamp(head.at)}
    depth = schema.stored_depth(tx) or 0
    return Manifest(schema.REVISION, depth, told, state.state_hash(tx), into.members, made_by)


def _exported_rows(tx: Tx, table: Table) -> Iterator[list[Any]]:
    wanted = select(table).order_by(*table.primary_key.columns)
    if table is store_tables.setting:
        wanted = wanted.where(store_tables.setting.c.name == DEPTH)
    if table is store_tables.counter:
        wanted = wanted.where(store_tables.counter.c.name.not_in(OF_CACHES))
    stream = tx.execute(wanted.execution_options(yield_per=4 if table.name in _FEW else 1000))
    hidden = [at for at, column in enumerate(table.columns) if (table.name, column.name) == ("run", "owner")]
    for row in stream:
        yield [None if at in hidden else _plain(value) for at, value in enumerate(row)]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return stamp(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


FIRST = "0003"  # the first schema that was exported
SEEDED = (store_tables.audit_head, store_tables.counter, store_tables.setting)  # filled when a store is made
_AT_ONCE, _MOST_BYTES = 500, 4_000_000


def look(path: Path) -> int:
    """Read the whole file once and touch no database; the depth. Raises ImportRefused, ImportTooNew."""
    with reading(path) as file:
        _refuse_newer(file, path)
        for table in tables():
            for _ in _imported_rows(file, table):
                pass
        return file.manifest.depth


def fill(db: Database, path: Path) -> AuditHead:
    """Raises StoreNotEmpty, ImportRefused; then the store is as it was."""
    with reading(path) as file:
        return db.write(lambda tx: _fill(tx, file, db.safe_url), operation="the import")


def _fill(tx: Tx, file: Reading, url: str) -> AuditHead:
    ids.lock_tree(tx)
    _refuse_filled(tx, url)
    for table in SEEDED:
        tx.execute(delete(table))
    for table in tables():
        for some in _portions(_imported_rows(file, table)):
            tx.execute(insert(table), some)
    _count_on(tx)
    _refuse_other(tx, file)
    return actions.head(tx)


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
    """Refuse unless the imported state is the exported one, and verifies."""
    head, said = actions.head(tx), file.manifest.head
    if (head.seq, head.hash, stamp(head.at)) != (said["seq"], said["hash"], said["at"]):
        file.refuse(f"its history ends with event {head.seq}, the manifest says {said['seq']}")
    if schema.stored_depth(tx) != file.manifest.depth:
        file.refuse(f"its depth is {schema.stored_depth(tx)}, the manifest says {file.manifest.depth}")
    check = verification.check(tx)
    if not check.ok:
        file.refuse(f"its record does not hold: {check.problem}")
    if state.state_hash(tx) != file.manifest.state:
        file.refuse("what stands in it is not what the manifest says")


def _count_on(tx: Tx) -> None:
    """Counters that came after the file was written."""
    known = set(tx.execute(select(store_tables.counter.c.name)).scalars())
    missing = [{"name": name, "value": 0} for name in schema.COUNTERS if name not in known]
    if missing:
        tx.execute(insert(store_tables.counter), missing)


def _portions(rows: Iterator[tuple[dict[str, Any], int]]) -> Iterator[list[dict[str, Any]]]:
    """Group rows into packets. rows: with their size."""
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


def _imported_rows(file: Reading, table: Table) -> Iterator[tuple[dict[str, Any], int]]:
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
    """Convert a value to the column's type. Raises TypeError or ValueError."""
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
