"""`memoir verify`, `memoir anchors`, `memoir signing-key`: the audit log, and the heads of it that are held elsewhere.

Source: API "Commands"; docs/decisions/0104.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memoir_engine.api.cli.frame import AsJson, DataDir, errors_shown, opened, print_json
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.number_words import counted
from memoir_engine.core.results import AnchorCheck
from memoir_engine.runtime.anchors import make_key

Anchors = Annotated[
    list[str] | None, typer.Option(help="A place that holds heads, instead of the configured ones; several times.")
]
PublicKey = Annotated[list[str] | None, typer.Option(help="PEM file of a key whose signatures count; several times.")]


def verify(
    head: Annotated[str | None, typer.Argument(help="A head noted elsewhere.")] = None,
    expected_head: Annotated[str | None, typer.Option(help="The same, as an option.")] = None,
    links_only: Annotated[bool, typer.Option("--links-only", help="The chain alone, which is quick.")] = False,
    anchors: Anchors = None,
    public_key: PublicKey = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Check that the record was not touched, also against heads held elsewhere; ends with 1 when it was."""
    with opened(data_dir) as memory:
        check = memory.audit.verify(
            head if expected_head is None else expected_head,
            links_only=links_only,
            anchors=anchors or None,
            public_keys=public_key or (),
        )
    if as_json:
        print_json(check)
    else:
        typer.echo(f"{counted(check.checked, 'event')}, head {check.head.hash}")
        for place in check.anchors:
            typer.echo(f"{place.place}: {_in_words(place)}")
        if check.ok:
            typer.echo("verified")
        else:
            typer.echo(f"event {check.first_bad}: {check.problem}", err=True)
    if not check.ok:
        raise typer.Exit(1)


def anchors(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List the places that heads are anchored in, with what is owed to each."""
    with opened(data_dir) as memory:
        states = memory.audit.anchors()
    if as_json:
        print_json(states)
        return
    for state in states:
        held = "nothing yet" if state.seq is None else f"up to event {state.seq}"
        owed = f", owed {counted(state.owed, 'event')}" if state.owed else ""
        typer.echo(f"{state.place}: holds {held}{owed}")
        if state.problem:
            typer.echo(f"  {state.problem}", err=True)
    if not states:
        typer.echo("No place is configured. Set MEMOIR_ANCHORS, e.g. '[\"file:/somewhere/else/heads.jsonl\"]'.")


def signing_key(file: Annotated[Path, typer.Argument(help="The file to write.")]) -> None:
    """Make a private key to sign heads with, and its public key beside it."""
    with errors_shown():
        try:
            public, key_id = make_key(file)
        except OSError as refused:
            problem = (refused.strerror or str(refused)).lower()
            raise InvalidSetting(
                name="FILE",
                value=str(file),
                problem=problem,
                advice="Name a file that is not there yet, in a folder you may write to.",
            ) from refused
    typer.echo(f"{file}: private key {key_id}; keep it where the database's owner cannot read it (MEMOIR_SIGNING_KEY={file})")
    typer.echo(f"{public}: public key, for whoever verifies")


def _in_words(place: AnchorCheck) -> str:
    if place.state == "agrees":
        return f"agrees up to event {place.seq}"
    if place.state == "differs":
        return f"differs at event {place.seq}"
    return "holds nothing yet" if place.state == "empty" else "cannot be read now"
