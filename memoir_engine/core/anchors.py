"""Heads of the audit log that are held elsewhere: what one says, what a place is, and how it agrees with a history.

Invariant: pure. A record is one line of JSON; what is signed is that line without its signature.
A place belongs to one memory: heads of another one there mean that the database was swapped.
Source: DESIGN §6; docs/decisions/0104.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from memoir_engine.core.results import AnchorCheck

FORMAT = "memoir-anchor/1"


class PlaceUnreachable(Exception):
    """A place cannot be read or written now. Its text says why, in words."""


class AnchorPlace(Protocol):
    """Place that holds heads. Both methods raise PlaceUnreachable."""

    def read(self) -> str:
        """Return all lines, oldest first."""
        ...

    def append(self, line: str) -> None: ...


@dataclass(frozen=True)
class AnchorRecord:
    """The head of a memory at one moment. store: identity of the memory. at: time of the head's event, as it is stored."""

    store: str
    seq: int
    hash: str
    at: str
    key: str | None = None
    signature: str | None = None

    def signed_bytes(self) -> bytes:
        fields = {name: value for name, value in asdict(self).items() if name != "signature"}
        return json.dumps({"format": FORMAT, **fields}, sort_keys=True, separators=(",", ":")).encode()

    def line(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, separators=(",", ":"))


def read_records(lines: str) -> list[AnchorRecord]:
    """Parse the lines of a place. One that is no record is left out: the place may be a file that others write into, too."""
    found = []
    for line in lines.splitlines():
        try:
            record = json.loads(line)
            if isinstance(record, dict) and record.pop("format", None) == FORMAT:
                found.append(AnchorRecord(**record))
        except (ValueError, TypeError):
            continue
    return found


@dataclass(frozen=True)
class Held:
    """Records of one place, or the reason why it could not be read."""

    place: str
    records: Sequence[AnchorRecord] = ()
    problem: str = ""


Verify = Callable[[AnchorRecord], bool]  # whether a record carries the signature of a key that counts


@dataclass(frozen=True)
class Agreement:
    """How one place agrees with a history. since: the last event it agrees on, where it differs."""

    check: AnchorCheck
    problem: str = ""
    since: int = 0


def compare(held: Held, store: str, hashes: Mapping[int, str], signed: Verify | None) -> Agreement:
    """Compare a place with a history.

    hashes: of the events that any place has a record of; an event that is missing there is missing in the history.
    signed: given where signatures are expected. Records before the first signature count as they are; later ones must carry one.
    """
    if held.problem:
        return Agreement(AnchorCheck(held.place, "unreachable", None), held.problem)
    if not held.records:
        return Agreement(AnchorCheck(held.place, "empty", None))
    own = sorted((record for record in held.records if record.store == store), key=lambda record: record.seq)
    if not own:
        says = "it holds heads of another memory: the database may have been swapped"
        return Agreement(AnchorCheck(held.place, "differs", held.records[-1].seq), says)
    agreed = 0
    is_signed = False
    for record in own:
        is_signed = is_signed or record.signature is not None
        if signed is not None and is_signed and not signed(record):
            return _differs(held.place, record, agreed, f"its head of event {record.seq} is not signed by a key that counts")
        if hashes.get(record.seq) != record.hash:
            return _differs(held.place, record, agreed, _rewritten(record, hashes, agreed))
        agreed = record.seq
    if signed is not None and not is_signed:
        return _differs(held.place, own[-1], 0, "none of its heads is signed")
    return Agreement(AnchorCheck(held.place, "agrees", agreed), since=agreed)


def _differs(place: str, record: AnchorRecord, agreed: int, says: str) -> Agreement:
    return Agreement(AnchorCheck(place, "differs", record.seq), says, agreed)


def _rewritten(record: AnchorRecord, hashes: Mapping[int, str], agreed: int) -> str:
    if record.seq not in hashes:
        return f"it holds event {record.seq}, which is missing: the end of the history was cut off after event {agreed} or later"
    return f"its head of event {record.seq} is another one: the history was rewritten after event {agreed}"


def signed_by(record: AnchorRecord, key_id: str, sign: Callable[[bytes], str]) -> AnchorRecord:
    """Return the record with its signature."""
    named = replace(record, key=key_id)
    return replace(named, signature=sign(named.signed_bytes()))
