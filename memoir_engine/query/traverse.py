"""A question walked down the tree: one call per level, over all open paths together.

Invariant: every level leaves one decision per open parent, with all its options and the engine's second opinion of each;
a level with a single option needs no call and is recorded as forced.
Source: MEMOIR 4.1–4.2, 4.4, 8; DESIGN §9.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memoir_engine.core.errors import ChoiceGone, QueryCancelled, SelectionInvalid
from memoir_engine.core.events import LevelSelected, PathDropped
from memoir_engine.core.results import Decision, DroppedPath, Option, PathChoice
from memoir_engine.core.results.documents import Path
from memoir_engine.core.run import Run
from memoir_engine.prompts import select
from memoir_engine.prompts.evidence import likeliest
from memoir_engine.query.record import Progress
from memoir_engine.query.strategies import Widths
from memoir_engine.runtime.model import AskQuestion, QuestionReply
from memoir_engine.store.tree.cache import TreeSnapshot
from memoir_engine.text.profiles import QuestionProfile

# === paths: Paths from root to leaf: made level by level, deduplicated, put into one total order. Pure.
#
# Invariant: the same selections give the same order, whatever order they arrived in.
# Order: the ranks from the root down, each divided by the most that could be given at its level, best first;
# ties fall to the lower path identifier (spec/README 9). Without rankings only the identifier orders.
# Source: MEMOIR 4.2, 9 "Deterministic order"; DESIGN §9.


@dataclass(frozen=True)
class OpenPath:
    """A path still being followed. `shares` are its ranks divided by each level's N."""

    ids: tuple[int, ...] = ()
    names: Path = ()
    ranks: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def tip(self) -> int:
        """The category it has come to; 0 at the root."""
        return self.ids[-1] if self.ids else 0

    def step(self, category_id: int, name: str, rank: int, most: int) -> OpenPath:
        return replace(
            self,
            ids=(*self.ids, category_id),
            names=(*self.names, name),
            ranks=(*self.ranks, rank),
            shares=(*self.shares, rank / most),
        )

    def choice(self) -> PathChoice:
        return PathChoice(self.ids, self.names, self.ranks)


def reading_order(paths: Iterable[OpenPath], *, use_rankings: bool = True) -> list[OpenPath]:
    """Each path once (the best ranked of equals), in reading order."""
    unique: dict[tuple[int, ...], OpenPath] = {}
    for path in sorted(paths, key=_by_rank):
        unique.setdefault(path.ids, path)
    return sorted(unique.values(), key=_by_rank if use_rankings else _by_identifier)


def ends_at_leaf(paths: Sequence[OpenPath], depth: int) -> bool:
    return all(len(path.ids) == depth for path in paths)


def _by_rank(path: OpenPath) -> tuple[tuple[float, ...], tuple[int, ...]]:
    return tuple(-share for share in path.shares), path.ids


def _by_identifier(path: OpenPath) -> tuple[int, ...]:
    return path.ids


# === traverse


ATTEMPTS = 2  # a wrong selection is asked once more, then refused (MEMOIR 4.1.2)

Heard = tuple[QuestionReply, tuple[select.SelectedCategory, ...]]
Record = Callable[[Sequence[Decision]], None]  # keeps them for the result and has them written; they get their ids then


@dataclass(frozen=True)
class Walk:
    """What a traversal needs: the tree as it stood, how wide to go, and how to ask and write down."""

    tree: TreeSnapshot
    opinion: QuestionProfile
    widths: Widths
    helpers: tuple[str, ...]
    ask: AskQuestion
    record: Record
    run: Run
    profile_terms: int  # key terms shown of an option
    per_path: bool = False  # width_scope="path": each open path is asked apart, N of its own
    taken: Mapping[int, Sequence[PresetChoice]] = field(
        default_factory=dict
    )  # levels that are not asked about, because a person chose


@dataclass(frozen=True)
class PresetChoice:
    """A category to be followed without asking. by: repeated (as another run chose it) or reviewer (a person says so)."""

    parent_id: int  # 0 above level 1
    category_id: int
    rank: int
    by: str


