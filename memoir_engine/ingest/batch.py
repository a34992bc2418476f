"""One batch of chunks asked about at one level under one parent.

Invariant: a good item is kept whatever became of the others; a bad, missing or doubled id is asked again alone, at most twice.
Source: MEMOIR 2A.1–2A.10; spec/README 2A.8–2A.9.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from memoir_engine.errors import ChunkUnclassified
from memoir_engine.events import BatchClassified
from memoir_engine.prompts import Prompt, classify
from memoir_engine.run import Run
from memoir_engine.store.plan import Offer

RETRIES = 2  # of a bad item (spec/README 2A.8)
KEPT_OPINIONS = 8  # of each chunk: enough to show what lost


class Answered(Protocol):
    """What a call brings back, as far as filing needs it."""

    @property
    def data(self) -> Any: ...
    @property
    def call_id(self) -> int: ...
    @property
    def latency_ms(self) -> float: ...


class Ask(Protocol):
    """Ask the model; `reuse=False` when the same was just answered wrongly."""

    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[Answered]: ...


@dataclass(frozen=True)
class Placed:
    """The choice for one chunk: a name, and what is to be written down about it."""

    position: int
    name: str
    call_id: int
    attempts: int
    opinions: tuple[tuple[int, float], ...]  # (category, second opinion), nearest first
    seen: bool
    decided_by: str = "model"
    taught: tuple[int, ...] = ()  # chunks shown as examples


@dataclass(frozen=True)
class Question:
    """A batch ready to be asked: its prompt's values, the offer it makes, and each chunk's nearest options."""

    batch: classify.Batch
    offer: Offer
    positions: dict[int, int]  # id in the prompt → position in the source
    opinions: dict[int, tuple[tuple[int, float], ...]]  # by id

    @property
    def seen(self) -> bool:
        return bool(self.batch.evidence)


async def ask_batch(question: Question, ask: Ask, run: Run, *, source: str) -> list[Placed]:
    """The choice of every chunk, in position order. Raises ChunkUnclassified (E207) when one stays without."""
    placed: dict[int, Placed] = {}
    batch, latency_ms, retried = question.batch, 0.0, 0
    bad: dict[int, str] = {}
    before: classify.Batch | None = None
    for attempt in range(1, RETRIES + 2):
        answer = await ask(classify.build(batch), reuse=batch != before)
        latency_ms += answer.latency_ms
        parsed = classify.parse(answer.data, batch)
        for number, name in parsed.good.items():
            placed[number] = _placed(question, number, name, answer.call_id, attempt)
        bad = parsed.bad
        if not bad:
            break
        retried += len(bad) if attempt <= RETRIES else 0
        before, batch = batch, _only(batch, bad)
    _log(question, placed, retried, latency_ms, run)
    if bad:
        raise _unclassified(question, bad, source)
    return [placed[number] for number in sorted(placed)]


def _placed(question: Question, number: int, name: str, call_id: int, attempt: int) -> Placed:
    opinions = question.opinions.get(number, ())
    return Placed(question.positions[number], name, call_id, attempt, opinions, question.seen, taught=question.offer.taught)


def _only(batch: classify.Batch, bad: dict[int, str]) -> classify.Batch:
    """The same question about the bad chunks alone; their ids stay, and each keeps its own column of what is shown."""
    kept = [i for i, (number, _) in enumerate(batch.chunks) if number in bad]
    evidence = tuple(replace(e, nearness=tuple(e.nearness[i] for i in kept)) for e in batch.evidence)
    examples = tuple(replace(e, nearness=tuple(e.nearness[i] for i in kept)) for e in batch.examples)
    return replace(batch, chunks=tuple(batch.chunks[i] for i in kept), evidence=evidence, examples=examples)


def _log(question: Question, placed: dict[int, Placed], retried: int, latency_ms: float, run: Run) -> None:
    options = question.batch.options
    run.emit(BatchClassified(options.level, options.path, len(question.positions), len(placed), retried, latency_ms))


def _unclassified(question: Question, bad: dict[int, str], source: str) -> ChunkUnclassified:
    number, problem = min(bad.items())
    return ChunkUnclassified(
        position=question.positions[number] + 1,
        name=source,
        level=question.batch.options.level,
        attempts=RETRIES + 1,
        problem=problem,
    )
