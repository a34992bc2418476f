"""Texts stored under a doc_id of their own: searchable, and filed in the tree only once they are ingested.

Invariant: at most one source in force has a doc_id. Writes the same rows as an ingestion, but no helper, chunks or filings; all
or nothing, once per run.
Source: MEMOLLA F-02, E002; DESIGN §5 (source), §6; spec README 1.
"""

from __future__ import annotations

from sqlalchemy import select, update

from memoir_engine.core.errors import DocIdExists
from memoir_engine.core.results import Source
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.db import ids
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger.run_end import close_with
from memoir_engine.store.ledger.runs import hold
from memoir_engine.store.search import passages
from memoir_engine.store.sources import sources as source_store
from memoir_engine.store.sources.ingestion import write_source
from memoir_engine.store.sources.plan import NewSource, check_source
from memoir_engine.store.tables import sources

VERB = "add_knowledge"
STORED = "stored"


def find(tx: Tx, doc_id: str) -> Source | None:
    """Return the source in force with exactly this doc_id; some databases treat ids as equal that differ in trailing spaces."""
    c = tables.source.c
    rows = tx.execute(select(c.id, c.doc_id).where(c.doc_id == doc_id, c.status.in_(sources.LIVE)).order_by(c.id)).all()
    number = next((row.id for row in rows if row.doc_id == doc_id), None)
    return None if number is None else source_store.get(tx, number)


def add(tx: Tx, new: NewSource, *, run_id: str, actor: str, clock: Clock, owner: str | None = None) -> tuple[Source, str]:
    """Write the source with its passages and events, close its run as done, and return the source and the action's id.

    Raises DocIdExists, TextInvalid; WriteFailed if the run has ended or belongs to another process by now.
    """
    done = actions.find(tx, run_id=run_id, verb=VERB)
    if done is not None:
        return source_store.get(
            tx, tx.execute(select(tables.source.c.id).where(tables.source.c.run_id == run_id)).scalar_one()
        ), done
    check_source(new)
    ids.erasures(tx, hold=True)
    ids.lock_tree(tx)
    if new.doc_id is None or find(tx, new.doc_id) is not None:
        raise DocIdExists()
    number, now = ids.reserve(tx, "source", 1), clock.now()
    row = write_source(tx, new, number, run_id=run_id, now=now, version=1, status=STORED)
    hold(tx, run_id, owner, f"the knowledge {new.doc_id!r}")
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock)
    action.describe(reason=None, run_id=run_id)
    seq = action.add("source.added", source=number, replaces=None, status=STORED, digest=row["digest"])
    tx.execute(update(tables.source).where(tables.source.c.id == number).values(status_seq=seq))
    cut = passages.add_source(tx, number, new.text, new.dated)
    close_with(tx, action, run_id, now=now, result={"source_id": number, "passages": len(cut), "action_id": action.id})
    return source_store.get(tx, number), action.id
