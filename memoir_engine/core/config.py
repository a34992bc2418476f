"""Resolve each setting: arguments first, then .env, then the environment, then the default.

Invariant: every value keeps its origin, for the Settings page; API keys stay in `Secrets`, whose repr hides them.
An empty value in .env or the environment counts as not set.
Source: MEMOLLA §1; MEMOIR 1.2, 7.7; spec README 14; API "Opening"; TIMEM configuration.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic.fields import FieldInfo

from memoir_engine.core.errors import ConfigurationError, DataDirUnusable, InvalidSetting, UnsupportedBackend
from memoir_engine.core.settings import (
    ConversationSettings,
    MemoirConfig,
    SessionSettings,
    conflicting_database,
    safe_url,
    unknown_setting,
)

__all__ = ["ConversationSettings", "MemoirConfig", "Origin", "Resolved", "Secrets", "SessionSettings", "resolve", "safe_url"]

Origin = Literal["argument", ".env", "environment", "default"]

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "XAI_API_KEY")
SERVERS = ("OPENAI_BASE_URL", "LMSTUDIO_BASE_URL", "OLLAMA_BASE_URL")
EXAMPLES = {"category_limits": '{"1": 20}', "roles": '{"ana@example.org": ["auditor"]}', "delimiters": '[".", "\\n"]'}
ALIASES = {"model": "MODEL_CHOICE", "embedder": "EMBEDDING_MODEL", "embedder_dims": "EMBEDDING_MODEL_DIMS"}  # TIMEM's names
LEAST_SECRET_CHARS = 6  # shorter values are placeholders; hiding them would blank out ordinary words


@dataclass(frozen=True)
class Secrets:
    """API keys and server addresses by variable name. Never shown, never stored."""

    values: Mapping[str, str] = field(default_factory=dict)

    def get(self, variable: str) -> str | None:
        return self.values.get(variable)

    def scrub(self, text: str) -> str:
        """Replace every key in the text: for messages that a foreign server sends back."""
        for variable in KEYS:
            value = self.values.get(variable, "")
            if len(value) >= LEAST_SECRET_CHARS:
                text = text.replace(value, f"[{variable}]")
        return text

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self.values))})"


@dataclass(frozen=True)
class Resolved:
    """Settings in force. `origins` has every setting, and those of KEYS and SERVERS that are set.

    config: with `database_url` and `data_dir` filled in and absolute.
    unknown: MEMOIR_ variables that name no setting; shown, not refused, since other programs may own them.
    """

    config: MemoirConfig
    secrets: Secrets
    origins: Mapping[str, Origin]
    backend_options: Mapping[str, Any]
    unknown: tuple[str, ...] = ()


def resolve(
    config: MemoirConfig | None = None,
    *,
    backend: str = "auto",
    db_path: str | Path | None = None,
    backend_options: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    dotenv: Path | None = None,
    **settings: Any,
) -> Resolved:
    """Gather the settings. `environ` and `dotenv` stand in for os.environ and ./.env."""
    if backend != "auto":
        raise UnsupportedBackend(backend=backend)
    options: object = backend_options  # callers need not keep to types
    if not isinstance(options, Mapping | None):
        advice = "Give {'bm25': {…}}, {'chroma': {…}}, or both."
        raise InvalidSetting(name="backend_options", value=options, problem="it must be a dict", advice=advice)
    given = _arguments(config, db_path, settings)
    outer = _outer(environ, dotenv)
    values, origins = _gathered(given, outer)
    secrets, secret_origins = _secrets(outer)
    made = _placed(MemoirConfig(**values), "data_dir" in values, db_path)
    unknown = tuple(sorted({name for _, names in outer for name in names if _is_unknown(name)}))
    return Resolved(made, secrets, origins | secret_origins, dict(backend_options or {}), unknown)


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"MEMOIR_{name.upper()}"


def _arguments(config: MemoirConfig | None, db_path: str | Path | None, settings: dict[str, Any]) -> dict[str, Any]:
    for name in settings:
        if name not in MemoirConfig.model_fields:
            raise unknown_setting(name, [*MemoirConfig.model_fields, "db_path", "backend", "backend_options"])
    set_before = {name: getattr(config, name) for name in config.model_fields_set} if config else {}
    given = set_before | settings
    if db_path is None:
        return given
    if given.get("database_url") is not None:
        raise conflicting_database()
    return given | {"database_url": _sqlite_url(db_path)}


def _sqlite_url(path: str | Path) -> str:
    return "sqlite://" if str(path) == ":memory:" else f"sqlite:///{_absolute(path)}"


def _placed(config: MemoirConfig, folder_given: bool, db_path: str | Path | None) -> MemoirConfig:
    """Make paths absolute, so that a later chdir moves nothing.

    Beside a `db_path` the folder is named after the file: two databases of one folder then never share indexes.
    """
    folder = _absolute(config.data_dir)
    if db_path is not None and str(db_path) != ":memory:" and not folder_given:
        folder = _absolute(db_path).with_suffix(".memoir")
    url = config.database_url or _sqlite_url(folder / "memory.db")
    return config.model_copy(update={"data_dir": folder, "database_url": url})


def _absolute(path: str | Path) -> Path:
    try:
        return Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as impossible:  # a NUL in it, a ring of links, nobody's home
        raise DataDirUnusable(folder=repr(str(path)), problem=str(impossible)) from None


def _outer(environ: Mapping[str, str] | None, dotenv: Path | None) -> list[tuple[Origin, Mapping[str, str]]]:
    path = dotenv or Path.cwd() / ".env"
    return [(".env", _read_dotenv(path)), ("environment", os.environ if environ is None else environ)]


def _read_dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return {name: value for name, value in dotenv_values(path, encoding="utf-8-sig").items() if value}
    except (OSError, UnicodeDecodeError) as unreadable:
        raise ConfigurationError(problem=f"{path.name} cannot be read ({type(unreadable).__name__})") from unreadable


def _gathered(given: dict[str, Any], outer: list[tuple[Origin, Mapping[str, str]]]) -> tuple[dict[str, Any], dict[str, Origin]]:
    values: dict[str, Any] = dict(given)
    origins: dict[str, Origin] = {}
    for name, about in MemoirConfig.model_fields.items():
        if name in given:
            origins[name] = "argument"
            continue
        origins[name] = "default"
        for origin, text in _named(name, outer):
            values[name], origins[name] = _parsed(name, text, about), origin
            break
    return values, origins


def _named(name: str, outer: list[tuple[Origin, Mapping[str, str]]]) -> Iterator[tuple[Origin, str]]:
    """Yield the texts set for a setting, strongest first: in each place our own name before the aliases."""
    for origin, names in outer:
        for known in (variable(name), ALIASES.get(name, "")):
            if text := names.get(known, "").strip():
                yield origin, text
        if name == "database_url" and (url := _tidb_url(names)):
            yield origin, url


def _tidb_url(names: Mapping[str, str]) -> str | None:
    """Build the URL from TIMEM's variables, which name the database by parts; TiDB speaks MySQL's protocol."""
    if not (host := names.get("TIDB_HOST")):
        return None
    user, password = quote(names.get("TIDB_USER", "root"), safe=""), quote(names.get("TIDB_PASSWORD", ""), safe="")
    login = f"{user}:{password}" if password else user
    return f"mysql+pymysql://{login}@{host}:{names.get('TIDB_PORT') or 4000}/{names.get('TIDB_DB_NAME') or 'memoir'}"


def _parsed(name: str, text: str, about: FieldInfo) -> Any:
    """Parse lists and tables from JSON; leave numbers, booleans and texts to the setting itself."""
    default = about.get_default(call_default_factory=True)
    if not isinstance(default, dict | tuple | ConversationSettings | SessionSettings):
        return text
    try:
        return json.loads(text)
    except ValueError:
        example = EXAMPLES.get(name, '{"max_tokens": 4000}')
        advice = f"Write it like {variable(name)}='{example}'."
        raise InvalidSetting(name=variable(name), value=text, problem="it is not JSON", advice=advice) from None


def _secrets(outer: list[tuple[Origin, Mapping[str, str]]]) -> tuple[Secrets, dict[str, Origin]]:
    values: dict[str, str] = {}
    origins: dict[str, Origin] = {}
    for name in (*KEYS, *SERVERS):
        for origin, names in outer:
            if name not in values and (text := names.get(name, "").strip()):
                values[name], origins[name] = text, origin
    return Secrets(values), origins


def _is_unknown(name: str) -> bool:
    return name.startswith("MEMOIR_") and name.removeprefix("MEMOIR_").lower() not in MemoirConfig.model_fields
