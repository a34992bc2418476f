"""Questions that were asked before: their results read again from the ledger, and two of them compared.

Invariant: a run of another user answers exactly like a missing one.
Source: MEMOIR 8; API "The ledger and the audit"; DESIGN §9.
"""

from __future__ import annotations

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results import QueryResult, RunComparison, RunDetail, RunView
from memoir_engine.core.run import Actor
from memoir_engine.query.record import as_of_seq, chunk_ids, compare, from_record
from memoir_engine.runtime.access import runs_of
from memoir_engine.runtime.engine import Engine
from memoir_engine.store.chain import state
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import calls, decisions, runs
from memoir_engine.store.tree import categories, chunks

MOST_ROWS = 1000  # calls and decisions of a run that is no question


def view_of(engine: Engine, actor: Actor, run_id: str) -> RunView:
    """Raises RunNotFound."""
    named = validation.run(run_id)
    return engine.db.read(lambda tx: runs.get(tx, named, user=runs_of(actor)))


def result_of(engine: Engine, actor: Actor, run_id: str) -> QueryResult:
    """Read a question's result from the ledger; of one that still runs, what is known so far. Raises RunNotFound."""
    named = validation.run(run_id)

    def work(tx: Tx) -> QueryResult:
        run = runs.get(tx, named, user=runs_of(actor))
        most = None if run.verb == "query" else MOST_ROWS
        asked = calls.of_run(tx, run_id, texts=True, limit=most)
        detail = RunDetail(run, asked, decisions.of_run(tx, run_id, limit=most), ())
        found = chunks.of_ids(tx, chunk_ids(run.result), at_seq=as_of_seq(run))
        unerased = {chunk.id: chunk for chunk in found if chunk.text}
        return from_record(detail, unerased, categories.names(tx, at_seq=run.tree_seq))

    return engine.db.read(work)


def compared(engine: Engine, actor: Actor, one: str, other: str) -> RunComparison:
    """Compare two questions: what was asked, chosen, read and answered differently. Raises RunNotFound, InvalidSetting."""
    first, second = view_of(engine, actor, one), view_of(engine, actor, other)
    for run in (first, second):
        if run.verb != "query":
            problem = f"it is of {run.verb!r}"
            raise InvalidSetting(name="run_id", value=run.id, problem=problem, advice="Give the runs of two questions.")
    seqs = first.tree_seq or 0, second.tree_seq or 0
    changed = engine.db.read(lambda tx: state.changed_between(tx, *seqs))
    results = result_of(engine, actor, one), result_of(engine, actor, other)
    return compare((first, second), results, tree_changed=changed)
