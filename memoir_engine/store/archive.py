"""The one file a memory is exported to: JSON lines per table in a zip, and a manifest that says what must be in it.

Invariant: written beside its place and renamed when it is whole; read line by line, nothing is ever unpacked to disk. What is
read is what the manifest says, to the byte, or it is refused with its member and line.
Source: API "The ledger and the audit" (export); DESIGN §12 (archive bombs).
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from memoir_engine.errors import ExportFailed, ImportRefused, ImportTooNew

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
