"""Frame of every command: open the configured memory, print errors in words with an exit code, and results as JSON.

Invariant: an error prints its message and its remedy and ends with 1; with --json the output is one JSON value and nothing else.
What the engine warns of is printed with the result, once: its log goes only where somebody sends it.
Source: API "Commands".
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from memoir_engine.api.sync import Memory
from memoir_engine.core.errors import MemoirError

DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder of the memory; else the configured one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_UNSEEN = logging.NullHandler()


@contextmanager
def opened(data_dir: Path | None) -> Iterator[Memory]:
    """Open the configured memory."""
    logging.getLogger("memoir_engine").addHandler(_UNSEEN)  # else Python prints warnings of the log by itself
    with errors_shown(), Memory(**settings(data_dir)) as memory:
        yield memory


@contextmanager
def errors_shown() -> Iterator[None]:
    """End the command with the message and the remedy of an error of Memoir."""
    try:
        yield
    except MemoirError as error:
        typer.echo(f"{error}\n→ {error.remedy}", err=True)
        raise typer.Exit(1) from error


def settings(data_dir: Path | None) -> dict[str, Any]:
    return {} if data_dir is None else {"data_dir": data_dir}


def print_json(value: Any) -> None:
    typer.echo(json.dumps(plain(value), ensure_ascii=False, indent=1))


def plain(value: Any) -> Any:
    """Convert a result to what JSON knows: values by their fields, times in ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(of) for name, of in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(of) for of in value]
    return value.isoformat() if isinstance(value, date | datetime) else value
