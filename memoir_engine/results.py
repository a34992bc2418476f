"""What callers receive: frozen values, detached from any database.

Invariant: nothing here knows where it came from; the store, the services and the pages share these and no twins.
Times are aware and UTC. Latencies are milliseconds unless the name says seconds. Costs are USD, None when not known.
Source: MEMOIR 4.3–4.5 and 9 (final outputs), API.md, DESIGN §5.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from memoir_engine.errors import MemoirError
from memoir_engine.run import RunStatus

Status = Literal["success", "error", "needs_helper"]
Path = tuple[str, ...]  # category names from root to leaf


# --- documents and the tree ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heading:
    """A heading of a source: its level from 1, its text, and where it starts in the source's text."""

    level: int
    text: str
    start: int


@dataclass(frozen=True)
class Source:
    """One uploaded or pasted text. `pages` are the offsets at which pages start; empty where there are none."""

    id: int
    name: str
    kind: str  # txt md html pdf docx
    sha256: str  # of the original bytes
    version: int
    status: str  # stored, filed, withdrawn, erased
    chars: int
    tokens: int
    chunks: int
    title: str | None
    author: str | None
    dated: str | None  # ISO 8601, as precise as the source says
    headings: tuple[Heading, ...]
    pages: tuple[int, ...]
    metadata: dict[str, Any]
    doc_id: str | None
    owner: str | None
    created_at: datetime
    run_id: str | None


@dataclass(frozen=True)
class Helper:
    """The contextual helper of a source, one version of it (MEMOIR 2B)."""

    source_id: int
    version: int
    origin: Literal["user", "generated"]
    text: str
    tokens: int
    author: str | None
    dated: str | None
    topic: str | None
    created_at: datetime


@dataclass(frozen=True)
class Category:
    """A node as it is now, or was at the asked seq. `path` includes its own name."""

    id: int
    name: str
    level: int
    parent_id: int | None
    path: Path
    chunks: int  # filed in it or below
    children: int
    is_leaf: bool
    created_seq: int


@dataclass(frozen=True)
class Chunk:
    """A chunk and where it is filed. `source.text[start:end] == text`."""

    id: int
    source_id: int
    position: int
    start: int
    end: int
    text: str
    tokens: int
    created_at: datetime
    category_id: int | None = None
    category_path: Path = ()
    source_name: str = ""
    ranked_relevance: int | None = None  # in a query: the rank of its leaf

    @property
    def chunk_id(self) -> int:
        return self.id

    @property
    def text_content(self) -> str:
        return self.text


@dataclass(frozen=True)
class ChunkPage:
    """One page of a leaf's chunks; `after` is the cursor of the next page, None at the end."""

    chunks: tuple[Chunk, ...]
    after: str | None


# --- the ledger ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One attempt at a model. `prompt` and `reply` are None in lists, and where they were erased."""

    id: int
    run_id: str
    purpose: str
    prompt_version: str
    model: str
    provider: str
    output_mode: str
    params: dict[str, Any]
    attempt: int
    started_at: datetime
    latency_ms: float
    tokens_prompt: int
    tokens_completion: int
    tokens_estimated: bool
    cost: float | None
    error: str | None
    reused_from: int | None
    prompt: str | None = None
    reply: str | None = None


@dataclass(frozen=True)
class Option:
    """What was offered. `opinion` is the engine's second opinion in [0, 1], never the model's; None when not computed."""

    category_id: int
    name: str
    opinion: float | None = None
    rank: int | None = None  # None: offered, not chosen
    is_new: bool = False


