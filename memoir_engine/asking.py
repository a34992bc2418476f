"""The verb query: a question in, a QueryResult out.

Invariant: an error keeps what was considered and dropped (MEMOIR 9.B2.4); the result can be read again from its run.
Source: MEMOIR 4, 6.3–6.5, 8, 9; API "Documents and the tree".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memoir_engine import given
from memoir_engine.capped import Asking
from memoir_engine.errors import DatabaseError, InvalidSetting, MemoirError, QueryCancelled
from memoir_engine.results import Decision, QueryResult
from memoir_engine.run import Actor, Listener, Run
from memoir_engine.running import Verb
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.query.pipeline import Asked
    from memoir_engine.query.progress import Progress
    from memoir_engine.query.traverse import Taken
    from memoir_engine.store.plan import NewChoice
    from memoir_engine.store.types import Tx

LEAST = {"n": 1, "n2": 0, "per_path_limit": 1, "page_size": 1, "max_token_budget": 1, "safety_net": 0}
PerPath = int | Literal["auto"] | None
Moment = int | datetime | str  # a seq, or an aware time, in ISO 8601 where it is a text


@dataclass(frozen=True)
class QueryOptions:
    """What a caller may choose; None takes the configuration's or the strategy's default."""

    strategy: str = "wide_branch"
    n: int | None = None
    n2: int | None = None
    prompt_limiting_strategy: str | None = None
    use_rankings: bool | None = None
    max_token_budget: int | None = None
    per_path_limit: PerPath = None
    page_size: int | None = None
    after: str | None = None
    sources: Sequence[int] | None = None
    safety_net: int = 0
    as_of: Moment | None = None

    def checked(self) -> QueryOptions:
        """Each of its type and range, whatever the configuration. Raises InvalidSetting."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and (name, value) != ("per_path_limit", "auto"):
                given.whole(name, value, least=least)
        if self.use_rankings is not None:
            given.flag("use_rankings", self.use_rankings)
        if self.after is not None:
            given.text("after", self.after)
        sources = None if self.sources is None else given.sources(self.sources)
        return replace(self, sources=sources, as_of=None if self.as_of is None else given.moment("as_of", self.as_of))

    def request(self, question: str) -> dict[str, Any]:
        chosen = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items() if v is not None}
        when = {"as_of": self.as_of.isoformat()} if isinstance(self.as_of, datetime) else {}
        return {"question": question, **chosen, **when}


def query_verb(
    engine: Engine,
    actor: Actor,
    question: str,
    options: QueryOptions,
    listeners: tuple[Listener, ...] = (),
    *,
    taken: Mapping[int, Sequence[Taken]] | None = None,
    branch: dict[str, Any] | None = None,
    scope: object = None,
) -> Verb[QueryResult]:
    """Raises ConfigurationError for options that cannot be; everything later becomes `status="error"`.

    taken: what is followed without asking, by level; branch: of which run and decision, kept with the request.
    scope: the width_scope of the run it branches from; None takes the configuration's. Either is kept with the request.
    """
    from memoir_engine.query.progress import Progress
    from memoir_engine.query.record import to_record

    question, options = given.text("question", question), options.checked()
    asked = replace(_asked(engine, question, options), taken=taken or {})
    if scope == "path" or scope == "level":
        asked = replace(asked, width_scope=scope)
    progress = Progress("", question, warnings=list(_without_effect(engine, options)))
    began = engine.clock.tick_ms()

    async def work(run: Run) -> QueryResult:
        progress.run_id = run.id
        await _query(engine, asked, options.as_of, run, progress)
        return progress.result(wall_ms=run.clock.tick_ms() - began)

    def failed(run: Run, error: MemoirError) -> QueryResult:
        progress.run_id = run.id
        return progress.result(wall_ms=run.clock.tick_ms() - began, error=error)

    return Verb(
        name="query",
        request=options.request(question) | {"width_scope": asked.width_scope} | ({"what_if": branch} if branch else {}),
        subject=None,
        work=work,
        failed=failed,
        stopped=QueryCancelled,
        record=to_record,
        listeners=listeners,
        unopened=lambda error: progress.result(wall_ms=engine.clock.tick_ms() - began, error=error),
    )


