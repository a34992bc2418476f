"""Runs watched from elsewhere: by their id, from any thread, also after a restart; stopped, given up, or gone on with.

Invariant: a resumed ingestion is the same run: what it asked before is answered from the ledger, and only what is missing is
asked of the model.
Source: DESIGN §7 (Job), §8 (answers paid for); MEMOIR 7.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import monotonic, sleep

from memoir_engine import given
from memoir_engine.errors import IngestionCancelled, QueryCancelled, RunNotResumable
from memoir_engine.identifying import needs_owner
from memoir_engine.ingesting import ingest_verb
from memoir_engine.owning import runs_of
from memoir_engine.reading import View
from memoir_engine.results import RunView
from memoir_engine.run import RunStatus
from memoir_engine.uploads import Upload

INGESTIONS = ("ingest_text", "ingest_file")
UNDER_WAY: tuple[RunStatus, ...] = ("queued", "running")
POLL_S = 0.2  # how often it is looked whether another process has ended a run
RESUMABLE: tuple[RunStatus, ...] = ("failed", "interrupted")
AGAIN = {"query": "Ask the question again.", "load_samples": "Load the samples again: what is stored is recognised."}
WHY = {
    "queued": ("it has not begun yet", "Wait for it: jobs.wait(run_id)."),
    "running": ("it is still running", "Wait for it; one whose process has ended shows as interrupted within seconds."),
    "waiting_helper": ("it waits for its contextual helper", "helpers.confirm(run_id, fields) goes on with it."),
    "done": ("it is done", "There is nothing left to do."),
    "cancelled": ("it was cancelled, and nothing of it is kept", "Ingest again."),
}
NOTHING_KEPT = "Ingest again: answers already paid for are re-used, and what is stored is recognised."


class JobsView(View):
    """Runs by their id."""

    def get(self, run_id: str) -> RunView:
        from memoir_engine.store import runs

        named = given.run(run_id)
        return self._read(lambda tx: runs.get(tx, named, user=runs_of(self._actor)))

    def list(self, limit: int = 20, verbs: Sequence[str] | None = None) -> tuple[RunView, ...]:
        """Newest first; those whose process has died are interrupted by now."""
        from memoir_engine.store import runs

        most, named = given.limit(limit), None if verbs is None else given.texts("verbs", verbs)
        self._engine.bury_the_dead()
        return self._read(lambda tx: runs.recent(tx, limit=most, verbs=named, user=runs_of(self._actor)))

    def cancel(self, run_id: str) -> bool:
        """True when it will stop; False when it is too late, or it does not run in this process.

        A run that waits for a helper, was interrupted, or failed and could be resumed is given up: what was kept of it goes.
        Raises NotAllowed for the run of another.
        """
        from memoir_engine.store import runs

        view = self.get(run_id)
        needs_owner(self._actor, view.actor, "cancel what another has begun")
        if self._engine.runner.cancel(run_id):
            return True
        if not view.resumable and view.status not in ("waiting_helper", "interrupted"):
            return False
        stopped = QueryCancelled() if view.verb == "query" else IngestionCancelled(name=str(view.request.get("name", view.verb)))
        return self._engine.db.write(
            lambda tx: runs.give_up(tx, run_id, (*RESUMABLE, "waiting_helper"), clock=self._engine.clock, error=stopped),
            operation=f"the end of run {run_id}",
        )

    def wait(self, run_id: str, timeout_s: float | None = None) -> RunView:
        """Wait until it has ended, here or in another process; its state then, or when the time is over.

        timeout_s: None waits as long as it takes. What waits for a person is not waited for. Raises RunNotFound.
        """
        patience = inf if timeout_s is None else given.seconds("timeout_s", timeout_s)
        until = monotonic() + patience
        self._engine.runner.wait(given.run(run_id), None if timeout_s is None else patience)  # asks no database
        while (view := self.get(run_id)).status in UNDER_WAY and (left := until - monotonic()) > 0:
            sleep(min(POLL_S, left))
            self._engine.bury_the_dead()  # a process that shows no life any more ends nothing
        return view

    def resume(self, run_id: str) -> str:
        """Go on, in the background, with an ingestion that failed or was interrupted; the same id.

        Raises RunNotResumable (E213) saying why not, and what to do instead; NotAllowed for the run of another.
        """
        from memoir_engine.store import inputs

        self._engine.bury_the_dead()
        view = self.get(run_id)
        needs_owner(self._actor, view.actor, "resume what another has begun")
        kept = self._read(lambda tx: inputs.get(tx, run_id)) if view.resumable and view.verb in INGESTIONS else None
        if kept is None:
            raise _not_resumable(view)
        engine, actor = self._engine, replace(self._actor, user=view.user)
        verb = ingest_verb(engine, actor, Upload.again(kept, max_mb=engine.resolved.config.max_file_mb))
        run = engine.runner.reopen(verb, actor, run_id, RESUMABLE)
        if run is None:
            raise _not_resumable(self.get(run_id))
        engine.loop.submit(engine.runner.execute(verb, run), verb="jobs.resume")
        return run_id


def _not_resumable(view: RunView) -> RunNotResumable:
    if view.verb not in INGESTIONS:
        advice = AGAIN.get(view.verb, "Start it again.")
        return RunNotResumable(run_id=view.id, problem=f"only ingestions are resumed, this is {view.verb}", advice=advice)
    problem, advice = WHY.get(view.status, ("what it needs to go on is no longer kept", NOTHING_KEPT))
    return RunNotResumable(run_id=view.id, problem=problem, advice=advice)
