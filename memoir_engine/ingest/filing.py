"""Every chunk of one source walked down to its leaf, level by level.

Invariant: a wave's new names are settled and its choices applied in position order before the next wave of its stream is asked.
No parent ever gets more children than its limit: what came too late is asked again, from the existing names only.
Source: MEMOIR 2.5–2.11; DESIGN §8.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from memoir_engine.core.errors import ChunkUnclassified
from memoir_engine.core.events import BatchClassified, CategoryProposed, ChunkPlaced
from memoir_engine.core.run import Run
from memoir_engine.ingest.draft import ROOT, DraftTree, Lessons, Node
from memoir_engine.ingest.schedule import ChildStreams, Gate, Stream, run_wave, wave_width
from memoir_engine.prompts import Prompt, classify
from memoir_engine.prompts import settle as prompts_settle
from memoir_engine.prompts.evidence import likeliest
from memoir_engine.store.sources.plan import Offer
from memoir_engine.text.names import fold
from memoir_engine.text.profiles import Profiles
from memoir_engine.text.sentences import opening
from memoir_engine.text.similarity import group_close_names
from memoir_engine.text.terms import Terms

# === batch: One batch of chunks asked about at one level under one parent.
#
# Invariant: a good item is kept whatever became of the others; a bad, missing or doubled id is asked again alone, at most
# twice.
# Source: MEMOIR 2A.1–2A.10; spec/README 2A.8–2A.9.


RETRIES = 2  # of a bad item (spec/README 2A.8)
KEPT_OPINIONS = 8  # of each chunk: enough to show what lost


class BatchAnswer(Protocol):
    """What a call brings back, as far as filing needs it."""

    @property
    def data(self) -> Any: ...
    @property
    def call_id(self) -> int: ...
    @property
    def latency_ms(self) -> float: ...


class Ask(Protocol):
    """Ask the model; `reuse=False` when the same was just answered wrongly."""

    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[BatchAnswer]: ...


@dataclass(frozen=True)
class NamedChoice:
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
class BatchQuestion:
    """A batch ready to be asked: its prompt's values, the offer it makes, and each chunk's nearest options."""

    batch: classify.Batch
    offer: Offer
    positions: dict[int, int]  # id in the prompt → position in the source
    opinions: dict[int, tuple[tuple[int, float], ...]]  # by id

    @property
    def seen(self) -> bool:
        return bool(self.batch.evidence)


async def ask_batch(question: BatchQuestion, ask: Ask, run: Run, *, source: str) -> list[NamedChoice]:
    """The choice of every chunk, in position order. Raises ChunkUnclassified (E207) when one stays without."""
    placed: dict[int, NamedChoice] = {}
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


def _placed(question: BatchQuestion, number: int, name: str, call_id: int, attempt: int) -> NamedChoice:
    opinions = question.opinions.get(number, ())
    return NamedChoice(question.positions[number], name, call_id, attempt, opinions, question.seen, taught=question.offer.taught)


def _only(batch: classify.Batch, bad: dict[int, str]) -> classify.Batch:
    """The same question about the bad chunks alone; their ids stay, and each keeps its own column of what is shown."""
    kept = [i for i, (number, _) in enumerate(batch.chunks) if number in bad]
    evidence = tuple(replace(e, nearness=tuple(e.nearness[i] for i in kept)) for e in batch.evidence)
    examples = tuple(replace(e, nearness=tuple(e.nearness[i] for i in kept)) for e in batch.examples)
    return replace(batch, chunks=tuple(batch.chunks[i] for i in kept), evidence=evidence, examples=examples)


def _log(question: BatchQuestion, placed: dict[int, NamedChoice], retried: int, latency_ms: float, run: Run) -> None:
    options = question.batch.options
    run.emit(BatchClassified(options.level, options.path, len(question.positions), len(placed), retried, latency_ms))


def _unclassified(question: BatchQuestion, bad: dict[int, str], source: str) -> ChunkUnclassified:
    number, problem = min(bad.items())
    return ChunkUnclassified(
        position=question.positions[number] + 1,
        name=source,
        level=question.batch.options.level,
        attempts=RETRIES + 1,
        problem=problem,
    )


# === settling: New names of one wave that mean the same become one, by one short call that is in the ledger like any
# other.
#
# Invariant: only names whose texts are close (second opinion) are asked about; every name maps to one that was proposed.
# Source: DESIGN §8 ("close ones are settled by one short call").


TERMS_SHOWN = 6


async def settle(names: dict[str, list[Terms]], options: classify.LevelOptions, ask: Ask) -> dict[str, str]:
    """Each new name to the one that stays; names that stay themselves may be absent."""
    first, same = _spellings(names)
    groups = group_close_names({name: [t for n in names if same.get(n, n) == name for t in names[n]] for name in first})
    for group in groups:
        close = prompts_settle.SettleRequest(options.level, options.path, tuple(_new_name(name, names[name]) for name in group))
        answer = await ask(prompts_settle.build(close))
        kept = prompts_settle.parse(answer.data, close)
        same = {name: kept.get(target, target) for name, target in {**{n: n for n in names}, **same}.items()}
    return same


def _spellings(names: dict[str, list[Terms]]) -> tuple[list[str], dict[str, str]]:
    """Names that differ in case, width or spaces only are one: the first spelling stays."""
    first: dict[str, str] = {}
    same = {name: first.setdefault(fold(name), name) for name in names}
    return list(first.values()), same


def _new_name(name: str, texts: list[Terms]) -> prompts_settle.NewName:
    counts: dict[str, int] = {}
    for terms in texts:
        for stem, count in terms.counts.items():
            counts[stem] = counts.get(stem, 0) + count
    commonest = sorted(counts, key=lambda stem: (-counts[stem], stem))[:TERMS_SHOWN]
    surfaces = {stem: surface for terms in texts for stem, surface in terms.surfaces.items()}
    return prompts_settle.NewName(name, len(texts), tuple(surfaces.get(stem, stem) for stem in commonest))


# === filing


@dataclass(frozen=True)
class WaveOptions:
    """What a wave sees: the options below a parent as they stood when the wave before it ended."""

    parent: int
    nodes: tuple[Node, ...]
    options: classify.LevelOptions
    offer: Offer


@dataclass(frozen=True)
class CategoryChoice:
    """A choice with its category; what becomes a row of the ledger."""

    placed: NamedChoice
    level: int
    parent: int
    category: int
    offer: Offer


@dataclass(frozen=True)
class SourceMaterial:
    """The source being filed: its name, its helper, and per chunk the text and its terms, in position order."""

    name: str
    helper: str
    texts: Sequence[str]
    terms: Sequence[Terms]


class SourceFiling:
    """One source against one draft of the tree. `profiles` is this ingestion's own fork."""

    def __init__(
        self,
        material: SourceMaterial,
        tree: DraftTree,
        profiles: Profiles,
        *,
        ask: Ask,
        run: Run,
        gate: Gate,
        batch_size: int,
        profile_terms: int,
        lessons: Lessons | None = None,
    ) -> None:
        self.material = material
        self.tree = tree
        self.profiles = profiles
        self.profiles.learn(material.terms)  # before the first wave: which spelling is commonest must not hang on who came first
        self.chosen: list[CategoryChoice] = []
        self._ask = ask
        self._run = run
        self._gate = gate
        self._batch_size = batch_size
        self._profile_terms = profile_terms
        self._lessons = lessons or Lessons()
        self._lock = threading.Lock()  # profiles are read in the pool by several batches at once

    async def walk(self) -> list[CategoryChoice]:
        """All choices, by position, then level."""
        stream = Stream(ROOT, 1)
        stream.feed(range(len(self.material.texts)))
        stream.end()
        await self._follow(stream)
        return sorted(self.chosen, key=lambda chosen: (chosen.placed.position, chosen.level))

    async def _follow(self, stream: Stream) -> None:
        async with asyncio.TaskGroup() as group:
            below = ChildStreams(stream, self.tree.depth, lambda child: group.create_task(self._follow(child)))
            wave = 0
            while choices := await self._wave(stream, wave, below):
                self._apply(choices)
                for choice in choices:
                    below.pass_on(choice.category, choice.placed.position)
                wave += 1
            below.end()

    async def _wave(self, stream: Stream, wave: int, below: ChildStreams) -> list[CategoryChoice]:
        """The choices of one wave in position order; empty when the stream is done."""
        frame = self._frame(stream.parent)

        async def classify_batch(batch: list[int]) -> list[NamedChoice]:
            return await self._asked(frame, batch)

        def pass_on_certain(placed: list[NamedChoice]) -> None:
            """A choice of what exists cannot change any more; a new name waits until the wave's names are settled."""
            for choice in placed:
                node = self.tree.find(frame.parent, choice.name)
                if node is not None:
                    below.pass_on(node.id, choice.position)

        outcomes = await run_wave(stream, wave_width(wave), self._batch_size, classify_batch, pass_on_certain)
        return await self._settled(frame, [placed for outcome in outcomes for placed in outcome])

    async def _asked(self, frame: WaveOptions, batch: list[int]) -> list[NamedChoice]:
        question = await asyncio.to_thread(self._question, frame, batch)  # while other calls are being waited for
        async with self._gate.turn(frame.options.level):
            return await ask_batch(question, self._ask, self._run, source=self.material.name)

    def _frame(self, parent: int) -> WaveOptions:
        nodes, level = self.tree.children(parent), self.tree.level_below(parent)
        options = classify.LevelOptions(
            level=level,
            depth=self.tree.depth,
            path=self.tree.path(parent),
            names=tuple(node.name for node in nodes),
            room=self.tree.room(parent),
            filed=sum(self.profiles.size(node.id) for node in nodes),  # not the parent's own: it grows by another stream
        )
        return WaveOptions(parent, nodes, options, Offer(level, parent, tuple((node.id, node.name) for node in nodes)))

    def _question(self, frame: WaveOptions, batch: list[int]) -> BatchQuestion:
        """The prompt's values, the second opinion and what people taught; computed in the pool."""
        ids = [node.id for node in frame.nodes]
        with self._lock:
            rows = [self.profiles.look(self.material.terms[p]) for p in batch]
            examples = self._lessons.shown(frame.parent, {node.id: node.name for node in frame.nodes}, rows)
            opinions = self.profiles.opinion(frame.parent, ids, [self.material.terms[p] for p in batch])
            evidence = likeliest(
                frame.options.names,
                opinions,
                [self.profiles.size(category) for category in ids],
                lambda index: self.profiles.key_terms(ids[index], self._profile_terms),
            )
        chunks = tuple((number, self.material.texts[p]) for number, p in enumerate(batch, 1))
        nearest = {
            number: tuple(sorted(zip(ids, map(float, row), strict=True), key=lambda pair: -pair[1])[:KEPT_OPINIONS])
            for number, row in enumerate(opinions, 1)
        }
        prompt = classify.Batch(frame.options, self.material.helper, chunks, evidence, tuple(examples.values()))
        offer = replace(frame.offer, taught=tuple(examples))
        return BatchQuestion(prompt, offer, dict(enumerate(batch, 1)), nearest)

    async def _settled(self, frame: WaveOptions, placed: list[NamedChoice]) -> list[CategoryChoice]:
        """Names become categories, in position order; what the limit leaves no room for is asked again."""
        same = await settle(self._new_names(frame, placed), frame.options, self._ask)
        chosen: list[CategoryChoice] = []
        late: list[NamedChoice] = []
        for choice in placed:
            node = self._node(frame.parent, same.get(choice.name, choice.name))
            if node is None:
                late.append(choice)
            else:
                chosen.append(CategoryChoice(choice, frame.options.level, frame.parent, node.id, _shown(frame, choice)))
        if late:
            chosen.extend(await self._at_limit(frame.parent, late))
        return sorted(chosen, key=lambda choice: choice.placed.position)

    def _new_names(self, frame: WaveOptions, placed: list[NamedChoice]) -> dict[str, list[Terms]]:
        """The names that are new in this wave, with the terms of the chunks that asked for them."""
        names: dict[str, list[Terms]] = {}
        for choice in placed:
            if self.tree.find(frame.parent, choice.name) is None:
                names.setdefault(choice.name, []).append(self.material.terms[choice.position])
        return names

    def _node(self, parent: int, name: str) -> Node | None:
        found = self.tree.find(parent, name)
        if found is not None or not self.tree.room(parent):
            return found
        node = self.tree.add(parent, name)
        with self._lock:
            self.profiles.place(node.id, parent)
        self._run.emit(CategoryProposed(node.level, self.tree.path(node.id)))
        return node

    async def _at_limit(self, parent: int, late: list[NamedChoice]) -> list[CategoryChoice]:
        """MEMOIR 2.9: the limit was reached within the wave, so these choose from what exists now."""
        frame = self._frame(parent)
        positions = [choice.position for choice in late]
        batches = [positions[i : i + self._batch_size] for i in range(0, len(positions), self._batch_size)]
        chosen = []
        for placed in await asyncio.gather(*(self._asked(frame, batch) for batch in batches)):
            for choice in placed:
                node = self.tree.find(parent, choice.name)
                assert node is not None  # a closed offer is a Literal of exactly these names
                limited = replace(choice, decided_by="limit")
                chosen.append(CategoryChoice(limited, frame.options.level, parent, node.id, _shown(frame, choice)))
        return chosen

    def _apply(self, choices: list[CategoryChoice]) -> None:
        """Count the choices in the profiles, where the next wave finds them."""
        for choice in choices:
            position = choice.placed.position
            with self._lock:
                self.profiles.add(choice.category, -1 - position, self.material.terms[position])
            if choice.level == self.tree.depth:
                self._run.emit(ChunkPlaced(position, self.tree.path(choice.category), opening(self.material.texts[position])))
        self.chosen.extend(choices)


def _shown(frame: WaveOptions, choice: NamedChoice) -> Offer:
    """What its batch was offered: examples are a batch's own."""
    return replace(frame.offer, taught=choice.taught)
