"""Numbers for new rows, and the order in which locks are taken.

Invariant: ids of one reservation are consecutive, so chunks are numbered in position order; AUTO_INCREMENT promises neither
order nor gaplessness on a cluster. Whoever changes the tree takes `lock_tree` first, then counters in alphabetical order,
then rows, the chain's head, and last of all `passage` and `search`: no two writers wait for each other.
Source: DESIGN §5, §6.
"""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx

COUNTERS = (
    "category",
    "chunk",
    "cut",
    "decision",
    "erasure",
    "fact",
    "helper",
    "model_call",
    "passage",
    "search",
    "session",
    "source",
    "thread",
    "tree",
)

_ADD = update(t.counter).where(t.counter.c.name == bindparam("which")).values(value=t.counter.c.value + bindparam("count"))
_READ = select(t.counter.c.value).where(t.counter.c.name == bindparam("which"))


def reserve(tx: Tx, name: str, count: int) -> int:
    """The first of `count` consecutive ids; the counter stays locked until the transaction ends."""
    tx.execute(_ADD, {"which": name, "count": count})
    return int(tx.execute(_READ, {"which": name}).scalar_one()) - count + 1


def tick(tx: Tx) -> int:
    """The next number of the clock of searching. Who ticks commits before who ticks later, so an index that has seen one number
    has seen all before it."""
    return reserve(tx, "search", 1)


def searched(tx: Tx) -> int:
    """What the clock of searching shows: up to where whatever is searched has changed."""
    return int(tx.execute(_READ, {"which": "search"}).scalar() or 0)


def lock_tree(tx: Tx) -> None:
    """Wait until nobody else changes the tree; checks made after this hold until the commit."""
    reserve(tx, "tree", 1)


def erasures(tx: Tx, *, hold: bool = False) -> int:
    """How many there were. With `hold` none can happen until the transaction ends: take it before any other lock."""
    wanted = select(t.counter.c.value).where(t.counter.c.name == "erasure")
    return tx.execute(wanted.with_for_update(read=True) if hold else wanted).scalar() or 0
