"""The contextual helper of a stored source, changed: by a person, or drawn again by the model.

Invariant: a version is added, none is ever changed; a user's stays in force unless somebody says otherwise.
Source: MEMOIR 2B.8–2B.10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import IngestionCancelled, MemoirError
from memoir_engine.core.events import HelperReady
from memoir_engine.core.results import Action, Helper
from memoir_engine.core.run import Actor, Listener, Run, new_id
from memoir_engine.ingest.helper import generate, user_helper
from memoir_engine.runtime.access import needs_auditor
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.model import Asking
from memoir_engine.runtime.runner import Verb
from memoir_engine.store.sources import chunks, helpers, sources


def set_helper(engine: Engine, actor: Actor, source_id: int, text: str, reason: str | None) -> Action:
    """Raises NotAllowed, SourceNotFound, HelperInvalid, NothingChanges."""
    needs_auditor(actor, "set a contextual helper")
    source_id, text, reason = validation.source(source_id), validation.raw_text("text", text), validation.reason(reason)
    new, action_id = user_helper(text, engine.tokens.count), new_id(engine.clock.now())
    return engine.db.write(
        lambda tx: helpers.set_by_user(
            tx, source_id, new, actor=actor.name, reason=reason, clock=engine.clock, action_id=action_id
        ),
        operation=f"the helper of source {source_id}",
    )


def regenerate_verb(
    engine: Engine, actor: Actor, source_id: int, *, force: bool = False, listeners: tuple[Listener, ...] = ()
) -> Verb[Helper | MemoirError]:
    """Its answers are its own: what was paid for before is what one wants to have drawn again."""
    needs_auditor(actor, "regenerate a contextual helper")
    source_id, force = validation.source(source_id), validation.flag("force", force)
    name = f"the helper of source {source_id}"

    async def work(run: Run) -> Helper:
        return await regenerate(engine, actor, source_id, run, force=force)

    return Verb(
        name="regenerate_helper",
        request={"source_id": source_id, "force": force},
        subject=None,
        work=work,
        failed=lambda run, error: error,
        stopped=lambda: IngestionCancelled(name=name),
        record=_record,
        listeners=listeners,
    )


async def regenerate(
    engine: Engine, actor: Actor, source_id: int, run: Run, *, force: bool, record: Callable[[], dict[str, Any]] | None = None
) -> Helper:
    """From what is known of the source now and its first chunks, within the limits of the first time (MEMOIR 2B.9).

    The run ends with it; `record`: what is to be kept of the run beside the version.
    """
    needs_auditor(actor, "regenerate a contextual helper")
    source = await engine.db.aread(lambda tx: sources.get(tx, source_id))
    texts = await engine.db.aread(lambda tx: chunks.first_texts(tx, source_id))
    ask = Asking(engine, run, IngestionCancelled(name=source.name))
    before = run.ledger.sent
    new = await generate(source, texts, ask, engine.tokens.count)
    run.emit(HelperReady(new.origin, new.tokens, reused=False, calls=run.ledger.sent - before))
    who, clock, kept = actor.name, engine.clock, record() if record else None
    await engine.db.awrite(
        lambda tx: helpers.commit_regenerated(
            tx, source_id, new, run_id=run.id, actor=who, clock=clock, force=force, owner=run.owner, result=kept
        ),
        operation=f"the helper of source {source_id}",
    )
    return (await engine.db.aread(lambda tx: sources.helper_history(tx, source_id)))[0]


def _record(outcome: Helper | MemoirError) -> dict[str, Any]:
    if isinstance(outcome, MemoirError):
        return {}
    return {"source_id": outcome.source_id, "version": outcome.version, "in_force": outcome.in_force, "tokens": outcome.tokens}
