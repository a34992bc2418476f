"""Runs as they are executed: the row first, then the work, then how it ended.

Invariant: a run's row is committed before its work begins, and it never stays open when its work has ended.
A cancelled run stops at its next wait; once its commit has begun it is too late.
Source: DESIGN §2.5, §7; MEMOIR 7B.4.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from memoir_engine.core import validation
from memoir_engine.core.errors import (
    DatabaseError,
    IngestionCancelled,
    IngestionInterrupted,
    MemoirError,
    QueryCancelled,
    RememberingCancelled,
)
from memoir_engine.core.events import DatabaseRetried, RunEnded, RunStarted, Stamped, Warned
from memoir_engine.core.run import Actor, Clock, Listener, Run, RunStatus, new_id
from memoir_engine.runtime.loop import BackgroundLoop
from memoir_engine.store.db import ids
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.types import Tx
from memoir_engine.store.ledger import calls, run_end, runs
from memoir_engine.store.ledger.calls import Counted
from memoir_engine.store.ledger.recorder import NONE_YET, Recorder, Unit
from memoir_engine.store.ledger.run_end import Kept

# === underway: A run that is under way in this process, and what its row said when it was opened.


@dataclass
class Running:
    run: Run
    recorder: Recorder
    task: asyncio.Task[Any] | None = None
    done: threading.Event = field(default_factory=threading.Event)
    leaving: bool = False  # the memory closes under it
    begun: bool = False  # its row says so already


@dataclass(frozen=True)
class Opened:
    """A run's row as it was written: what an earlier opening has counted, and how many erasures there had been by then.

    paid: fingerprints of what others have paid for of the same subject; None where nobody looked.
    """

    erasures: int
    events: int = 0
    counted: Counted | None = None
    begun: bool = False
    paid: set[str] | None = None


# === awaiting: The work of a run, waited for by somebody who may leave.
#
# Invariant: whoever leaves cancels the run, unless its commit has begun; what it came to is known all the same.
# Source: DESIGN §7.


Result = TypeVar("Result")


async def outcome(task: asyncio.Task[Result], run: Run) -> Result:
    """What the work came to, also when whoever waits for it leaves first."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done() and run.cancellation.ask():
            task.cancel()
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()


# === telling: Callers' listeners: what `on_event` is given, and what becomes of one that fails.
#
# Invariant: a listener that fails is told to the log and not called again: an ingestion is worth more than its progress
# bar.
# Source: DESIGN §2.6.


OnEvent = Callable[[Stamped], object]  # called on the engine's own thread, one event after the other, while the run waits for it


def listeners(on_event: OnEvent | None) -> tuple[Listener, ...]:
    """Raises InvalidSetting for what cannot be called."""
    return () if on_event is None else (_guarded(validation.function("on_event", on_event)),)


def _guarded(on_event: OnEvent) -> Listener:
    failed = False

    def listener(stamped: Stamped) -> None:
        nonlocal failed
        if failed:
            return
        try:
            on_event(stamped)
        except Exception:
            failed = True
            logging.getLogger(__name__).exception("on_event failed; it hears no more of run %s", stamped.run_id)

    return listener


# === running


HEARTBEAT_S = 2.0
FIRST_BEAT_S = 0.5
LEAVE_S = 10.0  # how long closing waits for a run to stop
CANCELLED = (IngestionCancelled, QueryCancelled, RememberingCancelled)


@dataclass(frozen=True)
class Verb(Generic[Result]):
    """What is to be run: its name, what was asked, whose calls may be re-used, and the work itself.

    work: fills in the result; raises what went wrong.
    failed: the result that tells an error; `stopped` is the error that tells a cancellation.
    record: ids and numbers of the result, kept with the run.
    waits: whether the result is that the run waits for a person.
    kept: what it needs to go on should it not get to its end; written with the run's row.
    unopened: the result when not even the run's row can be written; None raises what the database says.
    """

    name: str
    request: dict[str, Any]
    subject: str | None
    work: Callable[[Run], Awaitable[Result]]
    failed: Callable[[Run, MemoirError], Result]
    stopped: Callable[[], MemoirError]
    record: Callable[[Result], dict[str, Any]]
    listeners: tuple[Listener, ...] = ()
    waits: Callable[[Result], bool] = lambda _: False
    kept: Kept | None = None
    unopened: Callable[[MemoirError], Result] | None = None


