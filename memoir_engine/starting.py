"""Verbs by name, for runs that are started and watched from elsewhere.

Invariant: what is given is held against what the verb takes before anything is called: an error from within is never told as the
caller's, and nothing of the inside can be given.
Source: API `memory.start`; DESIGN §7 (Job).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
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
        return confirming(engine, actor, **given)
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
    "confirm_helper": (confirming,),
    "regenerate_helper": (regenerate_verb,),
    "propose_split": (split_verb,),
}
