"""Where a Chroma collection lives: in a folder that one process holds, or on a server.

Invariant: what stands in a folder is opened only if every file of it is as it was left: Chroma checks nothing, and a damaged
file would answer wrongly, or end the process. While it is open, a file that anybody else touched is seen before the next answer.
Losing a folder costs time: its owner feeds it again.
Source: verified/store.md §1.4 (what each kind of damage does; a lost graph finds nothing and says nothing).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from memoir_engine.index import chroma
from memoir_engine.index.chroma import Chroma
from memoir_engine.index.lock import FolderLock, FolderTaken
from memoir_engine.nearest import Health

FORM = 1
MANIFEST = "dense.json"
COLLECTION = "vectors"
SAMPLED = 20
ITSELF = 0.999  # cosine of a stored vector to itself, rounding included

Stamp = tuple[int, int, int, int]  # size, modified, changed, inode: nobody changes a file and keeps all four


class Unavailable(Exception):
    """This home cannot be had now; `health` says why."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.health = Health(False, reason, remedy)


class Damaged(Exception):
    """What stands there cannot be used; `fresh` makes room."""


@dataclass(frozen=True)
class Of:
    """What a collection is of; another one is never mistaken for it.

    store: its identity. edition: changes when something was erased from it, so that nothing of an earlier one is kept.
    options: Chroma's.
    """

    store: str
    edition: str
    embedder: str
    dim: int
    options: Mapping[str, Any]

    @property
    def told(self) -> dict[str, Any]:
        return {
            "form": FORM,
            "store": self.store,
            "edition": self.edition,
            "embedder": self.embedder,
            "dim": self.dim,
            "options": dict(self.options),
        }

    @property
    def name(self) -> str:
        """One for each, for people who look into the folder and for every file system."""
        plain = "".join(sign if sign.isalnum() else "-" for sign in self.embedder)[:40].strip("-")
        return f"{plain}-{self.dim}-{hashlib.sha256(f'{self.store} {self.embedder}'.encode()).hexdigest()[:12]}"


class Home(Protocol):
    def begin(self) -> int:
        """The seq up to which it holds everything. Raises Unavailable."""
        ...

    def collection(self) -> Chroma:
        """Open, made where there is none. Raises Damaged, and whatever Chroma raises."""
        ...

    @property
    def is_empty(self) -> bool:
        """Nothing was put there, or not all of the first yet: Chroma fails when it is asked just then."""
        ...

    def intact(self) -> bool:
        """Nobody else changed it since `seal`."""
        ...

    def seal(self, seq: int) -> None:
        """It holds everything up to `seq`."""
        ...

    def fresh(self, *, damaged: bool) -> None:
        """Begin anew after a failure. damaged: what is there cannot be used, or must not be kept."""
        ...

    def close(self) -> None: ...


