"""Scripted model, and texts whose chunks say where they belong.

    script.on("classify", {"chunks": [...]}, "no JSON", ModelHTTPError(...))   # in turn, then as usual again
    script.always("answer", lambda asked: {"answer": "So it is. [1]"})          # may be a coroutine function
    script.asked("classify")[0].batch.chunks                                    # what was asked, in order
    script.hold("classify")                                                     # calls wait until the gate opens

As usual: a chunk that begins with `Music/Strings/Violin` is filed there, the first categories are selected, every name
stays, and the answer is the first words of the first chunk.
Invariant: it takes the place of the model alone, behind pydantic-ai; asking, checking and the ledger are the real ones.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from memoir_engine import Memory
from memoir_engine.prompts import answer, classify, select

CUT = object()  # a reply that ends at its length
PATIENCE_S = 120  # how long a broken test may wait before it ends
SMALL: dict[str, Any] = {"chunk_min_tokens": 8, "chunk_max_tokens": 30, "model": "offline"}


@dataclass(frozen=True)
class Asked:
    """Request as the model receives it."""

    purpose: str
    instructions: str
    text: str
    schema: dict[str, Any]

    @property
    def batch(self) -> classify.Batch:
        return classify.read(self.text)

    @property
    def choice(self) -> select.SelectRequest:
        return select.read(self.text)

    @property
    def final(self) -> answer.AnswerRequest:
        return answer.read(self.text)

    @property
    def ids(self) -> list[int]:
        return [number for number, _ in self.batch.chunks]

    @property
    def names(self) -> list[str] | None:
        """Return the categories the schema allows; None if any text may be one."""
        item = self.schema["$defs"][next(name for name in self.schema["$defs"] if name in ("Placement", "Selection"))]
        allowed = item["properties"]["category"]
        return allowed.get("enum", [allowed["const"]] if "const" in allowed else None)


class Gate:
    """Gate at which calls wait until a test opens it; from any thread, on any loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[asyncio.Future[None]] = []

    async def passed(self) -> None:
        with self._lock:
            if self._open:
                return
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
        await turn

    def open(self) -> None:
        with self._lock:
            self._open = True
            for turn in self._waiting:
                turn.get_loop().call_soon_threadsafe(lambda turn=turn: turn.done() or turn.set_result(None))


@dataclass
class Script:
    requests: list[Asked] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._usual: dict[str, Any] = dict(USUAL)
        self._queued: dict[str, deque[Any]] = defaultdict(deque)
        self._gates: dict[str, Gate] = {}

    def on(self, purpose: str, *answers: Any) -> None:
        self._queued[purpose].extend(answers)

    def always(self, purpose: str, answer: Any) -> None:
        self._usual[purpose] = answer

    def hold(self, purpose: str) -> Gate:
        self._gates[purpose] = Gate()
        return self._gates[purpose]

    def asked(self, purpose: str) -> list[Asked]:
        return [asked for asked in self.requests if asked.purpose == purpose]

    def wait_for(self, purpose: str, count: int = 1) -> None:
        """Wait until this many requests of the purpose have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.asked(purpose)) >= count, PATIENCE_S)

    def model(self, *_: Any) -> FunctionModel:
        profile = ModelProfile(supports_json_schema_output=True, default_structured_output_mode="native")
        return FunctionModel(self._respond, model_name="offline", profile=profile)

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = _asked(messages, info)
        with self.arrived:
            self.requests.append(asked)
            said = self._queued[asked.purpose].popleft() if self._queued[asked.purpose] else self._usual[asked.purpose]
            self.arrived.notify_all()
        if asked.purpose in self._gates:
            await self._gates[asked.purpose].passed()
        said = said(asked) if callable(said) else said
        said = await said if inspect.isawaitable(said) else said
        if isinstance(said, BaseException):
            raise said
        if said is CUT:
            return ModelResponse([TextPart('{"')], finish_reason="length")
        return ModelResponse([TextPart(said if isinstance(said, str) else json.dumps(said))])


def _asked(messages: list[ModelMessage], info: AgentInfo) -> Asked:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    text = next(str(part.content) for part in requests[0].parts if isinstance(part, UserPromptPart))
    instructions = requests[0].instructions or ""
    wanted = info.model_request_parameters.output_object
    return Asked(instructions.split("/")[0].removeprefix("task: "), instructions, text, wanted.json_schema if wanted else {})


def place(asked: Asked) -> dict[str, Any]:
    """File each chunk where its first word says."""
    batch = asked.batch
    return placed({number: path_of(text)[batch.options.level - 1] for number, text in batch.chunks})


def placed(names: dict[int, str]) -> dict[str, Any]:
    return {"chunks": [{"id": number, "category": name} for number, name in names.items()]}


def selected(*names: str, most: int | None = None) -> dict[str, Any]:
    """Select these, best first, the best with the rank `most`."""
    best = most or len(names)
    return {"selections": [{"category": name, "ranked_relevance": best - i} for i, name in enumerate(names)]}


def _first(asked: Asked) -> dict[str, Any]:
    choice = asked.choice
    return selected(*select.labels(choice.groups)[: choice.most], most=choice.most)


def _stays(asked: Asked) -> dict[str, Any]:
    return {"names": [{"name": new.name, "stands_for_it": new.name} for new in classify.read_settle(asked.text).names]}


def _quote(asked: Asked) -> dict[str, Any]:
    return {"answer": f"{asked.final.passages[0].text.strip()} [1]"}


USUAL: dict[str, Any] = {
    "helper": {"author": "unknown", "date": "unknown", "topic": "trades", "summary": "A list of trades."},
    "classify": place,
    "select": _first,
    "settle": _stays,
    "answer": _quote,
    "ping": {"word": "memoir"},
}


def path_of(text: str) -> list[str]:
    return text.split()[0].split("/")


def paper(*paths: str) -> str:
    """Write a text of one chunk per path; equal paths make different chunks."""
    return "\n\n".join(
        f"{path} paragraph {i} tells at some length of {path.split('/')[-1]} and of nothing else at all."
        for i, path in enumerate(paths, 1)
    )


def leaves(memory: Memory) -> dict[str, list[int]]:
    """Return the chunk positions of each leaf, by its path."""
    held = {"/".join(leaf.path): memory.tree.chunks(leaf.id, limit=1000).chunks for leaf in memory.tree.all() if leaf.is_leaf}
    return {path: [chunk.position for chunk in chunks] for path, chunks in held.items()}


def tree(memory: Memory) -> list[str]:
    return sorted("/".join(category.path) for category in memory.tree.all())


Opened = Callable[..., Memory]


def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Serve as a fixture: `script = pytest.fixture(scripted_model.script)`."""
    made = Script()
    monkeypatch.setattr("memoir_engine.models.client.build", made.model)
    return made


def opened(script: Script, tmp_path: Path) -> Iterator[Opened]:
    """Open memories of small chunks, each asking the script; `at` names the file."""
    memories: list[Memory] = []

    def open_memory(at: str = "memory.db", **settings: Any) -> Memory:
        memories.append(Memory(db_path=tmp_path / at, **(SMALL | settings)))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


def memory(opened: Opened) -> Memory:
    return opened()


def events(memory: Memory, run_id: str, kind: str) -> list[dict[str, Any]]:
    return [event.body for event in memory.runs.events(run_id) if event.kind == kind]
