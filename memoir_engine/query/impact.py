"""The verb impact: questions asked of the memory and of a branch with changes of the tree, side by side.

Invariant: the memory does not see the branch, and nothing is left behind but, where a model was paid, the run with its calls.
A prompt that both sides have in common is asked once, so what stays the same cannot flip by a model's whim, and costs
nothing twice. Where the memory moves on meanwhile that is said and, where asking is free, asked again.
With the offline model there is not even a run: the result is held until it is kept with an action.
Source: issue 17 ("What would change?"); docs/decisions/0101-a-branch-is-an-overlay.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

from memoir_engine.core import validation
from memoir_engine.core.errors import MemoirError, QueryCancelled
from memoir_engine.core.events import QuestionCompared, Warned
from memoir_engine.core.results import (
    Estimate,
    Impact,
    ImpactAnswer,
    ImpactCitation,
    ImpactItem,
    QueryResult,
    RunView,
)
from memoir_engine.core.run import Actor, Listener, LooseLedger, Run
from memoir_engine.models.client import ModelReply
from memoir_engine.models.prices import NO_PRICE, cost
from memoir_engine.prompts import Prompt
from memoir_engine.query.filings import BranchFilings
from memoir_engine.query.pipeline import Filings, QueryOptions, Question, StoredFilings
from memoir_engine.query.record import Progress
from memoir_engine.query.verb import to_request
from memoir_engine.runtime.access import needs_auditor, runs_of
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.impacts import NAME, HeldImpacts, found, signed, to_record
from memoir_engine.runtime.model import Ask, RunModel
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.verbs import verb
from memoir_engine.store.chain import actions, state
from memoir_engine.store.db import ids
from memoir_engine.store.db.statements import Tx
from memoir_engine.store.ledger import runs
from memoir_engine.store.tree import branch as branches
from memoir_engine.store.tree import chunks
from memoir_engine.store.tree.branch import TreeBranch, TreeChange
from memoir_engine.store.tree.cache import TreeSnapshot
from memoir_engine.text.terms import ScoreMap

USUAL, MOST = 20, 100  # questions
LOOKED_THROUGH = 500  # runs, for those that used what is touched
TIMES = 3  # that a branch is opened anew because the memory moved on
SELECT_TOKENS, REPLY_TOKENS = 1_000, 200  # of a prompt that selects categories; of a reply
AT_ONCE = 4  # questions, where a model is waited for
REPEATED = {each.name for each in fields(QueryOptions)} - {"after", "page_size", "as_of"}


@dataclass(frozen=True)
class ImpactOptions:
    """Which questions are asked against which changes of the tree.

    changes: in their order, each with `verb` (refile, withdraw, or one of review.preview) and its arguments. questions: in words;
    of: the run of an earlier impact, whose questions are asked again; neither: the last ones that were asked. touched: of the
    last ones only those that used what is touched. limit: questions at most.
    """

    changes: Sequence[Mapping[str, Any]]
    questions: Sequence[str] | None = None
    of: str | None = None
    touched: bool = False
    limit: int = USUAL


class Asked(NamedTuple):
    """A question with its options, and the run that asked it earlier."""

    options: QueryOptions
    run_id: str | None = None


@dataclass
class Opened:
    """The memory and the branch, opened at one moment."""

    branch: TreeBranch
    memory: Side
    other: Side


class WordIndex(Protocol):
    """Finds chunks by words: (keys, scores) of a text."""

    def scores(self, query: str) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class Side:
    """One of the two trees with what is filed in it, and how it is found by words."""

    tree: TreeSnapshot
    filings: Filings
    words: WordIndex


@dataclass
class SharedAsk:
    """Asks each prompt once, whichever side has it."""

    ask: Ask
    replies: dict[tuple[str, str, str], asyncio.Future[ModelReply]] = field(default_factory=dict)

    def __call__(self, prompt: Prompt, *, reuse: bool = True) -> Awaitable[ModelReply]:
        if not reuse:
            return self.ask(prompt, reuse=False)
        key = prompt.purpose, prompt.instructions, prompt.text
        if key not in self.replies:
            self.replies[key] = asyncio.ensure_future(self.ask(prompt))
        return asyncio.shield(self.replies[key])


@verb(NAME, ImpactOptions)
def impact_verb(
    engine: Engine, actor: Actor, options: ImpactOptions, listeners: tuple[Listener, ...] = ()
) -> Verb[Impact | MemoirError]:
    """Raises NotAllowed, InvalidSetting, and what the first impossible change would raise."""
    needs_auditor(actor, "see what a change would change")
    given, changes = checked_changes(options.changes)
    engine.db.read(lambda tx: branches.branch_of(tx, changes, limits=engine.resolved.config.limit))  # refused before it is a run
    asked = _asked(engine, actor, options, changes)
    is_free = engine.client.is_offline

    async def work(run: Run) -> Impact:
        if is_free:
            run = replace(run, ledger=LooseLedger(), listeners=list(listeners))
        erasures = await engine.db.aread(ids.erasures)
        opened, items, warnings = await _compared(engine, run, changes, asked)
        has_moved = await engine.db.aread(lambda tx: moved_on(tx, opened.branch.seq))
        impact = signed(
            Impact(
                run_id=run.id,
                changes=tuple(given),
                items=items,
                seq=opened.branch.seq,
                at=run.clock.now(),
                by=run.actor.name,
                moved_on=has_moved,
                calls=run.ledger.sent,
                tokens=getattr(run.ledger, "tokens", 0),
                cost=run.ledger.spent,
                warnings=warnings,
            )
        )
        engine.cache_of(HeldImpacts).keep(actor.user, erasures, impact)
        return impact

    return Verb(
        name=NAME,
        request={"changes": given, "questions": [{"run": each.run_id, **each.options.request()} for each in asked]},
        subject=None,
        work=work,
        stopped=QueryCancelled,
        record=lambda impact: to_record(impact) if isinstance(impact, Impact) else {},
        listeners=listeners,
        recorded=not is_free,
    )


def estimate_impact(engine: Engine, actor: Actor, options: ImpactOptions) -> Estimate:
    """Return the most that asking would take, from what these questions took before; nobody is asked.

    Raises what `impact_verb` raises. cost: None where the price of the model is not known.
    """
    needs_auditor(actor, "see what a change would change")
    _, changes = checked_changes(options.changes)
    asked = _asked(engine, actor, options, changes)
    model, config = engine.client, engine.resolved.config
    calls = 2 * len(asked) * (config.hierarchy_depth + 1)
    prompt = 2 * sum(to_request(engine, each.options).token_budget + config.hierarchy_depth * SELECT_TOKENS for each in asked)
    reply = calls * REPLY_TOKENS
    each = cost(model.choice, prompt // calls, reply // calls)
    note = NO_PRICE.format(model=model.name) if each is None else ""
    return Estimate(len(asked), calls, prompt, reply, None if each is None else each * calls, model.name, note)


def checked_changes(given: object) -> tuple[list[dict[str, Any]], list[TreeChange]]:
    """Return the changes as JSON values, and as the store plans them. Raises InvalidSetting."""
    rows = validation.items("changes", given, "it must be a list of changes", branches.ADVICE)
    if not rows or not all(isinstance(row, Mapping) and isinstance(row.get("verb"), str) for row in rows):
        validation.refuse("changes", given, "each must have a verb", branches.ADVICE)
    plain = [{name: list(v) if isinstance(v, list | tuple | set | frozenset) else v for name, v in row.items()} for row in rows]
    return plain, [branches.planned(row) for row in plain]


def _asked(engine: Engine, actor: Actor, options: ImpactOptions, changes: Sequence[TreeChange]) -> list[Asked]:
    """Return the questions to ask. Raises InvalidSetting where there are none."""
    most = min(MOST, validation.whole("limit", options.limit, least=1))
    if options.questions is not None:
        texts = validation.items("questions", options.questions, "it must be a list of questions", "Give a list, even of one.")
        asked = [Asked(QueryOptions(validation.query("questions", text))) for text in texts]
    elif options.of is not None:
        earlier = found(engine, actor, options.of)
        asked = engine.db.read(lambda tx: [_again(tx, item) for item in earlier.items])
    else:
        asked = engine.db.read(lambda tx: _last(tx, actor, options, changes, engine))
    first: dict[str, Asked] = {}
    for each in asked:
        first.setdefault(str(sorted(each.options.request().items())), each)
    unique = list(first.values())[:most]
    if not unique:
        problem = "no earlier question used what is touched" if options.touched else "nothing has been asked yet"
        validation.refuse("questions", options.questions, problem, "Give questions in words: questions=['…'].")
    for each in unique:
        to_request(engine, each.options.checked())
    return unique


def _again(tx: Tx, item: ImpactItem) -> Asked:
    """Return a question of an earlier impact, with the options of the run that it came from."""
    if item.run_id is None:
        return Asked(QueryOptions(item.question))
    return Asked(_options(runs.get(tx, item.run_id).request), item.run_id)


def _options(request: Mapping[str, Any]) -> QueryOptions:
    return QueryOptions(**{name: value for name, value in request.items() if name in REPEATED})


def _last(tx: Tx, actor: Actor, options: ImpactOptions, changes: Sequence[TreeChange], engine: Engine) -> list[Asked]:
    """Return the last questions, newest first: about the present, and answered."""
    recent = runs.recent(
        tx, limit=LOOKED_THROUGH if options.touched else 3 * options.limit, verb="query", user=runs_of(engine, actor)
    )
    usable = [run for run in recent if run.status == "done" and not run.request.get("as_of") and "what_if" not in run.request]
    if options.touched:
        branch = branches.branch_of(tx, changes, limits=engine.resolved.config.limit)
        usable = [run for run in usable if _uses(run, branch)]
    return [Asked(_options(run.request), run.id) for run in usable]


def _uses(run: RunView, branch: TreeBranch) -> bool:
    read = {row[0] for row in run.result.get("chunks", ())}
    walked = {category for path in run.result.get("paths", ()) for category in path[0]}
    return bool(read & branch.touched_chunks or walked & branch.touched_categories)


async def _compared(
    engine: Engine, run: Run, changes: Sequence[TreeChange], asked: Sequence[Asked]
) -> tuple[Opened, tuple[ImpactItem, ...], tuple[str, ...]]:
    """Ask all questions on both sides; again where the memory moved on meanwhile and asking is free."""
    model = RunModel(engine, run, QueryCancelled, longest=max(to_request(engine, each.options).token_budget for each in asked))
    for turn in range(1, TIMES + 1):
        opened = await asyncio.to_thread(_open, engine, changes)
        items = await _items(engine, run, opened, asked, SharedAsk(model))
        seq = opened.branch.seq
        if turn == TIMES or not engine.client.is_offline or not await engine.db.aread(partial(moved_on, seq=seq)):
            break
        run.emit(Warned("memory", "The memory changed while the questions were asked: they are asked again."))
    return opened, items, tuple(model.warnings)


def _open(engine: Engine, changes: Sequence[TreeChange]) -> Opened:
    """Read the memory and make the branch, at one seq. Raises what the first impossible change would raise."""
    limits = engine.resolved.config.limit
    while True:
        branch = engine.db.read(lambda tx: branches.branch_of(tx, changes, limits=limits))
        base = engine.cache.current()
        if base.seq == branch.seq:
            break
    other = engine.db.read(lambda tx: branches.snapshot(tx, base, branch))
    words = engine.refresher.words(None)
    return Opened(
        branch, Side(base, StoredFilings(None), words), Side(other, BranchFilings(branch), _words(engine, words, branch))
    )


def _words(engine: Engine, words: WordIndex, branch: TreeBranch) -> WordIndex:
    """Return the index of a branch: built anew where other chunks stand in the tree, since the rest then weighs differently."""
    if branch.leaf_of.keys() == branch.before.keys():
        return words
    return engine.lexical.of(branch.leaf_of.keys(), lambda missing: engine.db.read(lambda tx: chunks.texts(tx, missing)))


async def _items(engine: Engine, run: Run, opened: Opened, asked: Sequence[Asked], ask: SharedAsk) -> tuple[ImpactItem, ...]:
    """Return the answers to each question on both sides, in the order of the questions."""
    room = asyncio.Semaphore(1 if engine.client.is_offline else AT_ONCE)

    async def compare(n: int, each: Asked) -> ImpactItem:
        async with room:
            run.check(QueryCancelled)
            before = await _answered(engine, run, opened.memory, each, ask)
            after = await _answered(engine, run, opened.other, each, ask)
            item = ImpactItem(each.options.question, each.run_id, _answer(before), _answer(after))
            run.emit(QuestionCompared(n, len(asked), item.answer_flips, item.citations_flip, item.paths_flip))
            return item

    tasks = [asyncio.ensure_future(compare(n, each)) for n, each in enumerate(asked, start=1)]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _answered(engine: Engine, run: Run, side: Side, asked: Asked, ask: SharedAsk) -> QueryResult:
    """Ask one question on one side; what goes wrong is its result."""
    progress = Progress(run.id, asked.options.question)
    quiet = Run(run.id, run.verb, run.actor, run.clock, run.ledger, [], run.cancellation, run.owner)

    async def written() -> None:
        """Decisions of a comparison are not stored."""

    question = Question(
        request=to_request(engine, asked.options),
        db=engine.db,
        tree=side.tree,
        filings=side.filings,
        nearness=ScoreMap(*await asyncio.to_thread(side.words.scores, asked.options.question)),
        config=engine.resolved.config,
        ask=ask,
        record=progress.decisions.extend,
        written=written,
        count=engine.tokens.count,
        run=quiet,
        progress=progress,
    )
    try:
        await question.answer()
    except QueryCancelled:
        raise
    except MemoirError as error:
        return progress.result(wall_ms=0.0, error=error)
    return progress.result(wall_ms=0.0)


def _answer(result: QueryResult) -> ImpactAnswer:
    names = {chunk.id: chunk.source_name for chunk in (*result.chunks, *result.net)}
    cited = [used for used in result.used_chunks if used.cited]
    return ImpactAnswer(
        answer=result.answer,
        answered=result.answered,
        paths=tuple(path.names for path in result.paths),
        path_ids=tuple(path.category_ids for path in result.paths),
        citations=tuple(
            ImpactCitation(used.number, used.chunk_id, used.source_id, names.get(used.chunk_id, ""), used.category_path)
            for used in cited
        ),
        error=None if result.error is None else result.error.message,
    )


def moved_on(tx: Tx, seq: int) -> bool:
    return state.changed_between(tx, seq, actions.seq(tx))