@dataclass
class InFolder:
    """folder/dense.json names the directory in force, and how each file of it was left."""

    folder: Path
    of: Of
    _lock: FolderLock | None = None
    _open: Chroma | None = None
    _directory: Path | None = None
    _stamps: dict[str, Stamp] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _seq: int = 0
    _busy: threading.Lock = field(default_factory=threading.Lock)  # while its files change

    def begin(self) -> int:
        if not chroma.is_there():
            raise Unavailable("chromadb is not installed", "Install it with: pip install chromadb")
        try:
            self._lock = self._lock or FolderLock(self.folder)
        except FolderTaken as taken:
            remedy = (
                "Close the other one, or run `chroma run` and give vector_store its address: several processes may share that."
            )
            raise Unavailable(f"{taken} uses the index in {self.folder.name}", remedy) from taken
        except OSError as refused:
            reason = f"the folder {self.folder} cannot be written to ({refused.strerror or refused})"
            raise Unavailable(reason, "Give data_dir a folder with the right to write.") from refused
        self._load()
        return self._seq

    @property
    def is_empty(self) -> bool:
        return self._seq == 0

    def collection(self) -> Chroma:
        with self._busy:
            if self._open is None:
                if self._directory is None:
                    self._directory = self.folder / uuid4().hex
                self._open = chroma.in_folder(self._directory, COLLECTION, {"embedder": self.of.embedder}, self.of.options)
                if not finds_itself(self._open):
                    raise Damaged("stored vectors do not find themselves")
                self._seal(self._directory, self._seq)  # opening writes to its database
            return self._open

    def intact(self) -> bool:
        if not self._busy.acquire(blocking=False):
            return True  # nobody can tell while it is at them itself
        try:
            return self._directory is None or self._stamps == _stamps(self._directory)
        finally:
            self._busy.release()

    def seal(self, seq: int) -> None:
        with self._busy:
            if self._directory is None:
                raise Damaged("it was given up meanwhile")
            self._seal(self._directory, seq)

    def _seal(self, directory: Path, seq: int) -> None:
        stamps = _stamps(directory)
        changed = {name for name, stamp in stamps.items() if self._stamps.get(name) != stamp}
        self._digests = {name: _digest(directory / name) if name in changed else self._digests[name] for name in sorted(stamps)}
        self._stamps, self._seq = stamps, seq
        told = {
            **self.of.told,
            "high_water": seq,
            "directory": directory.name,
            "files": {name: [*stamps[name], digest] for name, digest in self._digests.items()},
        }
        part = self.folder / f"{MANIFEST}.part"
        part.write_text(json.dumps(told, indent=1), encoding="utf-8")
        os.replace(part, self.folder / MANIFEST)

    def fresh(self, *, damaged: bool) -> None:
        """Whatever failed in a folder counts as damage."""
        with self._busy:
            self._shut()
            self._directory, self._stamps, self._digests, self._seq = None, {}, {}, 0
            with suppress(OSError):
                (self.folder / MANIFEST).unlink(missing_ok=True)
            self._sweep()

    def close(self) -> None:
        self._shut()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _shut(self) -> None:
        if self._open is not None:
            with suppress(Exception):  # it is let go of, whatever state it is in
                self._open.close()
            self._open = None

    def _load(self) -> None:
        """What the manifest names, if it is as it was left; else nothing."""
        try:
            told = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            kept = {name: (tuple(stamp), digest) for name, (*stamp, digest) in told["files"].items()}
            directory = self.folder / Path(told["directory"]).name
            if {name: told[name] for name in self.of.told} == self.of.told and _as_left(directory, kept):
                self._directory, self._seq = directory, int(told["high_water"])
                self._stamps = _stamps(directory)
                self._digests = {name: digest for name, (_, digest) in kept.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # a cache: its owner feeds it again
        self._sweep()

    def _sweep(self) -> None:
        """Directories that are not in force: of builds that never ended, or were damaged."""
        for found in self.folder.glob("*"):
            if found.is_dir() and found != self._directory:
                shutil.rmtree(found, ignore_errors=True)


@dataclass
class OnServer:
    """A collection on a server that many processes share, and many stores: its name tells whose it is.

    One of before an erasure goes when it is next opened, whoever erased, and wherever the server was then.
    """

    url: str
    of: Of
    _open: Chroma | None = None

    def begin(self) -> int:
        if not chroma.is_there():
            raise Unavailable("chromadb is not installed", "Install it with: pip install chromadb")
        try:
            chroma.probe(self.url)
            self.close()
            return self.collection().mark
        except chroma.ServerSilent as silent:
            raise Unavailable(str(silent), f"Start it (chroma run) or correct vector_store, which names {self.url}") from silent

    @property
    def is_empty(self) -> bool:
        return False

    def collection(self) -> Chroma:
        if self._open is None:
            told = {"embedder": self.of.embedder, chroma.EDITION: int(self.of.edition)}
            self._open = chroma.on_server(self.url, f"memoir-{self.of.name}", told, self.of.options)
            if not finds_itself(self._open):
                raise Damaged("stored vectors do not find themselves")
        return self._open

    def intact(self) -> bool:
        return True

    def seal(self, seq: int) -> None:
        """Others may have gone further; what they know is not forgotten, at worst fed to it again."""
        self.collection().set_mark(seq)

    def fresh(self, *, damaged: bool) -> None:
        """What others use too goes only where it is of no use: a call that failed says nothing about it."""
        if damaged and self._open is not None:
            with suppress(Exception):  # gone already, or the server is
                self._open.destroy()
        self.close()

    def close(self) -> None:
        if self._open is not None:
            with suppress(Exception):
                self._open.close()
            self._open = None


def finds_itself(held: Chroma) -> bool:
    """By content: a collection that lost its graph still counts right, answers, and finds nothing."""
    count = len(held)
    if not count:
        return True
    sampled = dict(held.rows(held.sample(SAMPLED)))
    return bool(sampled) and all(_nearest(held, row) >= ITSELF for row in sampled.values())


def _nearest(held: Chroma, row: Any) -> float:
    return max((cosine for _, cosine in held.top(row, 1)), default=-1.0)


def _stamps(directory: Path) -> dict[str, Stamp]:
    """Before each answer, so without a look at what is no file of its own."""
    found: dict[str, Stamp] = {}
    left = [("", str(directory))]
    while left:
        named, place = left.pop()
        with suppress(FileNotFoundError), os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir():
                    left.append((f"{named}{entry.name}/", entry.path))
                    continue
                with suppress(FileNotFoundError):
                    stat = os.stat(entry.path)
                    found[f"{named}{entry.name}"] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    return found


def _as_left(directory: Path, kept: Mapping[str, tuple[Any, str]]) -> bool:
    """By stamps; a file that was copied or moved by its content."""
    stamps = _stamps(directory)
    if not kept or stamps.keys() != kept.keys():
        return False
    return all(stamps[name] == stamp or _digest(directory / name) == digest for name, (stamp, digest) in kept.items())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
