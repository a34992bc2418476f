"""Sessions, their messages, an agent's replies, and the results of imports, retention and pruning.

A message answers like the record that LangChain writes of it: `messages_from_dict(history)` takes a history as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

_USUAL = {"human": "user", "ai": "assistant", "HumanMessageChunk": "user", "AIMessageChunk": "assistant"}


@dataclass(frozen=True)
class MessageRecord:
    """One stored message. Number `n` counts from 1 in its session and is never used again.

    kind: LangChain's type. content: a text, or a list of parts. rest: every other field that is not at its default.
    created_at: when it was sent. run_id: the run that wrote it.
    """

    session_id: str
    n: int
    kind: str
    content: str | list[Any]
    created_at: datetime
    id: str | None = None
    name: str | None = None
    rest: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None

    @property
    def type(self) -> str:
        return self.kind

    @property
    def role(self) -> str:
        """user, assistant, system, tool, or a role of the caller's."""
        return str(self.rest.get("role") or _USUAL.get(self.kind, self.kind))

    @property
    def text(self) -> str:
        """Text of the content, without parts that are not text."""
        if isinstance(self.content, str):
            return self.content
        parts = (part if isinstance(part, str) else part.get("text", "") for part in self.content)
        return "\n".join(part for part in parts if isinstance(part, str) and part)

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the caller; empty if there is none."""
        found = self.rest.get("metadata")
        return dict(found) if isinstance(found, dict) else {}

    @property
    def tool_calls(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.rest.get("tool_calls", ()))

    @property
    def tool_call_id(self) -> str | None:
        """For a tool result: the call it answers."""
        return self.rest.get("tool_call_id")

    @property
    def data(self) -> dict[str, Any]:
        """The fields, as LangChain names them."""
        told = {"content": self.content, "additional_kwargs": {}, "response_metadata": {}, **self.rest}
        return {**told, "type": self.kind, "name": self.name, "id": self.id}

    def keys(self) -> Iterator[str]:
        yield from ("type", "data")

    def __getitem__(self, name: str) -> Any:
        if name not in ("type", "data"):
            raise KeyError(name)
        return self.kind if name == "type" else self.data


@dataclass(frozen=True)
class SessionView:
    """One session. `messages` are kept now, `turns` of them a person's; `chars` is the length of what they say.

    expires_at: when it counts as expired if nothing more is said; None is never. last_at: when something was last said in it.
    number: the key of its rows, which facts and passages name. opening: how what a person said first begins.
    """

    number: int
    session_id: str
    user: str | None
    created_at: datetime
    last_at: datetime
    messages: int
    turns: int
    chars: int
    last_n: int
    max_messages: int | None
    session_timeout: float | None
    expires_at: datetime | None
    is_expired: bool
    metadata: dict[str, Any] = field(default_factory=dict)
    opening: str | None = None


@dataclass(frozen=True)
class RefusedMessage:
    """An invalid record of an import. `where` names it, e.g. `messages[3]`."""

    where: str
    problem: str


@dataclass(frozen=True)
class ImportReport:
    """Result of an import, or its preview with `dry_run`.

    added: new messages. known: messages whose ids the session has already. refused: if there is any, nothing is imported.
    is_new: the session did not exist. format: the detected format. notes: what the format could not express.
    """

    session_id: str
    is_new: bool
    format: str
    records: int
    added: int
    known: int
    refused: tuple[RefusedMessage, ...]
    dry_run: bool
    first_at: datetime | None = None
    last_at: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RetentionPreview:
    """Effect of a limit on one session now. dropped: numbers of the messages that would go; kept: how many would stay."""

    session_id: str
    dropped: tuple[int, ...]
    kept: int
    would_expire: bool


@dataclass(frozen=True)
class Cleared:
    """Result of clearing. action_id: None if there was nothing to clear. threads: of LangGraph, deleted with all sessions."""

    sessions: int
    messages: int
    action_id: str | None
    threads: int = 0


@dataclass(frozen=True)
class Shown:
    """A piece of memory that the model saw when it replied. number: by which the reply cites it.

    kind: passage, fact or chunk; id: of its row. run_id: of the question, where a tool asked one.
    """

    number: int
    kind: str
    id: int | str
    source_id: int | None = None
    start: int | None = None
    end: int | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Reply:
    """text: the answer. messages: those of this turn, the person's first, as stored in the session.

    tool_calls: how many were made. limited: the model asked for more than the limit allows. shown: the memory the model saw.
    warnings: what the memory could not do; the reply was given all the same.
    """

    text: str
    session_id: str
    messages: tuple[MessageRecord, ...]
    run_id: str
    tool_calls: int = 0
    limited: bool = False
    shown: tuple[Shown, ...] = ()
    warnings: tuple[str, ...] = ()
    model: str = ""
    latency_ms: float = 0.0


@dataclass(frozen=True)
class Pruned:
    """checkpoints, writes and values removed, and their bytes; with `dry_run`: to be removed."""

    threads: int
    checkpoints: int
    writes: int
    values: int
    bytes: int
    dry_run: bool
