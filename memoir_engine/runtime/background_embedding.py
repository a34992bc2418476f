"""Vectors made behind what was added, so that the next search need not wait for them.

Invariant: nobody waits for it and nothing fails by it: what is still missing is made before the next search. A server is asked
under a run of its own, so that each request is in the ledger and under the cap.
Source: DESIGN §8 ("index"); MEMOLLA F-02-02.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from memoir_engine.core.errors import MemoirError, QueryCancelled
from memoir_engine.core.run import Actor, Run
from memoir_engine.runtime.embedding import OFF
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.refresher import DELAY_S
from memoir_engine.runtime.runner import Verb
from memoir_engine.store.db.text_rules import WORKSPACE

NAME = "embed"


def embed_behind(engine: Engine, actor: Actor) -> None:
    """Embed the workspace's new passages in the background, a moment after the change: the caller's own reads go first."""
    if not engine.closed and engine.resolved.config.vector_store != OFF:
        engine.loop.submit(_embed_later(engine, actor), verb=NAME)


async def _embed_later(engine: Engine, actor: Actor) -> None:
    await asyncio.sleep(DELAY_S)
    with suppress(MemoirError):  # it is closed, or the database is away: the next search makes what is missing
        if not engine.embedder.lexical:
            await engine.runner.perform(embed_verb(engine), actor)
        else:  # nobody is asked, so there is nothing to write down
            await engine.vectoring.catch_up(WORKSPACE, engine.unrecorded_run(NAME, actor))


def embed_verb(engine: Engine) -> Verb[int | MemoirError]:
    async def work(run: Run) -> int:
        return await engine.vectoring.catch_up(WORKSPACE, run)

    return Verb(NAME, {"embedder": engine.embedder.id}, None, work, QueryCancelled, lambda count: {"passages": count})