class Runner:
    """The runs of this process. All of it happens on the one loop; `open_run` and `cancel` come from any thread."""

    def __init__(self, db: Database, clock: Clock, loop: BackgroundLoop) -> None:
        self._db = db
        self._clock = clock
        self._loop = loop
        self._running: dict[str, Running] = {}
        self._pulse: asyncio.Task[None] | None = None
        self._process = f"{socket.gethostname()[:100]}:{os.getpid()}"

    def open_run(self, verb: Verb[Any], actor: Actor, status: RunStatus = "queued") -> Run:
        """Write the run's row; from then on it has an address. status: running where its work begins at once."""
        run_id, owner = new_id(self._clock.now()), self._new_owner()
        row = runs.NewRun(
            id=run_id,
            verb=verb.name,
            actor=actor.name,
            user=actor.user,
            started_at=self._clock.now(),
            request=verb.request,
            status=status,
            owner=owner,
            subject=verb.subject,
        )

        def write(tx: Tx) -> Opened:
            runs.create(tx, row)
            if verb.kept is not None:
                run_end.keep(tx, run_id, verb.kept)
            paid = calls.paid_fingerprints(tx, verb.subject) if verb.subject is not None and status == "running" else None
            return Opened(ids.erasures(tx), begun=status == "running", paid=paid)

        opened = self._db.write(write, operation=f"the run of {verb.name}")
        return self._entered(verb, actor, run_id, owner, opened)

    def reopen(self, verb: Verb[Any], actor: Actor, run_id: str, statuses: Sequence[RunStatus]) -> Run | None:
        """The same run once more, if it is in one of these statuses; None when somebody else was faster."""
        owner = self._new_owner()

        def write(tx: Tx) -> Opened | None:
            if not runs.claim(tx, run_id, statuses, now=self._clock.now(), owner=owner):
                return None
            if verb.kept is not None:
                run_end.amend(tx, run_id, **verb.kept.how)
            return Opened(ids.erasures(tx), events=runs.last_event(tx, run_id), counted=calls.counted(tx, run_id))

        opened = self._db.write(write, operation=f"the run of {verb.name}")
        return None if opened is None else self._entered(verb, actor, run_id, owner, opened)

    def _new_owner(self) -> str:
        """Of one opening of a run: who opens it once more, here or elsewhere, is another."""
        return f"{self._process}:{secrets.token_hex(6)}"

    def _entered(self, verb: Verb[Any], actor: Actor, run_id: str, owner: str, opened: Opened) -> Run:
        recorder = Recorder(
            self._db,
            run_id,
            verb.subject,
            counted=opened.counted or NONE_YET,
            owner=owner,
            erasures=opened.erasures,
            paid=opened.paid,
        )
        told = [recorder.take, *verb.listeners]
        run = Run(run_id, verb.name, actor, self._clock, recorder, told, owner=owner, _count=opened.events)
        self._running[run_id] = Running(run, recorder, begun=opened.begun)
        return run

    async def perform(self, verb: Verb[Result], actor: Actor) -> Result:
        """Open the run and execute it; what it came to, also when whoever waits leaves first."""
        opening = asyncio.create_task(asyncio.to_thread(self.open_run, verb, actor, "running"))
        try:
            run = await asyncio.shield(opening)
        except asyncio.CancelledError:
            run = await opening
            run.cancellation.ask()
        except DatabaseError as error:
            if verb.unopened is None:
                raise
            return verb.unopened(error)
        return await self.execute(verb, run)

    async def execute(self, verb: Verb[Result], run: Run) -> Result:
        """Do the work and write how it ended. Raises nothing but what is not Memoir's own.

        Whoever waits may leave: the run is then cancelled, unless its commit has begun.
        """
        running = self._running[run.id]
        self._keep_pulse()
        try:
            return await self._work(verb, run, running)
        finally:
            self._running.pop(run.id, None)
            running.done.set()

    async def _work(self, verb: Verb[Result], run: Run, running: Running) -> Result:
        try:
            await self._begin(run, running)
            task = asyncio.create_task(_working(verb, run))  # its own task: a cancel never hits how it ends
            running.task = task
            if run.cancellation.asked:  # by somebody who came before there was a task to cancel
                task.cancel()
            result = await outcome(task, run)
        except MemoirError as error:
            return await self._ended(verb, run, running, error)
        except asyncio.CancelledError:
            return await self._ended(verb, run, running, verb.stopped())
        except Exception as error:
            await self._finish(run, running, "failed", {}, MemoirError(), note=type(error).__name__)
            raise
        if verb.waits(result):
            await self._pause(run, running, verb.record(result))
        else:
            await self._finish(run, running, "done", verb.record(result), None)
        return result

    async def _pause(self, run: Run, running: Running, record: dict[str, Any]) -> None:
        """It waits for a person, and for no process."""
        try:
            await running.recorder.flush(
                lambda tx: runs.pause(tx, run.id, now=self._clock.now(), result=record, owner=run.owner),
                operation=f"the run of {run.verb}",
            )
        except DatabaseError as lost:
            run.emit(Warned("ledger", str(lost)))

    async def _begin(self, run: Run, running: Running) -> None:
        if not running.begun:
            await self._db.awrite(
                lambda tx: runs.start(tx, run.id, now=self._clock.now(), owner=run.owner), operation=f"the run of {run.verb}"
            )
        run.emit(RunStarted(run.verb, run.actor.name))

    async def _ended(self, verb: Verb[Result], run: Run, running: Running, error: MemoirError) -> Result:
        with suppress(DatabaseError):  # what is counted so far is told
            await running.recorder.recount()
        result = verb.failed(run, error)
        if not isinstance(error, CANCELLED):
            await self._finish(run, running, "failed", verb.record(result), error)
        elif running.leaving and verb.kept is not None:  # nobody called it off: it can be resumed
            await self._finish(run, running, "interrupted", verb.record(result), IngestionInterrupted())
        else:
            await self._finish(run, running, "cancelled", verb.record(result), error)
        return result

    async def _finish(
        self,
        run: Run,
        running: Running,
        status: RunStatus,
        record: dict[str, Any],
        error: MemoirError | None,
        note: str | None = None,
    ) -> None:
        told = None if error is None else str(error) if note is None else f"{error} ({note})"
        remedy = None if error is None else error.remedy
        run.emit(RunEnded(status, told, remedy))

        def write(tx: Tx) -> None:
            runs.finish(tx, run.id, status, result=record, error=told, remedy=remedy, clock=self._clock, owner=run.owner)

        try:
            await running.recorder.flush(write, operation=f"the end of run {run.id}")
        except DatabaseError as lost:
            # what the run did stands; its row, left open, is found interrupted when the database is back
            run.emit(Warned("ledger", str(lost)))

    def cancel(self, run_id: str) -> bool:
        """True when the run will stop; False when it is not running here, or its commit has begun."""
        running = self._running.get(run_id)
        if running is None or not running.run.cancellation.ask():
            return False
        if running.task is not None:
            running.task.get_loop().call_soon_threadsafe(running.task.cancel)
        return True

    def leave(self, run_id: str) -> None:
        """Stop it because the memory closes, and wait for its end; one that can go on later is interrupted."""
        running = self._running.get(run_id)
        if running is not None:
            running.leaving = True
            self.cancel(run_id)
            running.done.wait(LEAVE_S)

    def wait(self, run_id: str, timeout_s: float | None) -> bool:
        """True when the run has ended, or is not under way here."""
        running = self._running.get(run_id)
        return running is None or running.done.wait(timeout_s)

    def retried(self, operation: str, attempt: int, wait_s: float) -> None:
        """The database is tried again; every run that is under way tells it. From any thread."""
        for running in list(self._running.values()):
            running.run.emit(DatabaseRetried(operation, attempt, wait_s))

    def carry(self, run_id: str, unit: Unit) -> None:
        """Write it with the next call of a run that is under way here, or at its end."""
        self._running[run_id].recorder.carry(unit)

    async def flush(self, run_id: str) -> None:
        """Write what its next call would carry."""
        await self._running[run_id].recorder.flush()

    def openings(self, run_id: str) -> Mapping[int, str]:
        """How the chunks begin that a run has placed, by event, while it is under way here."""
        running = self._running.get(run_id)
        return {} if running is None else running.recorder.openings

    def ids(self) -> tuple[str, ...]:
        return tuple(self._running)

    def _keep_pulse(self) -> None:
        if self._pulse is None or self._pulse.done():
            self._pulse = asyncio.get_running_loop().create_task(self._beat())

    async def _beat(self) -> None:
        """Heartbeats, and events that no call carried along, while anything runs. What has just begun needs none."""
        await asyncio.sleep(FIRST_BEAT_S)
        while self._running:
            with suppress(DatabaseError):  # the next beat may get through; the runs themselves will say what is wrong
                for running in list(self._running.values()):
                    await running.recorder.flush()
                await self._db.awrite(self._heartbeat, operation="a heartbeat")
            await asyncio.sleep(HEARTBEAT_S)

    def _heartbeat(self, tx: Tx) -> None:
        here = [running.run for running in list(self._running.values())]
        owners = [run.owner for run in here if run.owner]
        runs.heartbeat(tx, [run.id for run in here], self._clock.now(), owners=owners)


async def _working(verb: Verb[Result], run: Run) -> Result:
    return await verb.work(run)
