"""Which checkpoints of a thread are old: all but the latest, and but what the latest are read from.

Invariant: whatever stays can be read as before. A channel that LangGraph keeps as differences of its own (a delta channel) is put
together from what tasks wrote since an older checkpoint: those between stay, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from langgraph.checkpoint.serde.base import SerializerProtocol

from memoir_engine.store import checkpoints
from memoir_engine.store.checkpoints import Row
from memoir_engine.store.types import Tx

PAGE = 500


def old(tx: Tx, owner: str, serde: SerializerProtocol, thread_ids: Collection[str] | None, most: int) -> dict[int, set[str]]:
    """Ids by thread. most: how many of the latest stay in each thread and namespace."""
    gone: dict[int, set[str]] = {}
    for thread, name, ns in checkpoints.threads_of(tx, owner, thread_ids):
        rows = list(_rows(tx, owner, name, ns))
        by_id = {row.id: row for row in rows}
        kept = {row.id for row in rows[:most]}
        for row in rows[:most]:
            kept |= _needed(serde, row, by_id)
        gone[thread] = by_id.keys() - kept
    return gone


def _rows(tx: Tx, owner: str, thread_id: str, ns: str) -> Iterator[Row]:
    after: tuple[int, str] | None = None
    while page := checkpoints.listed(tx, owner, thread_id=thread_id, ns=ns, after=after, limit=PAGE):
        yield from page
        after = (page[-1].thread, page[-1].id)


def _needed(serde: SerializerProtocol, row: Row, by_id: Mapping[str, Row]) -> set[str]:
    open_ = set(serde.loads_typed(row.meta).get("counters_since_delta_snapshot") or ()) - set(row.held)
    found: set[str] = set()
    at = row.parent
    while open_ and at is not None and at in by_id:
        found.add(at)
        open_ -= set(by_id[at].held)
        at = by_id[at].parent
    return found
