"""States of graphs, taken away or copied: threads, checkpoints of runs, all but the latest.

Invariant: a value goes when no checkpoint that stays holds it, in the transaction that takes the last that did; the thread's row
is held meanwhile. Counting first and taking then say the same numbers.
Source: SESSION 3.3; LangGraph's delete_thread, delete_for_runs, copy_thread, prune.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select

from memoir_engine.results.checkpoints import Pruned
from memoir_engine.store import checkpoints, ids
from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx, portions

_OF_THREADS = (t.checkpoint_write, t.checkpoint_value, t.checkpoint)
NOTHING = Pruned(0, 0, 0, 0, 0, False)


def delete_threads(tx: Tx, owner: str, thread_ids: Collection[str] | None) -> Pruned:
    """With all their namespaces; all threads of the owner where none are named."""
    numbers = [number for number, _, _ in checkpoints.threads_of(tx, owner, thread_ids)]
    gone = NOTHING
    for number in numbers:
        _hold(tx, number)
        rows = {table: _counted(tx, table, number) for table in _OF_THREADS}
        for table in _OF_THREADS:
            tx.execute(delete(table).where(table.c.thread == number))
        tx.execute(delete(t.checkpoint_thread).where(t.checkpoint_thread.c.number == number))
        checkpoints_, writes, values = (rows[table][0] for table in (t.checkpoint, t.checkpoint_write, t.checkpoint_value))
        gone = added(gone, Pruned(1, checkpoints_, writes, values, sum(size for _, size in rows.values()), False))
    return gone


def of_runs(tx: Tx, owner: str, run_ids: Iterable[str]) -> dict[int, list[str]]:
    """The checkpoints that runs of graphs made, by thread."""
    c, threads = t.checkpoint.c, t.checkpoint_thread.c
    joined = select(c.thread, c.id).join(t.checkpoint_thread, threads.number == c.thread).where(threads.owner == owner)
    found: dict[int, list[str]] = {}
    for some in portions(sorted(set(run_ids))):
        for thread, number in tx.execute(joined.where(c.run_id.in_(some)).order_by(c.thread, c.id)):
            found.setdefault(thread, []).append(number)
    return found


def take(tx: Tx, owner: str, gone: Mapping[int, Collection[str]], *, dry_run: bool = False) -> Pruned:
    """gone: ids of checkpoints, by thread. With their writes, and the values that nobody else holds."""
    mine = {number for number, _, _ in checkpoints.threads_of(tx, owner)}
    total = Pruned(0, 0, 0, 0, 0, dry_run)
    for thread, named in sorted(gone.items()):
        if thread in mine and named:
            if not dry_run:
                _hold(tx, thread)
            total = added(total, _taken(tx, thread, set(named), dry_run))
    return total


def copy(tx: Tx, owner: str, source: str, target: str, now: datetime) -> None:
    """Into a thread that is not there, or whose checkpoints have other ids."""
    for number, _, ns in checkpoints.threads_of(tx, owner, [source]):
        _hold(tx, number)
        known = {name: there for there, _, name in checkpoints.threads_of(tx, owner, [target])}
        if ns in known:
            delete_thread_rows(tx, known[ns])
        new = ids.reserve(tx, "thread", 1)
        row = dict(tx.execute(select(t.checkpoint_thread).where(t.checkpoint_thread.c.number == number)).one()._mapping)
        key = checkpoints.key_of(target)
        row |= {"number": new, "thread_id": target, "thread_key": key, "created_at": now}
        tx.execute(insert(t.checkpoint_thread), [row])
        for table in reversed(_OF_THREADS):
            _copied(tx, table, number, new)


def delete_thread_rows(tx: Tx, number: int) -> None:
    for table in _OF_THREADS:
        tx.execute(delete(table).where(table.c.thread == number))
    tx.execute(delete(t.checkpoint_thread).where(t.checkpoint_thread.c.number == number))


def added(one: Pruned, other: Pruned) -> Pruned:
    return Pruned(
        one.threads + other.threads,
        one.checkpoints + other.checkpoints,
        one.writes + other.writes,
        one.values + other.values,
        one.bytes + other.bytes,
        one.dry_run or other.dry_run,
    )


def _taken(tx: Tx, thread: int, named: set[str], dry_run: bool) -> Pruned:
    c = t.checkpoint.c
    size, held = 0, set()
    found: list[str] = []
    for row in tx.execute(select(c.id, c.body).where(c.thread == thread)):
        if row.id in named:
            found.append(row.id)
            size += len(row.body)
        else:
            held |= _numbers(checkpoints.held_of(row.body))
    w, v = t.checkpoint_write.c, t.checkpoint_value.c
    rows = tx.execute(select(w.checkpoint_id, func.length(w.bytes)).where(w.thread == thread)).all()
    writes = [length for checkpoint_id, length in rows if checkpoint_id in named]
    values = [
        (n, length) for n, length in tx.execute(select(v.n, func.length(v.bytes)).where(v.thread == thread)) if n not in held
    ]
    if not dry_run:
        for some in portions(found):
            tx.execute(delete(t.checkpoint_write).where(w.thread == thread, w.checkpoint_id.in_(some)))
            tx.execute(delete(t.checkpoint).where(c.thread == thread, c.id.in_(some)))
        for numbers in portions([n for n, _ in values]):
            tx.execute(delete(t.checkpoint_value).where(v.thread == thread, v.n.in_(numbers)))
    lost = size + sum(writes) + sum(length for _, length in values)
    return Pruned(1 if found else 0, len(found), len(writes), len(values), lost, dry_run)


def _numbers(held: checkpoints.Held) -> set[int]:
    found: set[int] = set()
    for one in held.values():
        if isinstance(one, int):
            found.add(one)
        else:
            for start, end in one:
                found.update(range(start, end))
    return found


def _copied(tx: Tx, table: Any, source: int, target: int) -> None:
    columns = [column for column in table.columns if column.name != "thread"]
    said = select(*columns).where(table.c.thread == source)
    stream = tx.execute(said.execution_options(yield_per=500))
    for some in stream.partitions():
        tx.execute(insert(table), [{**row._mapping, "thread": target} for row in some])


def _counted(tx: Tx, table: Any, number: int) -> tuple[int, int]:
    column = table.c.body if table is t.checkpoint else table.c.bytes
    counted = select(func.count(), func.coalesce(func.sum(func.length(column)), 0)).where(table.c.thread == number)
    rows, size = tx.execute(counted).one()
    return int(rows), int(size)


def _hold(tx: Tx, number: int) -> None:
    c = t.checkpoint_thread.c
    tx.execute(select(c.number).where(c.number == number).with_for_update())
