"""A small memory to begin with: papers of a fictitious association in a mill by a lake, and conversations.

All of it is invented. The documents are of several kinds and lengths; among them is a passage that fits two branches,
a question that needs two of them, and one whose answer stands where nobody would file it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable


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
    """In the order they are to be ingested."""
    return _read("documents")


def conversations() -> tuple[Sample, ...]:
    """JSON: session_id, user, and messages with role, content and ts."""
    return _read("conversations")


def sample_conversations() -> tuple[SampleConversation, ...]:
    """The conversations of the sample memory, each with whose it is: what facts may be drawn from to begin with."""
    read = (json.loads(sample.data) for sample in conversations())
    return tuple(
        SampleConversation(
            one["user"],
            one["session_id"],
            tuple({"role": said["role"], "content": said["content"], "at": said["ts"]} for said in one["messages"]),
        )
        for one in read
    )


def transcripts() -> tuple[Sample, ...]:
    """Conversations as one pastes them, several subjects in each; for looking at, not for storing."""
    return _read("transcripts")


def questions() -> tuple[SampleQuestion, ...]:
    held = json.loads(_folder("questions.json").read_text(encoding="utf-8"))
    return tuple(SampleQuestion(entry["text"], entry["about"]) for entry in held)


def _read(folder: str) -> tuple[Sample, ...]:
    found = sorted(_folder(folder).iterdir(), key=lambda file: file.name)
    return tuple(Sample(file.name, file.read_bytes()) for file in found if not file.name.startswith((".", "_")))


def _folder(name: str) -> Traversable:
    return files(__name__) / name
