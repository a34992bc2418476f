"""Verbs by name, for runs that are started and watched from elsewhere.

Source: API `memory.start`; DESIGN §7 (Job).
"""

from __future__ import annotations

import re
from typing import Any

from memoir_engine.asking import QueryOptions, query_verb
from memoir_engine.branching import what_if_verb
from memoir_engine.errors import InvalidSetting
from memoir_engine.helpers import confirming
from memoir_engine.identifying import regenerate_verb
from memoir_engine.ingesting import ingest_verb
from memoir_engine.proposing import split_verb
from memoir_engine.reindexing import reindex_verb
from memoir_engine.remembering import acting_for, remember_verb
from memoir_engine.run import Actor, Run
from memoir_engine.running import Verb
from memoir_engine.sampling import samples_verb
from memoir_engine.uploads import Upload
from memoir_engine.wiring import Engine

VERBS = (
    "ingest_text",
    "ingest_file",
    "query",
    "what_if",
    "load_samples",
    "reindex",
    "remember",
    "confirm_helper",
    "regenerate_helper",
    "propose_split",
)


def begin(engine: Engine, actor: Actor, name: str, arguments: dict[str, Any]) -> str:
    """The id of the run that has begun; of confirm_helper it is the draft's own.

    Raises InvalidSetting for a verb or an argument there is not; of confirm_helper HelperInvalid and DraftNotFound.
    """
    verb, run = _opened(engine, actor, name, dict(arguments))
    engine.loop.submit(engine.runner.execute(verb, run), verb=name)
    return run.id


def _opened(engine: Engine, actor: Actor, name: str, given: dict[str, Any]) -> tuple[Verb[Any], Run]:
    problem, names, user = "", sorted(given), given.get("user_id")
    try:
        if name == "confirm_helper":
            return confirming(engine, actor, given.pop("draft"), given.pop("fields"), **given)
        verb = _made(engine, actor, name, given)
    except KeyError as missing:
        problem = f"{missing.args[0]!r} is missing"
    except TypeError as unknown:
        problem = re.sub(r"^\S+\(\) ", "it ", str(unknown))  # without the name of a function of ours
    if problem:
        advice = f"Give {name} the arguments of the verb of this name."
        raise InvalidSetting(name="arguments", value=names, problem=problem, advice=advice)
    if name == "remember":
        actor = acting_for(actor, user)
    return verb, engine.runner.open_run(verb, actor)


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
    if name == "propose_split":
        return split_verb(engine, actor, given.pop("category_id"))
    raise InvalidSetting(
        name="verb", value=name, problem="there is no such verb to start", advice=f"Use one of: {', '.join(VERBS)}."
    )


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
