"""Every chunk of one source walked down to its leaf, level by level.

Invariant: a wave's new names are settled and its choices applied in position order before the next wave of its stream is asked.
No parent ever gets more children than its limit: what came too late is asked again, from the existing names only.
Source: MEMOIR 2.5–2.11; DESIGN §8.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memoir_engine.events import CategoryProposed, ChunkPlaced
from memoir_engine.ingest.batch import KEPT_OPINIONS, Ask, Placed, Question, ask_batch
from memoir_engine.ingest.draft import ROOT, DraftTree, Node
from memoir_engine.ingest.gate import Gate
from memoir_engine.ingest.lessons import Lessons
from memoir_engine.ingest.settling import settle
from memoir_engine.ingest.waves import Below, Stream, run_wave, wave_width
from memoir_engine.prompts import classify
from memoir_engine.prompts.evidence import likeliest
from memoir_engine.run import Run
from memoir_engine.store.plan import Offer
from memoir_engine.text.opening import opening
from memoir_engine.text.profiles import Profiles
from memoir_engine.text.terms import Terms


@dataclass(frozen=True)
class Frame:
    """What a wave sees: the options below a parent as they stood when the wave before it ended."""

    parent: int
    nodes: tuple[Node, ...]
    options: classify.Options
    offer: Offer


@dataclass(frozen=True)
class Chosen:
    """A choice with its category; what becomes a row of the ledger."""

    placed: Placed
    level: int
    parent: int
    category: int
    offer: Offer


@dataclass(frozen=True)
class Material:
    """The source being filed: its name, its helper, and per chunk the text and its terms, in position order."""

    name: str
    helper: str
    texts: Sequence[str]
    terms: Sequence[Terms]


class Filing:
    """One source against one draft of the tree. `profiles` is this ingestion's own fork."""

    def __init__(
        self,
        material: Material,
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
        self.chosen: list[Chosen] = []
        self._ask = ask
        self._run = run
        self._gate = gate
        self._batch_size = batch_size
        self._profile_terms = profile_terms
        self._lessons = lessons or Lessons()
        self._lock = threading.Lock()  # profiles are read in the pool by several batches at once

    async def walk(self) -> list[Chosen]:
        """All choices, by position, then level."""
        stream = Stream(ROOT, 1)
        stream.feed(range(len(self.material.texts)))
        stream.end()
        await self._follow(stream)
        return sorted(self.chosen, key=lambda chosen: (chosen.placed.position, chosen.level))

    async def _follow(self, stream: Stream) -> None:
        async with asyncio.TaskGroup() as group:
            below = Below(stream, self.tree.depth, lambda child: group.create_task(self._follow(child)))
            wave = 0
            while choices := await self._wave(stream, wave, below):
                self._apply(choices)
                for choice in choices:
                    below.pass_on(choice.category, choice.placed.position)
                wave += 1
            below.end()

    async def _wave(self, stream: Stream, wave: int, below: Below) -> list[Chosen]:
        """The choices of one wave in position order; empty when the stream is done."""
        frame = self._frame(stream.parent)

        async def classify_batch(batch: list[int]) -> list[Placed]:
            return await self._asked(frame, batch)

        def pass_on_certain(placed: list[Placed]) -> None:
            """A choice of what exists cannot change any more; a new name waits until the wave's names are settled."""
            for choice in placed:
                node = self.tree.find(frame.parent, choice.name)
                if node is not None:
                    below.pass_on(node.id, choice.position)

        outcomes = await run_wave(stream, wave_width(wave), self._batch_size, classify_batch, pass_on_certain)
        return await self._settled(frame, [placed for outcome in outcomes for placed in outcome])

    async def _asked(self, frame: Frame, batch: list[int]) -> list[Placed]:
        question = await asyncio.to_thread(self._question, frame, batch)  # while other calls are being waited for
        async with self._gate.turn(frame.options.level):
            return await ask_batch(question, self._ask, self._run, source=self.material.name)

    def _frame(self, parent: int) -> Frame:
        nodes, level = self.tree.children(parent), self.tree.level_below(parent)
        options = classify.Options(
            level=level,
            depth=self.tree.depth,
            path=self.tree.path(parent),
            names=tuple(node.name for node in nodes),
            room=self.tree.room(parent),
            filed=sum(self.profiles.size(node.id) for node in nodes),  # not the parent's own: it grows by another stream
        )
        return Frame(parent, nodes, options, Offer(level, parent, tuple((node.id, node.name) for node in nodes)))

    def _question(self, frame: Frame, batch: list[int]) -> Question:
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
        return Question(prompt, offer, dict(enumerate(batch, 1)), nearest)

    async def _settled(self, frame: Frame, placed: list[Placed]) -> list[Chosen]:
        """Names become categories, in position order; what the limit leaves no room for is asked again."""
        same = await settle(self._new_names(frame, placed), frame.options, self._ask)
        chosen: list[Chosen] = []
        late: list[Placed] = []
        for choice in placed:
            node = self._node(frame.parent, same.get(choice.name, choice.name))
            if node is None:
                late.append(choice)
            else:
                chosen.append(Chosen(choice, frame.options.level, frame.parent, node.id, _shown(frame, choice)))
        if late:
            chosen.extend(await self._at_limit(frame.parent, late))
        return sorted(chosen, key=lambda choice: choice.placed.position)

    def _new_names(self, frame: Frame, placed: list[Placed]) -> dict[str, list[Terms]]:
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

    async def _at_limit(self, parent: int, late: list[Placed]) -> list[Chosen]:
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
                chosen.append(Chosen(limited, frame.options.level, parent, node.id, _shown(frame, choice)))
        return chosen

    def _apply(self, choices: list[Chosen]) -> None:
        """Count the choices in the profiles, where the next wave finds them."""
        for choice in choices:
            position = choice.placed.position
            with self._lock:
                self.profiles.add(choice.category, -1 - position, self.material.terms[position])
            if choice.level == self.tree.depth:
                self._run.emit(ChunkPlaced(position, self.tree.path(choice.category), opening(self.material.texts[position])))
        self.chosen.extend(choices)


def _shown(frame: Frame, choice: Placed) -> Offer:
    """What its batch was offered: examples are a batch's own."""
    return replace(frame.offer, taught=choice.taught)
