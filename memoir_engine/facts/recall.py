"""The verb recall: facts of one user that relate to a text, active ones before outdated ones of the same subject.

Invariants: exact cosine over the user's own facts, then SQL by owner, as of now or of a moment. Facts rank by score whatever
their status; an outdated one brings its active successor along, and of one subject active facts come before outdated ones.
If the embedder asks no server, recall is not a run.
Source: TIMEM "Memory Forgetting" (both are returned, marked; decay), "Data Isolation"; API "Facts".
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting, MemoirError, QueryCancelled, QuestionEmpty
from memoir_engine.core.ports import Near, VectorIndex, Vectors
from memoir_engine.core.results.facts import FACT_TYPES, FactView, RecalledFact
from memoir_engine.core.run import Actor, NullLedger, Run, new_id
from memoir_engine.runtime import access
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import facts
from memoir_engine.text.attributes import subject_key

Moment = int | datetime
BROAD = 4
FAR_ENOUGH = 1_000  # facts searched for one that weighs more than nearer ones that have decayed
STATUSES = ("active", "outdated")
DAY_S = 86_400


@dataclass(frozen=True)
class Wanted:
    """Filter of facts; None matches any."""

    status: str | None
    type: str | None
    at: datetime | None

    def matches(self, fact: FactView) -> bool:
        kinds_match = self.status in (None, fact.status) and self.type in (None, fact.type)
        return kinds_match and (self.at is None or was_true(fact, self.at))


@dataclass(frozen=True)
class RecallOptions:
    """Options of recall."""

    text: str
    user_id: str | None = None
    limit: int = 10
    include_outdated: bool = True
    as_of: Moment | None = None
    valid_at: datetime | str | None = None
    _: KW_ONLY
    status: str | None = None
    type: str | None = None


async def recall(engine: Engine, actor: Actor, options: RecallOptions) -> tuple[RecalledFact, ...]:
    """Return the facts nearest to a text. Raises QuestionEmpty, InvalidSetting, and errors of the embedder."""
    return await engine.loop.bridge(_recall(engine, actor, options), verb="recall")


async def _recall(engine: Engine, actor: Actor, options: RecallOptions) -> tuple[RecalledFact, ...]:
    asked, most = validation.text("text", options.text), validation.limit(options.limit)
    if not asked.strip():
        raise QuestionEmpty()
    both, state = validation.flag("include_outdated", options.include_outdated), one_of("status", options.status, STATUSES)
    when, at = moment_of(options.as_of), valid_moment(options.valid_at)
    if not both and state == "outdated":
        advice = "Leave out status, or include_outdated=False."
        raise InvalidSetting(name="status", value=state, problem="outdated facts are not included", advice=advice)
    wanted = Wanted(state if both else "active", one_of("type", options.type, FACT_TYPES), at)
    user_id, owner = options.user_id, access.whose(actor, options.user_id)

    async def work(run: Run) -> tuple[RecalledFact, ...]:
        held, _ = await engine.nearness.of(owner, run)
        if held is None:
            return ()
        vector = (await engine.nearness.vectors([asked], run))[0]
        best = await _best_hits(engine, owner, held, vector, most, wanted, when)
        return _ordered(best, await _active_successors(engine, owner, held, vector, best, wanted, when), most)

    return await _performed(engine, _for(actor, owner, user_id), user_id, work)


def moment_of(as_of: object) -> int | datetime | None:
    if as_of is None:
        return None
    return validation.moment("as_of", as_of)


def valid_moment(valid_at: object) -> datetime | None:
    """Check an aware time, given as such or in ISO 8601."""
    if valid_at is None:
        return None
    found = validation.moment("valid_at", valid_at)
    if isinstance(found, datetime):
        return found
    advice = "Give a datetime with a time zone, e.g. datetime(2026, 1, 1, tzinfo=UTC)."
    raise InvalidSetting(name="valid_at", value=valid_at, problem="not a valid time", advice=advice)


def one_of(name: str, value: object, options: Sequence[str]) -> str | None:
    if value is None or (isinstance(value, str) and value in options):
        return value
    advice = f"Use one of: {', '.join(options)}, or leave it out."
    raise InvalidSetting(name=name, value=value, problem=f"there is no such {name}", advice=advice)


def seq_of(tx: Tx, when: int | datetime | None) -> int | None:
    """Return the seq of a moment; a time within an action means after it. Raises InvalidSetting."""
    return None if when is None else actions.seq_of(tx, when)


def _for(actor: Actor, owner: str, user_id: str | None) -> Actor:
    """Let the run belong to the user it is about: they may see it, and it is erased with them."""
    return actor if owner == access.NOBODY or user_id is None else replace(actor, user=user_id)


async def _performed(
    engine: Engine,
    actor: Actor,
    user_id: str | None,
    work: Callable[[Run], Coroutine[Any, Any, tuple[RecalledFact, ...]]],
) -> tuple[RecalledFact, ...]:
    """Do the work, in a run of its own if the embedder asks a server."""
    if engine.embedder.lexical:
        now = engine.clock.now()
        return await work(Run(new_id(now), "recall", actor, engine.clock, NullLedger()))
    verb: Verb[tuple[RecalledFact, ...] | MemoirError] = Verb(
        name="recall",
        request={"user_id": user_id},
        subject=None,
        work=work,
        failed=lambda run, error: error,
        stopped=QueryCancelled,
        record=lambda outcome: {} if isinstance(outcome, MemoirError) else {"facts": [one.fact.id for one in outcome]},
    )
    outcome = await engine.runner.perform(verb, actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


async def _best_hits(
    engine: Engine, owner: str, held: VectorIndex, vector: Vectors, most: int, wanted: Wanted, when: Moment | None
) -> dict[int, RecalledFact]:
    """Return the best-scored facts by number, best first. What was not searched scores at most the last cosine."""
    reach = most * BROAD
    while True:
        (near,) = await engine.nearness.top(held, [vector], reach)
        found = await engine.db.aread(_looked_up(owner, near, wanted, when))
        hits = {number: _scored(engine, fact, cosine) for number, cosine, fact in found}
        sure = sum(hit.score >= max(0.0, near[-1].cosine) for hit in hits.values()) if near else 0
        if len(near) < reach or sure >= most or (len(hits) >= most and reach >= FAR_ENOUGH):
            best = sorted(hits.items(), key=lambda one: (-one[1].score, one[1].status, one[1].id))
            return dict(best[:most])
        reach *= BROAD


async def _active_successors(
    engine: Engine,
    owner: str,
    held: VectorIndex,
    vector: Vectors,
    best: Mapping[int, RecalledFact],
    wanted: Wanted,
    when: Moment | None,
) -> dict[int, RecalledFact]:
    """Return the active successor of each outdated fact, by number, where the filter allows it."""
    old = [number for number, hit in best.items() if hit.status == "outdated"]
    if not old or wanted.status == "outdated":
        return {}
    after, views = await engine.db.aread(_successors(owner, old, when))
    tips = {number: best.get(number) for number in after.values()}
    far = [one for one, hit in tips.items() if hit is None and one in views and wanted.matches(views[one])]
    for number, cosine in zip(far, await engine.nearness.scores(held, vector, far), strict=True):
        tips[number] = _scored(engine, views[number], cosine)
    return {number: hit for number, tip in after.items() if (hit := tips[tip]) is not None}


def _looked_up(
    owner: str, near: Sequence[Near], wanted: Wanted, when: Moment | None
) -> Callable[[Tx], list[tuple[int, float, FactView]]]:
    def work(tx: Tx) -> list[tuple[int, float, FactView]]:
        views = facts.by_number(tx, owner, (one.key for one in near), seq_of(tx, when))
        return [(one.key, one.cosine, views[one.key]) for one in near if one.key in views and wanted.matches(views[one.key])]

    return work


def _successors(
    owner: str, old: Sequence[int], when: Moment | None
) -> Callable[[Tx], tuple[dict[int, int], dict[int, FactView]]]:
    def work(tx: Tx) -> tuple[dict[int, int], dict[int, FactView]]:
        seq = seq_of(tx, when)
        after = facts.current_successors(tx, owner, old, seq)
        return after, facts.by_number(tx, owner, after.values(), seq)

    return work


def was_true(fact: FactView, at: datetime) -> bool:
    """Return True if the fact held at that time, by the rule of the store (`facts.was_true`)."""
    since, until = fact.valid_from or fact.said_at, fact.valid_to
    if fact.valid_from is None and until is not None and fact.said_at is not None and until <= fact.said_at:
        since = None
    return (since is None or since <= at) and (until is None or until > at) and fact.cause != "merged"


def _ordered(best: Mapping[int, RecalledFact], in_force: Mapping[int, RecalledFact], most: int) -> tuple[RecalledFact, ...]:
    """Order by score, each outdated fact behind its active successor; of one subject the active facts come first."""
    distinct: dict[str, RecalledFact] = {}
    for number, hit in best.items():
        for recalled in (in_force.get(number, hit), hit):
            distinct.setdefault(recalled.id, recalled)
    hits = list(distinct.values())[:most]
    of_subject: dict[str, list[RecalledFact]] = {}
    for hit in sorted(hits, key=lambda one: one.status):
        of_subject.setdefault(subject_key(hit.fact.subject), []).append(hit)
    turns = {key: iter(some) for key, some in of_subject.items()}
    return tuple(next(turns[subject_key(hit.fact.subject)]) for hit in hits)


def _scored(engine: Engine, fact: FactView, cosine: float) -> RecalledFact:
    similarity = max(0.0, cosine)
    return RecalledFact(fact, similarity * _decayed(engine, fact), similarity)


def _decayed(engine: Engine, fact: FactView) -> float:
    """Return the weight of an outdated fact: half as much after each `fact_half_life_days`."""
    half = engine.resolved.config.fact_half_life_days
    if half is None or fact.retired_at is None:
        return 1.0
    age = max(0.0, (engine.clock.now() - fact.retired_at).total_seconds() / DAY_S)
    return float(0.5 ** (age / half))