@dataclass(frozen=True)
class Level:
    """The options open at one level, parent after parent, with the second opinion of each."""

    number: int
    parents: tuple[OpenPath, ...]
    groups: tuple[select.OptionGroup, ...]
    ids: tuple[tuple[int, ...], ...]  # per group
    opinions: tuple[tuple[float, ...], ...]  # per group
    most: int

    @property
    def offered(self) -> int:
        return sum(map(len, self.ids))


@dataclass(frozen=True)
class LevelSelection:
    picked: tuple[select.SelectedCategory, ...]
    call_id: int | None
    attempts: int
    seen: bool
    heard: tuple[Heard, ...] = ()
    problem: str = ""
    by: Mapping[int, str] = field(default_factory=dict)  # group → who chose, where the model was not asked

    @property
    def latency_ms(self) -> float:
        return sum(answer.latency_ms for answer, _ in self.heard)


def drop_path(names: Path, ids: tuple[int, ...], reason: str, progress: Progress, run: Run) -> None:
    """A path that is not followed any further, or not at all."""
    progress.dropped.append(DroppedPath(names, ids, reason))
    run.emit(PathDropped(names, reason))


async def traverse(question: str, walk: Walk, progress: Progress) -> list[OpenPath]:
    """The paths that came to a leaf."""
    paths = [OpenPath()]
    for number in range(1, walk.tree.depth + 1):
        walk.run.check(QueryCancelled)
        paths = _followed(paths, walk, progress)
        scopes = [[path] for path in paths] if walk.per_path else [paths]
        levels = [await asyncio.to_thread(_level, number, scope, walk) for scope in scopes]
        if number in walk.taken:
            levels = [_widened(level, walk.taken[number]) for level in levels]
            selections = [_taken(level, walk.taken[number]) for level in levels]
        else:
            selections = await _together([_select(question, level, walk) for level in levels])
        for answer, picked in (heard for selection in selections for heard in selection.heard):
            progress.heard("select", answer, picked)
        deeper: list[OpenPath] = []
        for level, selection in zip(levels, selections, strict=True):
            if not selection.problem:
                _keep(level, selection, walk)
                deeper += _next(level, selection, progress, walk.run)
        for wrong in (selection for selection in selections if selection.problem):
            raise SelectionInvalid(level=number, problem=wrong.problem)
        paths = deeper
    return paths


def _followed(paths: Sequence[OpenPath], walk: Walk, progress: Progress) -> list[OpenPath]:
    """Those that lead on; one that ends above the leaves, or to where nothing is filed, is dropped and told."""
    for path in paths:
        for row in walk.tree.empty(path.tip):
            drop_path((*path.names, row.name), (*path.ids, row.id), "empty", progress, walk.run)
        if not walk.tree.children(path.tip):
            drop_path(path.names, path.ids, "gone", progress, walk.run)
    return [path for path in paths if walk.tree.offered(path.tip)]


async def _together(selecting: Sequence[Coroutine[Any, Any, LevelSelection]]) -> list[LevelSelection]:
    """All of them, in order; when one fails the others are called off, so that nothing is asked for a question that has ended."""
    tasks = [asyncio.ensure_future(each) for each in selecting]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _keep(level: Level, selection: LevelSelection, walk: Walk) -> None:
    """Have the level's decisions written down, and tell of it."""
    walk.record(_decisions(level, selection, walk.run.id))
    forced = selection.call_id is None and not selection.by
    walk.run.emit(LevelSelected(level.number, level.offered, len(selection.picked), forced, selection.latency_ms))


def _level(number: int, paths: Sequence[OpenPath], walk: Walk) -> Level:
    open_ = [(path, walk.tree.offered(path.tip)) for path in paths]
    ids = tuple(tuple(node.id for node in nodes) for _, nodes in open_)
    return Level(
        number=number,
        parents=tuple(path for path, _ in open_),
        groups=tuple(select.OptionGroup(path.names, tuple(node.name for node in nodes)) for path, nodes in open_),
        ids=ids,
        opinions=tuple(
            tuple(map(float, found))
            for found in walk.opinion.opinions([(path.tip, group) for (path, _), group in zip(open_, ids, strict=True)])
        ),
        most=walk.widths.at(number, sum(map(len, ids))),
    )


