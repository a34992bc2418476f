"""States of graphs removed by somebody: an action whose event says how many, in the transaction that takes them.

Invariant: once per action id; where nothing goes there is no action. The event holds numbers only: states are no evidence, and
names of threads are their user's.
Source: DESIGN §2.8, §6; docs/decisions/0018.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from memoir_engine.results.checkpoints import Pruned
from memoir_engine.run import Clock
from memoir_engine.store import chain, sweeping
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.types import Tx

VERB = "remove_graph_states"
KIND = "checkpoints.removed"
COUNTS = ("threads", "checkpoints", "writes", "values", "bytes")


def perform(tx: Tx, remove: Callable[[Tx], Pruned], *, actor: str, clock: Clock, action_id: str) -> Pruned:
    """`remove`, and who did it."""
    if chain.exists(tx, action_id):
        return done(tx, action_id)
    gone = remove(tx)
    if gone != sweeping.NOTHING:
        action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
        action.describe(reason=None)
        add(action, gone)
        action.seal()
    return gone


def add(action: OpenAction, gone: Pruned) -> None:
    """As part of an action; nothing where nothing went."""
    if gone != sweeping.NOTHING:
        action.add(KIND, **{name: getattr(gone, name) for name in COUNTS})


def done(tx: Tx, action_id: str) -> Pruned:
    """What an action removed."""
    c = t.audit_event.c
    body = tx.execute(select(c.body).where(c.action_id == action_id, c.kind == KIND)).scalar()
    if body is None:
        return sweeping.NOTHING
    said = parse(body)
    threads, checkpoints, writes, values, size = (int(said[name]) for name in COUNTS)
    return Pruned(threads, checkpoints, writes, values, size, False)