async def _query(engine: Engine, asked: Asked, as_of: Moment | None, run: Run, progress: Progress) -> None:
    from memoir_engine.query.pipeline import Means, query
    from memoir_engine.store import decisions, runs

    def record(made: Sequence[Decision]) -> None:
        """A level's decisions go with the next call: transactions of their own would be as many as those of the calls."""
        choices, first = [_choice(decision) for decision in made], len(progress.decisions)
        progress.decisions.extend(made)

        def write(tx: Tx, again: bool) -> None:
            for at, number in enumerate(decisions.add(tx, run.id, choices, again=again), first):
                progress.decisions[at] = replace(progress.decisions[at], id=number)

        engine.runner.carry(run.id, write)

    async def written() -> None:
        if any(not decision.id for decision in progress.decisions):
            await engine.runner.flush(run.id)

    at_seq = None if as_of is None else await asyncio.to_thread(_seq, engine, as_of)
    words, tree = await asyncio.to_thread(lambda: (engine.keeper.words(at_seq), engine.cache.at(at_seq)))
    engine.runner.carry(run.id, lambda tx, _: runs.note_tree_seq(tx, run.id, tree.seq))
    progress.as_of_seq = at_seq
    ask = Asking(engine, run, QueryCancelled())
    means = Means(engine.db, tree, words, engine.resolved.config, ask, record, written, engine.tokens.count)
    try:
        await query(replace(asked, at_seq=at_seq), means, run, progress)
    finally:
        progress.warnings.extend(ask.warnings)
        with suppress(DatabaseError):  # of a question that failed before its answer was asked for; its end will say so
            await written()


def _seq(engine: Engine, as_of: Moment) -> int:
    from memoir_engine.store import moments

    when = given.moment("as_of", as_of)
    return engine.db.read(lambda tx: moments.seq_of(tx, when))


def _choice(decision: Decision) -> NewChoice:
    from memoir_engine.store.plan import NewChoice

    ranks = {option.category_id: option.rank or 0 for option in decision.options}
    return NewChoice(
        level=decision.level,
        parent_id=decision.parent_id or 0,
        parent_path=decision.parent_path,
        options=tuple((option.category_id, option.name) for option in decision.options),
        chosen=tuple((category, ranks[category]) for category in decision.chosen),
        opinions=tuple((option.category_id, option.opinion or 0.0) for option in decision.options),
        call_id=decision.call_id,
        seen=decision.seen,
        decided_by=decision.decided_by,
        attempts=decision.attempts,
        note=decision.note,
    )


def _without_effect(engine: Engine, options: QueryOptions) -> tuple[str, ...]:
    from memoir_engine.query.strategies import without_effect

    return without_effect(options.strategy, options.n, options.n2, max_width=engine.resolved.config.max_width)


def _asked(engine: Engine, question: str, options: QueryOptions) -> Asked:
    from memoir_engine.query.pipeline import Asked
    from memoir_engine.query.strategies import widths
    from memoir_engine.settings import check_budget

    config = engine.resolved.config
    limiting = options.prompt_limiting_strategy
    limiting = config.prompt_limiting_strategy if limiting is None else limiting
    if limiting not in ("PRUNE", "SUMMARIZE"):
        raise InvalidSetting(
            name="prompt_limiting_strategy",
            value=limiting,
            problem="there is no such strategy",
            advice="Use 'PRUNE' or 'SUMMARIZE'.",
        )
    budget = options.max_token_budget or config.max_token_budget
    check_budget(config, budget, limiting)
    return Asked(
        question=question,
        widths=widths(options.strategy, options.n, options.n2, max_width=config.max_width),
        token_budget=budget,
        use_rankings=config.use_rankings if options.use_rankings is None else options.use_rankings,
        prompt_limiting_strategy="SUMMARIZE" if limiting == "SUMMARIZE" else "PRUNE",
        per_path_limit=options.per_path_limit,
        page_size=options.page_size,
        after=options.after,
        sources=None if options.sources is None else tuple(options.sources),
        width_scope=config.width_scope,
        safety_net=options.safety_net,
    )