@dataclass(frozen=True)
class Decision:
    """One choice at one level under one parent, with what lost.

    decided_by: model, forced (one option), limit (re-asked at the limit), reviewer, net.
    seen: whether the model saw the second opinion.
    """

    id: int
    run_id: str
    call_id: int | None
    chunk_id: int | None
    level: int
    parent_id: int | None
    parent_path: Path
    options: tuple[Option, ...]
    chosen: tuple[int, ...]  # category ids, best first
    decided_by: str
    seen: bool
    attempts: int
    note: str | None = None  # why the engine, not the model, decided

    @property
    def rejected(self) -> tuple[Option, ...]:
        return tuple(option for option in self.options if option.category_id not in self.chosen)

    @property
    def margin(self) -> float | None:
        """How far the second opinion of the chosen stands above the best of the others; below 0 it disagrees."""
        known = [o for o in self.options if o.opinion is not None]
        won = [o.opinion for o in known if o.category_id in self.chosen and o.opinion is not None]
        lost = [o.opinion for o in known if o.category_id not in self.chosen and o.opinion is not None]
        return max(won) - max(lost) if won and lost else None


@dataclass(frozen=True)
class RunView:
    """A run as the ledger has it. `request` is what was asked, `result` ids and numbers only."""

    id: str
    verb: str
    actor: str
    user: str | None
    status: RunStatus
    started_at: datetime
    ended_at: datetime | None
    heartbeat_at: datetime | None
    tree_seq: int | None
    request: dict[str, Any]
    result: dict[str, Any]
    error: str | None
    remedy: str | None
    calls: int = 0
    tokens_prompt: int = 0
    tokens_completion: int = 0
    cost: float | None = None
    latency_ms: float = 0.0  # sum over its calls


@dataclass(frozen=True)
class EventView:
    """A row of a run's event stream."""

    run_id: str
    n: int
    at: datetime
    kind: str
    body: dict[str, Any]


@dataclass(frozen=True)
class RunDetail:
    run: RunView
    calls: tuple[Call, ...]
    decisions: tuple[Decision, ...]
    events: tuple[EventView, ...]


# --- the audit -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AuditEvent:
    """One link of the chain. `body` holds ids and digests; texts are in the payload, None where erased."""

    seq: int
    at: datetime
    action_id: str
    kind: str
    body: dict[str, Any]
    payload: dict[str, Any] | None
    hash: str


@dataclass(frozen=True)
class Action:
    """What one person (or run) did in one go; `events` in order, undone as one."""

    action_id: str
    verb: str
    actor: str
    at: datetime
    reason: str | None
    run_id: str | None
    undoes: str | None
    undone_by: str | None
    events: tuple[AuditEvent, ...] = ()


@dataclass(frozen=True)
class AuditHead:
    seq: int
    hash: str
    at: datetime


@dataclass(frozen=True)
class AuditCheck:
    """`checked` counts events; `first_bad` is the seq of the first event that fails, with `problem` in words."""

    ok: bool
    checked: int
    first_bad: int | None
    problem: str | None
    head: AuditHead


@dataclass(frozen=True)
class UndoPreview:
    """`blocked_by` are the later actions to undo first; `clash` says what else stands in the way."""

    action_id: str
    possible: bool
    changes: tuple[str, ...]
    blocked_by: tuple[str, ...]
    clash: str | None


# --- results of verbs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorReport:
    """An error as a value: what `raise_for_error` raises."""

    code: str
    message: str
    remedy: str
    retryable: bool
    cause: MemoirError = field(repr=False, compare=False)

    @classmethod
    def of(cls, error: MemoirError) -> ErrorReport:
        return cls(error.code, str(error), error.remedy, error.retryable, error)


@dataclass(frozen=True)
class IngestResult:
    status: Status
    run_id: str
    source_id: int | None = None
    name: str = ""
    chunks: int = 0
    new_categories: int = 0
    calls: int = 0
    latency_ms: float = 0.0  # wall clock
    warnings: tuple[str, ...] = ()
    action_id: str | None = None
    helper: str | None = None
    error: ErrorReport | None = None

    def raise_for_error(self) -> IngestResult:
        """Raise what went wrong; itself when nothing did."""
        if self.error is not None:
            raise self.error.cause
        return self


