"""What pruning took from the states of graphs, or would take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

# === conversations: Conversations as callers see them: sessions, their messages, and what an import or a limit would do.
#
# A message answers like the record that LangChain writes of it: `messages_from_dict(history)` takes a history as it is.


_USUAL = {"human": "user", "ai": "assistant", "HumanMessageChunk": "user", "AIMessageChunk": "assistant"}


@dataclass(frozen=True)
class MessageRecord:
    """One message as it is kept. Number `n` counts from 1 in its session and is never given again.

    kind: LangChain's type. content: a text, or a list of parts. rest: every other field that is not at its default.
    created_at: when it was said. run_id: the run that wrote it.
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
        """As it was said: user, assistant, system, tool, or a role of the caller's."""
        return str(self.rest.get("role") or _USUAL.get(self.kind, self.kind))

    @property
    def text(self) -> str:
        """What is said in it, without what is no text."""
        if isinstance(self.content, str):
            return self.content
        parts = (part if isinstance(part, str) else part.get("text", "") for part in self.content)
        return "\n".join(part for part in parts if isinstance(part, str) and part)

    @property
    def metadata(self) -> dict[str, Any]:
        """What the caller gave with it; empty where nothing was given."""
        found = self.rest.get("metadata")
        return dict(found) if isinstance(found, dict) else {}

    @property
    def tool_calls(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.rest.get("tool_calls", ()))

    @property
    def tool_call_id(self) -> str | None:
        """Of a result: the call it answers."""
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
    """A record of an import that is none, or does not fit. `where` names it, e.g. `messages[3]`."""

    where: str
    problem: str


@dataclass(frozen=True)
class ImportReport:
    """What an import did, or with `dry_run` would do.

    added: messages that come. known: those whose ids the session has already. refused: while there is one, nothing is imported.
    is_new: the session was not there. format: how the data was understood. notes: what the format could not say.
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
    """What a limit would do to one session now. dropped: numbers of the messages that would go; kept: how many would stay."""

    session_id: str
    dropped: tuple[int, ...]
    kept: int
    would_expire: bool


@dataclass(frozen=True)
class Cleared:
    """What clearing took away. action_id: None where there was nothing. threads: of graphs, which go with all sessions."""

    sessions: int
    messages: int
    action_id: str | None
    threads: int = 0


# === replies: What an agent's turn came to.


@dataclass(frozen=True)
class Shown:
    """Something of the memory that stood before the model when it replied. number: by which the reply cites it.

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
    """text: what was answered. messages: those of this turn, the person's first, as they are kept in the session.

    tool_calls: how many were made. limited: more were asked for than the limit allows. shown: what the model saw of the memory.
    warnings: what the memory could not do; the reply came all the same.
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


# === checkpoints


@dataclass(frozen=True)
class Pruned:
    """checkpoints, writes and values that went, and how many bytes those took; `dry_run`: that would go, and nothing did."""

    threads: int
    checkpoints: int
    writes: int
    values: int
    bytes: int
    dry_run: bool
