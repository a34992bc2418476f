"""What settings are made of: a frozen value, closed to unknown names, whose refusals say the setting, its value and the way out.

Invariant: no password stands in a refusal. Pure.
Source: MEMOIR 7A; DESIGN §11.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from memoir_engine.errors import ConfigurationError, InvalidSetting, UnknownSetting


class Settings(BaseModel):
    """Frozen, closed to unknown names; pydantic's errors come out as ours, the first one that matters."""

    prefix: ClassVar[str] = ""  # of its fields' names, where it is a field itself
    # the texts under the fields are shown on the Settings page; reading them costs some 15 ms of the import
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    if not TYPE_CHECKING:  # so that editors and mypy still see the fields as keywords

        def __init__(self, **given: Any) -> None:
            _refuse_truth_for_numbers(type(self), given)
            try:
                super().__init__(**given)
            except ValidationError as refused:
                raise _translated(type(self), refused) from None  # pydantic's text would repeat passwords


def safe_url(url: str) -> str:
    """The URL without its password and query, for messages and pages."""
    try:
        parts = urlsplit(url)
        secret = parts.password is not None
    except ValueError:
        return url.split("://", 1)[0] + "://…"
    if not secret and not parts.query:
        return url
    host = f"{parts.username or ''}:***@{parts.netloc.rpartition('@')[2]}" if secret else parts.netloc
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def unknown_setting(name: str, known: list[str]) -> UnknownSetting:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)
    return UnknownSetting(name=name, near=", ".join(near))


def _refuse_truth_for_numbers(kind: type[Settings], given: Mapping[str, Any]) -> None:
    """pydantic reads True as 1; a setting that is a number never means that."""
    for name, value in given.items():
        field = kind.model_fields.get(name)
        if isinstance(value, bool) and field is not None and field.annotation is not bool:
            raise _invalid(kind, name, value, "it must not be True or False")


def _translated(kind: type[Settings], refused: ValidationError) -> ConfigurationError:
    errors = refused.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    name, *inner = (str(part) for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        prefix = kind.prefix
        return unknown_setting(prefix + name, [prefix + field for field in kind.model_fields])
    return _invalid(kind, name, first["input"], _problem(first), "".join(f"[{part}]" for part in inner))


def _invalid(kind: type[Settings], name: str, value: Any, problem: str, inner: str = "") -> InvalidSetting:
    default = kind.model_fields[name].get_default(call_default_factory=True)
    shown = _shown(name, value)
    bounds = _range(kind, name)
    advice = f"{f'Use {bounds}' if bounds else f'Correct {kind.prefix}{name}'}; the default is {default!r}."
    return InvalidSetting(name=kind.prefix + name + inner, value=shown, problem=problem, advice=advice)


def _shown(name: str, value: Any) -> Any:
    if name != "database_url":
        return value
    return safe_url(value) if isinstance(value, str) else type(value).__name__


def _range(kind: type[Settings], name: str) -> str:
    bounds: dict[str, Any] = {}
    for limit in kind.model_fields[name].metadata:
        bounds |= {sign: getattr(limit, sign) for sign in ("ge", "gt", "le", "lt") if hasattr(limit, sign)}
    words = {"ge": "{} or more", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}
    if {"ge", "le"} <= bounds.keys():
        return f"{bounds['ge']} to {bounds['le']}"
    return " and ".join(words[sign].format(bound) for sign, bound in bounds.items())


def _problem(error: ErrorDetails) -> str:
    told = _PROBLEMS.get(error["type"])
    return told.format(**error.get("ctx", {})) if told else error["msg"][:1].lower() + error["msg"][1:]


_PROBLEMS: dict[str, str] = {
    "greater_than_equal": "it must be {ge} or more",
    "greater_than": "it must be above {gt}",
    "less_than_equal": "it must be {le} or less",
    "less_than": "it must be below {lt}",
    "int_parsing": "it must be a whole number",
    "int_type": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "float_parsing": "it must be a number",
    "float_type": "it must be a number",
    "finite_number": "it must be a number that has an end",
    "bool_parsing": "it must be true or false",
    "bool_type": "it must be true or false",
    "string_type": "it must be a text",
    "string_too_short": "it must not be empty",
    "tuple_type": "it must be a list of texts",
    "too_short": "it must not be empty",
    "path_type": "it must be a path",
    "literal_error": "it must be {expected}",
    "dict_type": "it must be a table, such as {{1: 20}}",
}
