"""A small memory to begin with: papers of a fictitious association in a mill by a lake, and conversations.

All of it is invented. The documents are of several kinds and lengths; among them is a passage that fits two branches,
a question that needs two of them, and one whose answer stands where nobody would file it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Sample:
    name: str
    data: bytes


@dataclass(frozen=True)
class SampleQuestion:
    """`about` says in plain words what to look at when it has been answered."""

    text: str
    about: str


@dataclass(frozen=True)
class SampleConversation:
    """messages: as sessions and `remember` take them, each with its time."""

    user: str
    session_id: str
    messages: tuple[dict[str, str], ...]


def documents() -> tuple[Sample, ...]:
    """Return the documents in the order they are to be ingested."""
    return _read("documents")


def conversations() -> tuple[Sample, ...]:
    """Return JSON files: session_id, user, and messages with role, content and ts."""
    return _read("conversations")


def sample_conversations() -> tuple[SampleConversation, ...]:
    """Return the conversations of the sample memory, each with its user: the first from which facts may be drawn."""
    records = [json.loads(sample.data) for sample in conversations()]
    return tuple(SampleConversation(record["user"], record["session_id"], _messages(record)) for record in records)


def transcripts() -> tuple[Sample, ...]:
    """Return conversations as they are pasted, several subjects in each; for looking at, not for storing."""
    return _read("transcripts")


def questions() -> tuple[SampleQuestion, ...]:
    entries = json.loads((files(__name__) / "questions.json").read_text(encoding="utf-8"))
    return tuple(SampleQuestion(entry["text"], entry["about"]) for entry in entries)


def _messages(record: dict[str, Any]) -> tuple[dict[str, str], ...]:
    return tuple({"role": turn["role"], "content": turn["content"], "at": turn["ts"]} for turn in record["messages"])


def _read(folder: str) -> tuple[Sample, ...]:
    entries = sorted((files(__name__) / folder).iterdir(), key=lambda file: file.name)
    return tuple(Sample(file.name, file.read_bytes()) for file in entries if not file.name.startswith((".", "_")))