@dataclass(frozen=True)
class Response:
    """MEMOIR 4.4 and 9: one completed call of a query, in call order."""

    purpose: str
    llm_output: tuple[dict[str, Any], ...]
    timestamp: datetime
    latency_ms: float
    model: str
    tokens_prompt: int
    tokens_completion: int
    call_id: int | None
    cost: float | None


@dataclass(frozen=True)
class PathChoice:
    """A path that was followed to its leaf. `ranks` from root to leaf; `identifier` orders paths."""

    category_ids: tuple[int, ...]
    names: Path
    ranks: tuple[int, ...]

    @property
    def identifier(self) -> tuple[int, ...]:
        return self.category_ids

    @property
    def ranked_relevance(self) -> int:
        return self.ranks[-1] if self.ranks else 0


@dataclass(frozen=True)
class DroppedPath:
    """reason: not chosen, budget, empty, gone; `category_path` may end above a leaf."""

    category_path: Path
    category_ids: tuple[int, ...]
    reason: str
    chunks: int = 0


@dataclass(frozen=True)
class UsedChunk:
    """A chunk of the final prompt; `cited` when the answer names its number.

    quotes: spans in the source's text that support the citing sentences, found by the engine, not by the model.
    """

    chunk_id: int
    category_path: Path
    number: int  # the [n] of the answer
    source_id: int = 0
    start: int = 0
    end: int = 0
    quotes: tuple[tuple[int, int], ...] = ()
    cited: bool = False


@dataclass(frozen=True)
class QueryResult:
    status: Status
    run_id: str
    question: str
    answer: str = ""
    chunks: tuple[Chunk, ...] = ()
    used_chunks: tuple[UsedChunk, ...] = ()
    dropped_paths: tuple[DroppedPath, ...] = ()
    paths: tuple[PathChoice, ...] = ()
    responses: tuple[Response, ...] = ()
    decisions: tuple[Decision, ...] = ()
    net: tuple[Chunk, ...] = ()  # what the safety net caught outside the paths; never in the prompt
    left_out: int = 0  # chunks of chosen leaves that the per-path limit left out
    retrieval_ms: float = 0.0
    total_latency_ms: float = 0.0  # MEMOIR 4.5.4: sum of calls and retrievals
    wall_ms: float = 0.0
    deterministic: bool = True
    after: str | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorReport | None = None

    @property
    def total_latency(self) -> float:
        """Seconds, the specification's name for the same number."""
        return self.total_latency_ms / 1000

    def raise_for_error(self) -> QueryResult:
        """Raise what went wrong; itself when nothing did."""
        if self.error is not None:
            raise self.error.cause
        return self


@dataclass(frozen=True)
class Estimate:
    """Before anything is asked: from the chunks actually cut. cost None when the model's price is not known."""

    chunks: int
    calls: int
    tokens_prompt: int
    tokens_completion: int
    cost: float | None
    model: str


@dataclass(frozen=True)
class SettingView:
    """A setting in force and where it came from. Secrets say only that they are set."""

    name: str
    value: str
    origin: str  # argument, .env, environment, default
    about: str


@dataclass(frozen=True)
class Overview:
    """What stands in memory, in numbers, and what needs a person."""

    sources: int
    chunks: int
    categories: int
    leaves: int
    questions: int
    tokens: int  # spent at models, prompt and completion
    cost: float | None
    last_actions: tuple[Action, ...]
    interrupted: tuple[RunView, ...]


@dataclass(frozen=True)
class ModelCheck:
    """A test call: what answered, how fast, or why not."""

    ok: bool
    model: str
    provider: str
    latency_ms: float
    tokens_prompt: int
    tokens_completion: int
    error: str | None = None
    remedy: str | None = None


def with_rank(chunk: Chunk, rank: int) -> Chunk:
    return replace(chunk, ranked_relevance=rank)
