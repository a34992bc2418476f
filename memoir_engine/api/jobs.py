"""Verbs by name, for runs that are started and watched from elsewhere.

Invariant: what is given is held against what the verb takes before anything is called: an error from within is never told as the
caller's, and nothing of the inside can be given.
Source: API `memory.start`; DESIGN §7 (Job).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from math import inf
from time import monotonic, sleep
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import IngestionCancelled, InvalidSetting, QueryCancelled, RunNotResumable
from memoir_engine.core.results import RunView
from memoir_engine.core.run import Actor, Run, RunStatus
from memoir_engine.facts.remember import acting_for, remember_verb
from memoir_engine.ingest.helper_update import regenerate_verb
from memoir_engine.ingest.helper_view import reopen_draft
from memoir_engine.ingest.upload import Upload
from memoir_engine.ingest.verb import ingest_verb, samples_verb
from memoir_engine.query.verb import QueryOptions, query_verb, what_if_verb
from memoir_engine.review.split import split_verb
from memoir_engine.runtime.access import needs_owner, runs_of
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.view import View
from memoir_engine.search.knowledge import reindex_verb
from memoir_engine.store.ledger import run_end, runs

# === jobs: Runs watched from elsewhere: by their id, from any thread, also after a restart; stopped, given up, or gone on
# with.
#
# Invariant: a resumed ingestion is the same run: what it asked before is answered from the ledger, and only what is
# missing is
# asked of the model.
# Source: DESIGN §7 (Job), §8 (answers paid for); MEMOIR 7.9.


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
        named = validation.run(run_id)
        return self._read(lambda tx: runs.get(tx, named, user=runs_of(self._actor)))

    def list(self, limit: int = 20, verbs: Sequence[str] | None = None) -> tuple[RunView, ...]:
        """Newest first; those whose process has died are interrupted by now."""
        most, named = validation.limit(limit), None if verbs is None else validation.texts("verbs", verbs)
        self._engine.bury_the_dead()
        return self._read(lambda tx: runs.recent(tx, limit=most, verbs=named, user=runs_of(self._actor)))

    def cancel(self, run_id: str) -> bool:
        """True when it will stop; False when it is too late, or it does not run in this process.

        A run that waits for a helper, was interrupted, or failed and could be resumed is given up: what was kept of it goes.
        Raises NotAllowed for the run of another.
        """
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
        patience = inf if timeout_s is None else validation.seconds("timeout_s", timeout_s)
        until = monotonic() + patience
        self._engine.runner.wait(validation.run(run_id), None if timeout_s is None else patience)  # asks no database
        while (view := self.get(run_id)).status in UNDER_WAY and (left := until - monotonic()) > 0:
            sleep(min(POLL_S, left))
            self._engine.bury_the_dead()  # a process that shows no life any more ends nothing
        return view

    def resume(self, run_id: str) -> str:
        """Go on, in the background, with an ingestion that failed or was interrupted; the same id.

        Raises RunNotResumable (E213) saying why not, and what to do instead; NotAllowed for the run of another.
        """
        self._engine.bury_the_dead()
        view = self.get(run_id)
        needs_owner(self._actor, view.actor, "resume what another has begun")
        kept = self._read(lambda tx: run_end.get(tx, run_id)) if view.resumable and view.verb in INGESTIONS else None
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


# === starting


# what the makers of verbs get from here, and nobody else gives
OURS = {"engine", "actor", "listeners", "told", "verb", "content"}
EMPTY = Parameter.empty


def begin(engine: Engine, actor: Actor, name: str, arguments: dict[str, Any]) -> str:
    """The id of the run that has begun; of confirm_helper it is the draft's own.

    Raises InvalidSetting for a verb or an argument there is not; of confirm_helper HelperInvalid and DraftNotFound.
    """
    verb, run = _opened(engine, actor, name, dict(arguments))
    engine.loop.submit(engine.runner.execute(verb, run), verb=name)
    return run.id


def _opened(engine: Engine, actor: Actor, name: str, given: dict[str, Any]) -> tuple[Verb[Any], Run]:
    _check(name, given)
    if name == "confirm_helper":
        return reopen_draft(engine, actor, **given)
    verb = _made(engine, actor, name, given)
    if name == "remember":
        actor = acting_for(actor, given.get("user_id"))
    return verb, engine.runner.open_run(verb, actor)


def _check(name: str, given: dict[str, Any]) -> None:
    """Whether there is such a verb, and all it needs and nothing else was given. Raises InvalidSetting."""
    if not isinstance(name, str) or name not in VERBS:
        advice = f"Use one of: {', '.join(VERBS)}."
        raise InvalidSetting(name="verb", value=name, problem="there is no such verb to start", advice=advice)
    takes = _takes(name)
    problems = [f"{one!r} is missing" for one, needed in takes.items() if needed and one not in given]
    problems += [f"it takes no {one!r}" for one in sorted(given) if one not in takes]
    if problems:
        advice = f"Give {name} " + (f"its arguments: {', '.join(takes)}." if takes else "no arguments.")
        raise InvalidSetting(name="arguments", value=sorted(given), problem=problems[0], advice=advice)


def _takes(name: str) -> dict[str, bool]:
    """The arguments of a verb, and whether it needs each of them."""
    told: dict[str, bool] = {}
    for one in VERBS[name]:
        if isinstance(one, str):
            told[one] = True
        else:
            told |= {known.name: known.default is EMPTY for known in signature(one).parameters.values() if known.name not in OURS}
    return told


def _made(engine: Engine, actor: Actor, name: str, given: dict[str, Any]) -> Verb[Any]:
    if name == "query":
        return query_verb(engine, actor, given.pop("question"), QueryOptions(**given))
    if name == "what_if":
        return what_if_verb(engine, actor, given.pop("run_id"), given.pop("decision_id"), given.pop("take"), **given)
    if name in ("ingest_text", "ingest_file"):
        content = given.pop("text" if name == "ingest_text" else "data")
        return ingest_verb(engine, actor, _upload(engine, name, content, **given))
    if name == "load_samples":
        return samples_verb(engine, actor)
    if name == "remember":
        return remember_verb(engine, actor, **given)
    if name == "reindex":
        return reindex_verb(engine, actor, **given)
    if name == "regenerate_helper":
        return regenerate_verb(engine, actor, given.pop("source_id"), force=given.pop("force", False))
    return split_verb(engine, actor, given.pop("category_id"))


def _upload(
    engine: Engine,
    verb: str,
    content: object,
    *,
    name: str = "text",
    contextual_helper: str | None = None,
    metadata: dict[str, Any] | None = None,
    replaces: int | None = None,
    regenerate: bool = False,
) -> Upload:
    limit = engine.resolved.config.max_file_mb
    return Upload.of(verb, content, name, contextual_helper, metadata, max_mb=limit, replaces=replaces, regenerate=regenerate)


# of what each verb's arguments are made: its own names, and those that a function takes
VERBS: dict[str, tuple[str | Callable[..., Any], ...]] = {
    "ingest_text": ("text", _upload),
    "ingest_file": ("data", _upload),
    "query": ("question", QueryOptions),
    "what_if": (what_if_verb,),
    "load_samples": (),
    "reindex": (reindex_verb,),
    "remember": (remember_verb,),
    "confirm_helper": (reopen_draft,),
    "regenerate_helper": (regenerate_verb,),
    "propose_split": (split_verb,),
}
