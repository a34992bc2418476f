"""One file per subject that models are asked about: the wire schemas, the instructions, `build`, `read` and `parse` of each task.

Invariant: a prompt is a value. `build` is pure, and `read(build(x).text) == x` for any text, hostile ones included.
Source: DESIGN §2.4, §10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True)
class Prompt:
    """One request to a model. `schema` is the strict wire model; `version` changes whenever the wording does."""

    purpose: str
    version: str
    instructions: str
    text: str
    schema: type[BaseModel]
    per_item: bool = False  # the caller checks each item; one wrong item never costs the others (MEMOIR 2A.9)
    stable: int = 0  # characters of the text that other prompts of the run begin with, too: what a provider may cache
    lists: tuple[str, ...] = ()  # with `per_item`: what must be there as lists all the same, or the reply is asked again
    retries: int = 2  # further replies asked for where one does not fit
    may_be_shorter: bool = False  # cut at its length, a reply is asked for once more; else the caller asks for less
    # reads a reply in plain words, "" for an empty one; None where it cannot be taken. Without it only JSON is taken
    from_words: Callable[[str], dict[str, Any] | None] | None = field(default=None, compare=False)
