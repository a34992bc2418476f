"""What a run needs to go on, kept from the moment its row is written until it is done or was given up.

Invariant: no evidence and in no event; bytes and words of an ingestion that came to nothing do not outlive it. What is kept
of one that failed or was interrupted goes when the same bytes are stored by another run.
Source: MEMOIR 2B.7 (an ingestion that waits for a person), 7.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, parse
from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import Tx

PART = 4_000_000  # bytes: MySQL's default packet is 16 MB
_FORGET = Prepared(delete(t.run_input).where(t.run_input.c.run_id == bindparam("which")))


@dataclass(frozen=True)
class Kept:
    """`how` is JSON: all of what was asked but the bytes."""

    how: dict[str, Any]
    data: bytes


def keep(tx: Tx, run_id: str, kept: Kept) -> None:
    """Write it; does nothing when it is there already."""
    if kept_runs(tx, [run_id]):
        return
    parts = [_told(kept.how), *(kept.data[i : i + PART] for i in range(0, len(kept.data), PART))]
    for part, some in enumerate(parts):
        tx.execute(insert(t.run_input).values(run_id=run_id, part=part, bytes=some))


def amend(tx: Tx, run_id: str, **how: Any) -> None:
    """Change how to go on."""
    c = t.run_input.c
    header = (c.run_id == run_id) & (c.part == 0)
    before = tx.execute(select(c.bytes).where(header)).scalar_one()
    after = {**_read(before), **how}
    tx.execute(update(t.run_input).where(header).values(bytes=_told(after)))


def get(tx: Tx, run_id: str) -> Kept | None:
    c = t.run_input.c
    parts = tx.execute(select(c.bytes).where(c.run_id == run_id).order_by(c.part)).scalars().all()
    return Kept(_read(parts[0]), b"".join(parts[1:])) if parts else None


def kept_runs(tx: Tx, run_ids: list[str]) -> set[str]:
    """Those of the runs of which something is kept."""
    c = t.run_input.c
    return set(tx.execute(select(c.run_id).where(c.run_id.in_(run_ids), c.part == 0)).scalars()) if run_ids else set()


def forget(tx: Tx, run_id: str) -> None:
    _FORGET.run(tx, {"which": run_id})


def forget_ended(tx: Tx, subject: str | None) -> None:
    """What failed and interrupted runs over the same bytes have left: they are stored now."""
    if subject is not None:
        c = t.run.c
        ended = select(c.id).where(c.subject == subject, c.status.in_(("failed", "interrupted")))
        tx.execute(delete(t.run_input).where(t.run_input.c.run_id.in_(ended)))


def _told(how: dict[str, Any]) -> bytes:
    return canonical(how).encode("utf-8", "surrogatepass")  # what cannot be stored is told so later, by its own error


def _read(told: bytes) -> dict[str, Any]:
    how: dict[str, Any] = parse(told.decode("utf-8", "surrogatepass"))
    return how
