"""Heads of the audit log, held elsewhere: written behind the changes, read to verify.

Invariant: no change waits for a place or is lost because of one. A head covers everything before it, so a place that could not be
written owes nothing but the newest head. Nothing is appended to a place that differs from the history: what it holds must stay
the proof. At most one head a second goes to a place.
Source: docs/decisions/0104; API "What comes next".
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memoir_engine.anchors.places import KINDS, open_place
from memoir_engine.core.anchors import AnchorPlace, AnchorRecord, Held, PlaceUnreachable, Verify, compare, read_records
from memoir_engine.core.errors import DatabaseError, ExtraMissing, InvalidSetting, MemoryClosed
from memoir_engine.core.results import AnchorState, AuditHead
from memoir_engine.core.settings import MemoirConfig, without_secrets
from memoir_engine.store.anchor_table import open_table
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.canonical_json import stamp
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.ids import identity

if TYPE_CHECKING:
    from memoir_engine.anchors.keys import SigningKey

PAUSE_S = 1.0  # between two heads
LONGEST_PAUSE_S = 60.0  # between two attempts at a place that cannot be written
LAST_S = 15.0  # a closing memory waits so long for its last head


@dataclass
class _Kept:
    """The state of one place. seq: of the last head it holds; None until it was looked at."""

    place: AnchorPlace
    seq: int | None = None
    problem: str = ""


@dataclass
class Anchoring:
    """The places of one memory. Without any there is no thread and nothing to do."""

    db: Database
    places: Mapping[str, AnchorPlace]
    key: SigningKey | None = None
    signed: Verify | None = None  # where signatures are expected
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _due: threading.Event = field(default_factory=threading.Event)
    _closed: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Hold the present head, which may be owed, and each later one."""
        if not self.places:
            return
        self._kept = {name: _Kept(place) for name, place in self.places.items()}
        self.db.on_commit.append(self._due.set)
        self._due.set()
        self._thread = threading.Thread(target=self._keep_up, name="memoir-anchors", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hold the last head, for as long as it is waited for; what is owed then is made up for at the next opening."""
        self._closed.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join(LAST_S)

    def states(self, at: AuditHead | None = None) -> tuple[AnchorState, ...]:
        """Return what each place holds. at: the head that counts; the one of now by default."""
        head = self.db.read(actions.head) if at is None else at
        return tuple(
            AnchorState(name, kept.seq or None, max(0, head.seq - (kept.seq or 0)), kept.problem)
            for name, kept in self._kept.items()
        )

    def read(self, places: Mapping[str, AnchorPlace] | None = None) -> list[Held]:
        """Read every place, or those given. One that cannot be read says why."""
        return [_read(name, place) for name, place in (self.places if places is None else places).items()]

    def _keep_up(self) -> None:
        pause = PAUSE_S
        while True:
            self._due.wait(None if pause == PAUSE_S else pause)
            self._due.clear()
            pause = PAUSE_S if self._hold_head() else min(pause * 2, LONGEST_PAUSE_S)
            if self._closed.wait(PAUSE_S):
                if self._due.is_set():
                    self._hold_head()
                return

    def _hold_head(self) -> bool:
        """Append the head to every place that lacks it. False where one could not be written."""
        try:
            head = self.db.read(actions.head)
            held = [self._hold(name, kept, head) for name, kept in self._kept.items() if head.seq]
            return all(held)
        except MemoryClosed:
            return True
        except DatabaseError:
            return False

    def _hold(self, name: str, kept: _Kept, head: AuditHead) -> bool:
        try:
            if kept.seq is None or kept.problem:
                kept.seq, kept.problem = self._look(name, kept.place)
            if kept.problem or kept.seq == head.seq:
                return True
            record = AnchorRecord(identity(self.db), head.seq, head.hash, stamp(head.at))
            kept.place.append((self.key.sign(record) if self.key else record).line())
            kept.seq = head.seq
        except PlaceUnreachable as away:
            kept.problem = str(away)
            return False
        return True

    def _look(self, name: str, place: AnchorPlace) -> tuple[int, str]:
        """Return the event of the last head a place holds, and why nothing may be appended to it."""
        store, records = identity(self.db), read_records(place.read())
        last = max((record for record in records if record.store == store), key=lambda record: record.seq, default=None)
        held = Held(name, records if last is None else [last])
        now = {} if last is None else self._hash_of(last.seq)
        return 0 if last is None else last.seq, compare(held, store, now, None).problem

    def _hash_of(self, seq: int) -> dict[int, str]:
        return {event.seq: event.hash for event in self.db.read(lambda tx: actions.events(tx, before=seq + 1, limit=1))}


def open_anchoring(db: Database, config: MemoirConfig) -> Anchoring:
    """Open the configured places. Raises InvalidSetting for what is no place or key, ExtraMissing if keys lack their library."""
    places = open_places(config.anchors, config.data_dir)
    if config.signing_key is None:
        return Anchoring(db, places, signed=signatures(config.public_keys))
    _check_library()
    from memoir_engine.anchors.keys import read_public_keys, read_signing_key

    key = read_signing_key(config.signing_key.get_secret_value())
    return Anchoring(db, places, key, read_public_keys(config.public_keys).and_those(key.public).has_signed)


def signatures(public_keys: Sequence[str]) -> Verify | None:
    """Return what tells whether a record is signed by one of these keys; None where there are none."""
    if not public_keys:
        return None
    _check_library()
    from memoir_engine.anchors.keys import read_public_keys

    return read_public_keys(public_keys).has_signed


def make_key(path: Path) -> tuple[Path, str]:
    """Make a signing key in a file, and its public key beside it; return the public one's path and the id. Raises OSError."""
    _check_library()
    from memoir_engine.anchors.keys import make_signing_key

    return make_signing_key(path)


def _check_library() -> None:
    if find_spec("cryptography") is None:
        raise ExtraMissing(library="cryptography", extra="signing")


def open_places(named: Sequence[str], data_dir: Path) -> dict[str, AnchorPlace]:
    """Open places by the names that are shown: without passwords. Raises InvalidSetting."""
    found: dict[str, AnchorPlace] = {}
    for name, shown in zip(named, without_secrets("anchors", named), strict=True):
        place = open_place(name, data_dir)
        if place is None and "://" not in name:
            raise InvalidSetting(
                name="anchors", value=shown, problem="it is no place that heads can be held in", advice=f"Use {KINDS}."
            )
        found[shown] = place or open_table(name)
    return found


def _read(name: str, place: AnchorPlace) -> Held:
    try:
        return Held(name, read_records(place.read()))
    except PlaceUnreachable as away:
        return Held(name, problem=str(away))
