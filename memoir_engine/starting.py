"""Verbs by name, for runs that are started and watched from elsewhere.

Source: API `memory.start`; DESIGN §7 (Job).
"""

from __future__ import annotations

from typing import Any

from memoir_engine.asking import QueryOptions, query_verb
from memoir_engine.errors import InvalidSetting
from memoir_engine.ingesting import Upload, ingest_verb
from memoir_engine.run import Actor
from memoir_engine.running import Verb
from memoir_engine.sampling import samples_verb
from memoir_engine.wiring import Engine

VERBS = ("ingest_text", "ingest_file", "query", "load_samples")


def verb_of(engine: Engine, actor: Actor, name: str, arguments: dict[str, Any]) -> Verb[Any]:
    """Raises InvalidSetting for a verb or an argument there is not."""
    try:
        return _made(engine, actor, name, dict(arguments))
    except KeyError as missing:
        raise InvalidSetting(
            name="arguments",
            value=sorted(arguments),
            problem=f"{missing.args[0]!r} is missing",
            advice=f"Give {name} the arguments of memory.{name}().",
        ) from missing
    except TypeError as unknown:
        raise InvalidSetting(
            name="arguments",
            value=sorted(arguments),
            problem=str(unknown),
            advice=f"Give {name} the arguments of memory.{name}().",
        ) from unknown


def _made(engine: Engine, actor: Actor, name: str, given: dict[str, Any]) -> Verb[Any]:
    if name == "query":
        question = given.pop("question")
        sources = given.pop("sources", None)
        return query_verb(engine, actor, question, QueryOptions(**given, sources=None if sources is None else tuple(sources)))
    if name in ("ingest_text", "ingest_file"):
        data = given.pop("text").encode("utf-8", "surrogatepass") if name == "ingest_text" else given.pop("data")
        return ingest_verb(engine, actor, _upload(engine, name, data, **given), name)
    if name == "load_samples":
        return samples_verb(engine, actor)
    raise InvalidSetting(
        name="verb", value=name, problem="there is no such verb to start", advice=f"Use one of: {', '.join(VERBS)}."
    )


def _upload(
    engine: Engine,
    verb: str,
    data: bytes,
    *,
    name: str = "text",
    contextual_helper: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Upload:
    return Upload.of(verb, data, name, contextual_helper, metadata, max_mb=engine.resolved.config.max_file_mb)