async def _select(question: str, level: Level, walk: Walk) -> LevelSelection:
    """The choice at a level; with `problem` in words when it was wrong twice."""
    if level.offered <= 1:
        picked = tuple(select.SelectedCategory(g, group.names[0], 1) for g, group in enumerate(level.groups))
        return LevelSelection(picked, None, 0, seen=False)
    choice = _choice(question, level, walk)
    heard: list[Heard] = []
    for attempt in range(1, ATTEMPTS + 1):
        answer = await walk.ask(select.build(choice))
        parsed = select.parse(answer.data, choice)
        heard.append((answer, parsed.good))
        if not parsed.problems:
            return LevelSelection(parsed.good, answer.call_id, attempt, bool(choice.evidence), tuple(heard))
        choice = replace(choice, problems=parsed.problems)
    return LevelSelection((), None, ATTEMPTS, bool(choice.evidence), tuple(heard), problem="; ".join(choice.problems))


def _widened(level: Level, taken: Sequence[PresetChoice]) -> Level:
    """As wide as what was taken: a person may follow more categories than the strategy would."""
    return replace(level, most=max(level.most, *(each.rank for each in taken)))


def _taken(level: Level, taken: Sequence[PresetChoice]) -> LevelSelection:
    """Raises ChoiceGone for a category that is no longer offered where it was."""
    places = {(path.tip, category): (g, i) for g, path in enumerate(level.parents) for i, category in enumerate(level.ids[g])}
    tips = {path.tip for path in level.parents}
    for each in taken:
        if each.parent_id in tips and (each.parent_id, each.category_id) not in places:
            raise ChoiceGone(category_id=each.category_id, level=level.number)
    picked, by = [], {}
    for each in sorted(taken, key=lambda each: -each.rank):
        if (each.parent_id, each.category_id) in places:
            g, i = places[each.parent_id, each.category_id]
            picked.append(select.SelectedCategory(g, level.groups[g].names[i], each.rank))
            by[g] = each.by
    rest = dict.fromkeys(range(len(level.parents)), "repeated")
    return LevelSelection(tuple(picked), None, 0, seen=False, by=rest | by)


def _choice(question: str, level: Level, walk: Walk) -> select.SelectRequest:
    flat = [category for group in level.ids for category in group]
    opinions = np.array([[o for group in level.opinions for o in group]])
    evidence = likeliest(
        select.labels(level.groups),
        opinions,
        [walk.tree.profiles.size(category) for category in flat],
        lambda index: walk.tree.profiles.key_terms(flat[index], walk.profile_terms),
    )
    return select.SelectRequest(
        question, level.number, walk.tree.depth, level.most, level.groups, helpers=walk.helpers, evidence=evidence
    )


def _decisions(level: Level, selection: LevelSelection, run_id: str) -> list[Decision]:
    """One per open parent; `id` 0 until the store has given one."""
    ranks = {(picked.group, picked.name): picked.rank for picked in selection.picked}
    decisions = []
    for g, (path, group) in enumerate(zip(level.parents, level.groups, strict=True)):
        options = tuple(
            Option(category, name, round(opinion, 4), ranks.get((g, name)))
            for category, name, opinion in zip(level.ids[g], group.names, level.opinions[g], strict=True)
        )
        chosen = sorted((o for o in options if o.rank is not None), key=lambda o: -(o.rank or 0))
        decisions.append(
            Decision(
                id=0,
                run_id=run_id,
                call_id=selection.call_id,
                chunk_id=None,
                level=level.number,
                parent_id=path.tip or None,
                parent_path=path.names,
                options=options,
                chosen=tuple(o.category_id for o in chosen),
                decided_by=selection.by.get(g, "model" if selection.call_id is not None else "forced"),
                seen=selection.seen,
                attempts=selection.attempts,
            )
        )
    return decisions


def _next(level: Level, selection: LevelSelection, progress: Progress, run: Run) -> list[OpenPath]:
    """The paths one level deeper; a parent without a choice is a dropped path."""
    deeper = []
    for picked in selection.picked:
        names = level.groups[picked.group].names
        category = level.ids[picked.group][names.index(picked.name)]
        deeper.append(level.parents[picked.group].step(category, picked.name, picked.rank, level.most))
    followed = {picked.group for picked in selection.picked}
    for g, path in enumerate(level.parents):
        if g not in followed:
            drop_path(path.names, path.ids, "not chosen", progress, run)
    return deeper
