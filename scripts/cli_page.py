"""Draw docs/cli.md: every command of `memoir` with its arguments and options, read from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from memoir_engine.api.cli import app

EVERYWHERE = ("--json", "--data-dir", "--help")
_INTRO = """
Every verb of a memory is a command, `memoir <family> <verb>`; those at the top are the ones that are called most. All take
`--json` (the whole result for programs) and `--data-dir` (the folder of the memory, `.memoir` unless a setting says otherwise),
and `--help`. What is neither a text, a number nor a flag is JSON, or `@FILE` with JSON in it.

A command ends with 0 where it did what was asked, with 1 where that was refused or failed (message and remedy on stderr), with 2
where it was called wrongly. `memoir --install-completion` has the shell you use complete commands and options from its next start
on; `memoir completion bash` (or `zsh`, `fish`) prints the script, to be put where you like.
"""


def page(written: str) -> str:
    return "\n".join(_lines(written)) + "\n"


def _lines(written: str) -> Iterator[str]:
    yield from ("# Command line", "", written, _INTRO)
    root: Any = typer.main.get_command(app)
    top = {name: command for name, command in _commands(root) if not hasattr(command, "list_commands")}
    yield from ("## memoir", "", *_table("memoir", top.items()))
    for name, command in _commands(root):
        if name not in top:
            yield from ("", f"## memoir {name}", "", _cell(command.help or ""), "", *_table(f"memoir {name}", _commands(command)))


def _commands(group: Any) -> list[tuple[str, Any]]:
    return [(name, group.get_command(None, name)) for name in group.list_commands(None)]


def _table(prefix: str, commands: Any) -> Iterator[str]:
    yield from ("| command | what it does | options |", "|---|---|---|")
    for name, command in commands:
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        options = [one for one in command.params if one.param_type_name == "option"]
        taken = " ".join((f"{prefix} {name}", *(_argument(one) for one in arguments)))
        offered = [min(one.opts, key=lambda opt: -len(opt)) for one in options]
        listed = ", ".join(f"`{option}`" for option in offered if option not in EVERYWHERE)
        words = re.split(r"\n\n", command.help or "")[0]
        yield f"| `{taken}` | {_cell(words)} | {listed} |"


def _argument(one: Any) -> str:
    name = one.name.upper().replace("_", "-") + ("…" if one.nargs == -1 else "")
    return name if one.required else f"[{name}]"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
