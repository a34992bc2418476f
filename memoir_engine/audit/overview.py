"""Counts of a memory, its settings and their origins, and a test call of the model.

Invariant: a secret is only ever shown as "set"; runs are the actor's own and the workspace's.
Source: API "Opening"; DESIGN §6 (whose), §12 (secrets); MEMOIR 7A.
"""

from __future__ import annotations

from typing import Any

from memoir_engine.core.errors import MemoirError, QueryCancelled
from memoir_engine.core.results import ModelCheck, Overview, SettingView
from memoir_engine.core.run import Actor, Listener, Run
from memoir_engine.core.settings import MemoirConfig, safe_url
from memoir_engine.prompts import chat
from memoir_engine.runtime.access import readable, runs_of
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.verbs import NoOptions
from memoir_engine.store.events import activity
from memoir_engine.store.ledger import runs
from memoir_engine.store.sources import sources

LAST_ACTIONS = 8


def overview(engine: Engine, actor: Actor) -> Overview:
    wanted, whose = activity.ActivityFilter(but=("close", "converse")), readable(actor)
    engine.expire_dead_runs()
    counts, actions, interrupted = engine.db.read(
        lambda tx: (
            sources.counts(tx),
            activity.page(tx, wanted, limit=LAST_ACTIONS, whose=whose),
            runs.recent(tx, limit=20, status=("interrupted",), user=runs_of(actor)),
        )
    )
    return Overview(
        sources=counts.sources,
        chunks=counts.chunks,
        categories=counts.categories,
        leaves=counts.leaves,
        questions=counts.questions,
        tokens=counts.tokens,
        cost=counts.cost,
        last_actions=actions,
        interrupted=interrupted,
    )


def settings(engine: Engine) -> tuple[SettingView, ...]:
    resolved = engine.resolved
    views = [
        SettingView(
            name, _shown(name, getattr(resolved.config, name)), resolved.origins.get(name, "default"), field.description or ""
        )
        for name, field in MemoirConfig.model_fields.items()
    ]
    for variable, origin in resolved.origins.items():
        if variable not in MemoirConfig.model_fields:
            value = resolved.secrets.get(variable) or ""
            shown = "set" if variable.endswith("_KEY") else safe_url(value)
            views.append(SettingView(variable, shown, origin, "a provider's key" if shown == "set" else "a model server"))
    return tuple(views)


def test_call_verb(engine: Engine, actor: Actor, options: NoOptions, listeners: tuple[Listener, ...] = ()) -> Verb[ModelCheck]:
    client = engine.client

    async def work(run: Run) -> ModelCheck:
        reply = await client.ask(chat.build_ping(), run, reuse=False)
        return ModelCheck(True, client.name, client.provider, reply.latency_ms, reply.tokens_prompt, reply.tokens_completion)

    def failed(run: Run, error: MemoirError) -> ModelCheck:
        return ModelCheck(False, client.name, client.provider, 0.0, 0, 0, str(error), error.remedy)

    def record(check: ModelCheck) -> dict[str, Any]:
        return {"ok": check.ok, "latency_ms": round(check.latency_ms, 3)}

    return Verb("test_call", {"model": client.name}, None, work, QueryCancelled, record, failed=failed, listeners=listeners)


def _shown(name: str, value: Any) -> str:
    if name == "database_url":
        return safe_url(str(value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items()) or "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(repr, value))
    return "none" if value is None else str(value)
