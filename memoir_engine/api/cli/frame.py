"""Frame of every command: open the configured memory, print errors in words with an exit code, and results as JSON.

Invariant: an error prints its message and its remedy and ends with 1; with --json the output is one JSON value and nothing else;
progress goes to stderr.
What the engine warns of is printed with the result, once: its log goes only where somebody sends it.
Source: API "Commands".
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from memoir_engine.api.cli.remedies import in_commands
from memoir_engine.api.doors.values import plain as plain
from memoir_engine.api.sync import Memory
from memoir_engine.core.errors import MemoirError
from memoir_engine.core.events import Reindexing, Stamped, Warned

DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder of the memory; else the configured one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option(help="How many at most.")]
Question = Annotated[str, typer.Argument(help="In words.")]
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
        typer.echo(f"{error}\n→ {in_commands(error.remedy)}", err=True)
        raise typer.Exit(1) from error


def settings(data_dir: Path | None) -> dict[str, Any]:
    return {} if data_dir is None else {"data_dir": data_dir}


def print_json(value: Any) -> None:
    typer.echo(json.dumps(plain(value), ensure_ascii=False, indent=1))


def progress(stamped: Stamped) -> None:
    """Print a sign of progress on stderr, where it mixes with no result."""
    event = stamped.event
    if isinstance(event, Reindexing):
        if event.total:
            typer.echo(f"{event.step}: {event.done} of {event.total}", err=True)
        return
    if isinstance(event, Warned):
        return  # printed with the result
    kept = {name: value for name, value in event.kept().items() if not name.endswith("_id")}
    numbers = {name: value for name, value in kept.items() if isinstance(value, int) and not isinstance(value, bool)}
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", event.kind).lower()
    told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in numbers.items())
    typer.echo(f"{words}: {told}" if told else words, err=True)
