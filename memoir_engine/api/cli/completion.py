"""`memoir completion`: the script with which a shell completes commands and options.

Source: API "Commands".
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from typer._completion_shared import get_completion_script

Shell = Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Whose script: bash, zsh or fish.")]


def completion(shell: Shell) -> None:
    """Print the script that completes `memoir` in a shell: `eval "$(memoir completion bash)"`, or in a file that it reads."""
    typer.echo(get_completion_script(prog_name="memoir", complete_var="_MEMOIR_COMPLETE", shell=shell))
