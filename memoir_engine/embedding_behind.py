"""Vectors made behind what was added, so that the next search need not wait for them.

Invariant: nobody waits for it and nothing fails by it: what is still missing is made before the next search. A server is asked
under a run of its own, so that each request is in the ledger and under the cap.
Source: DESIGN §8 ("index"); MEMOLLA F-02-02.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.errors import MemoirError, QueryCancelled
from memoir_engine.run import Actor, Run
from memoir_engine.running import Verb
from memoir_engine.wiring import Engine

NAME = "embed"


def embed_behind(engine: Engine, actor: Actor) -> None:
    """Of the workspace's passages, by a server's embedder. One that computes here is as quick when the search comes."""
    if engine.embedder.lexical or engine.closed:
        return
    engine.loop.submit(engine.runner.perform(embed_verb(engine), actor), verb=NAME)


def embed_verb(engine: Engine) -> Verb[int | MemoirError]:
    from memoir_engine.store.owners import WORKSPACE

    async def work(run: Run) -> int:
        return await engine.vectoring.catch_up(WORKSPACE, run)

    def record(outcome: int | MemoirError) -> dict[str, Any]:
        return {"passages": outcome} if isinstance(outcome, int) else {}

    request = {"embedder": engine.embedder.id}
    return Verb(NAME, request, None, work, lambda _run, error: error, QueryCancelled, record)
