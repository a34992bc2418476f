"""Errors of settings, raised before anything is opened (E1xx). Source: MEMOIR 7A."""

from __future__ import annotations

from memoir_engine.core.errors.root import Fact, MemoirError

SHOWN_CHARS = 100  # of a value that is refused


class ConfigurationError(MemoirError):
    """A setting cannot work; raised before anything is opened."""

    code = "E100"
    message_form = "the configuration is invalid: {problem}"
    remedy_form = "Correct the setting named above; docs/settings.md lists all of them with their defaults."


class UnknownSetting(ConfigurationError):
    code = "E101"
    message_form = "unknown setting {name!r}"
    remedy_form = "Did you mean one of: {near}? docs/settings.md lists all settings."


class InvalidSetting(ConfigurationError):
    """`value` is shown by its beginning, where it is long."""

    code = "E102"
    message_form = "{name} = {value!r} is invalid: {problem}"
    remedy_form = "{advice}"

    def __init__(self, **facts: Fact) -> None:
        super().__init__(**{**facts, "value": _shown(facts["value"])})


def _shown(value: object) -> object:
    try:
        told = repr(value)
    except Exception:  # of anybody's making; or a number of more digits than Python writes down
        return "…"
    return value if len(told) <= SHOWN_CHARS else f"{told[:SHOWN_CHARS]}…"


class ConflictingSettings(ConfigurationError):
    code = "E103"
    message_form = "{first} and {second} cannot both be given"
    remedy_form = "Keep one of them: {advice}"


class ChunkRangeInvalid(ConfigurationError):
    code = "E104"
    message_form = "chunk_min_tokens ({minimum}) must be below chunk_max_tokens ({maximum})"
    remedy_form = "Lower chunk_min_tokens or raise chunk_max_tokens; defaults are 300 and 500."


class BudgetBelowChunk(ConfigurationError):
    code = "E105"
    message_form = "max_token_budget ({budget}) must be above {least} ({why})"
    remedy_form = "Raise max_token_budget; the default is 8000."


class LevelOutsideDepth(ConfigurationError):
    code = "E106"
    message_form = "category_limits names level {level}, but hierarchy_depth is {depth}"
    remedy_form = "Use levels 1 to {depth}, or raise hierarchy_depth."


class ModelNotNamed(ConfigurationError):
    code = "E107"
    message_form = "{origin} gives a model server, but no model is named"
    remedy_form = "Name a model the server offers: model=… or MEMOIR_MODEL=…; without the URL the offline model answers."


class ProviderMissing(ConfigurationError):
    code = "E108"
    message_form = "the model {model!r} needs the package for {provider}, which is not installed"
    remedy_form = "Install it with: pip install 'memoir-engine[{extra}]'"


class ExtraMissing(ConfigurationError, ImportError):
    code = "E112"
    message_form = "this needs the package {library}, which is not installed"
    remedy_form = "Install it with: pip install 'memoir-engine[{extra}]'"


class KeyMissing(ConfigurationError):
    code = "E109"
    message_form = "the model {model!r} needs an API key, and {variable} is not set"
    remedy_form = "Set {variable} in .env or the environment, or choose model='offline'."


class UnsupportedBackend(ConfigurationError):
    code = "E004"
    message_form = "Unsupported backend"
    remedy_form = "Use backend='auto'; {backend!r} is not one of: auto."


class NotRegistered(ConfigurationError):
    code = "E110"
    message_form = "no {kind} is registered under {name!r}"
    remedy_form = "Registered are: {names}."


class DataDirUnusable(ConfigurationError):
    code = "E111"
    message_form = "data_dir {folder} cannot be written to: {problem}"
    remedy_form = (
        "Give data_dir=… (or db_path=…, beside which it stands) a folder that exists or can be made, with the right to write."
    )


class MemoryClosed(MemoirError):
    code = "E121"
    message_form = "this memory has been closed"
    remedy_form = "Open a new one, Memory(…), with the same settings."


class WrongThread(MemoirError):
    """A synchronous verb was called where waiting for it would never end."""

    code = "E120"
    message_form = "{verb}() cannot wait here: {problem}"
    remedy_form = "{advice}"
