"""The test call of the Settings page: the shortest question that shows whether a model answers in the requested form.

Invariant: it contains no user data.
Source: issue of the first slice (Settings: test call).
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from memoir_engine.prompts import Prompt

VERSION = "ping/1"
WORD = "memoir"

INSTRUCTIONS = "Repeat the word you are given, in the form asked for."


class Echo(BaseModel):
    """The word that was given."""

    word: str = Field(description="The word, unchanged.")


def build(word: str = WORD) -> Prompt:
    return Prompt("ping", VERSION, INSTRUCTIONS, f"Word: {word}", Echo)


def read(text: str) -> str:
    return text.removeprefix("Word: ")
