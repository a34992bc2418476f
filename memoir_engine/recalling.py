"""The verb recall: facts of one user that have to do with a text, active ones before outdated ones of the same subject.

Invariant: exact cosine over the user's own facts; what is near is looked up in SQL, by the owner, as it stands or stood. Where
the embedder asks nobody it is no run.
Source: TIMEM "Memory Forgetting" (both are given, marked; decay), "Data Isolation"; API "Facts".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from memoir_engine import given, owning
from memoir_engine.errors import InvalidSetting, MemoirError, QueryCancelled, QuestionEmpty
from memoir_engine.results.facts import FactView, RecalledFact
from memoir_engine.run import Actor, Run, new_id
from memoir_engine.running import Verb
from memoir_engine.searching import Silent
from memoir_engine.text.alike import subject_key
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.nearest import Near
    from memoir_engine.store.types import Tx

Moment = int | datetime
BROAD = 4
FAR_ENOUGH = 1_000  # facts looked at for one that is active beside those that are not
DAY_S = 86_400


async def recall(
    engine: Engine,
    actor: Actor,
    text: str,
    *,
    user_id: str | None,
    limit: int,
    include_outdated: bool,
    as_of: Moment | None,
    valid_at: datetime | str | None,
) -> tuple[RecalledFact, ...]:
    """Raises QuestionEmpty, InvalidSetting, and what keeps the embedder away."""
    asked, most = given.text("text", text), given.limit(limit)
    if not asked.strip():
        raise QuestionEmpty()
    both = given.flag("include_outdated", include_outdated)
    when, at = moment_of(as_of), valid_moment(valid_at)
    owner = owning.whose(actor, user_id)

    async def work(run: Run) -> tuple[RecalledFact, ...]:
        held, _ = await engine.nearness.of(owner, run)
        if held is None:
            return ()
        vector = (await engine.nearness.vectors([asked], run))[0]
        reach = most * BROAD
        while True:
            (near,) = await engine.nearness.top(held, [vector], reach)
            found = await engine.db.aread(_looked_up(owner, near, when))
            kept = [one for one in found if _wanted(one[1], both, at)]
            if len(near) < reach or (len(kept) >= most and (reach >= FAR_ENOUGH or not _lonely(kept))):
                return _ranked(engine, kept)[:most]
            reach *= BROAD

    return await _performed(engine, _for(actor, owner, user_id), owner, user_id, work)


def moment_of(as_of: object) -> Moment | None:
    if as_of is None:
        return None
    found = given.moment("as_of", as_of)
    return found if isinstance(found, datetime) else given.cursor("as_of", found)


def valid_moment(valid_at: object) -> datetime | None:
    """An aware time, or its text in ISO 8601."""
    if valid_at is None:
        return None
    found = given.moment("valid_at", valid_at)
    if isinstance(found, datetime):
        return found
    advice = "Give a datetime with a time zone, e.g. datetime(2026, 1, 1, tzinfo=UTC)."
    raise InvalidSetting(name="valid_at", value=valid_at, problem="it is no time", advice=advice)


def seq_of(tx: Tx, when: Moment | None) -> int | None:
    """The seq that a moment means; a time within an action means after it."""
    from memoir_engine.store import moments

    return moments.seq_of(tx, when) if isinstance(when, datetime) else when


def _for(actor: Actor, owner: str, user_id: str | None) -> Actor:
    """What was asked about somebody is theirs to see, and goes when they are forgotten: the run is of the user it is about."""
    return actor if owner == owning.NOBODY or user_id is None else replace(actor, user=user_id)


async def _performed(
    engine: Engine, actor: Actor, owner: str, user_id: str | None, work: Callable[[Run], Awaitable[tuple[RecalledFact, ...]]]
) -> tuple[RecalledFact, ...]:
    """What asks a server is a run of its user."""
    if engine.embedder.lexical:
        now = engine.clock.now()
        return await work(Run(new_id(now), "recall", actor, engine.clock, Silent()))
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


def _looked_up(owner: str, near: Sequence[Near], when: Moment | None) -> Callable[[Tx], list[tuple[float, FactView]]]:
    return lambda tx: _found(tx, owner, near, when)


def _found(tx: Tx, owner: str, near: Sequence[Near], when: Moment | None) -> list[tuple[float, FactView]]:
    from memoir_engine.store import facts

    views = facts.by_number(tx, owner, (one.key for one in near), seq_of(tx, when))
    return [(max(0.0, one.cosine), views[one.key]) for one in near if one.key in views]


def _wanted(fact: FactView, both: bool, at: datetime | None) -> bool:
    return (both or fact.status == "active") and (at is None or was_true(fact, at))


def was_true(fact: FactView, at: datetime) -> bool:
    """As the store says it (`facts.was_true`)."""
    since = fact.valid_from or fact.said_at
    return (since is None or since <= at) and (fact.valid_to is None or fact.valid_to > at) and fact.cause != "merged"


def _lonely(kept: Iterable[tuple[float, FactView]]) -> bool:
    """Whether something outdated was found, and nothing active of its subject: that may stand further away."""
    subjects: dict[bool, set[str]] = {True: set(), False: set()}
    for _, fact in kept:
        subjects[fact.status == "active"].add(subject_key(fact.subject))
    return bool(subjects[False] - subjects[True])


def _ranked(engine: Engine, found: Iterable[tuple[float, FactView]]) -> tuple[RecalledFact, ...]:
    """By score; within one subject what is active takes the places before what is outdated."""
    hits = [RecalledFact(fact, similarity * _decayed(engine, fact), similarity) for similarity, fact in found]
    hits.sort(key=lambda hit: (-hit.score, hit.fact.status, hit.fact.id))
    of_subject: dict[str, list[RecalledFact]] = {}
    for hit in hits:
        of_subject.setdefault(subject_key(hit.fact.subject), []).append(hit)
    turns = {key: iter(sorted(some, key=lambda hit: hit.status)) for key, some in of_subject.items()}
    return tuple(next(turns[subject_key(hit.fact.subject)]) for hit in hits)


def _decayed(engine: Engine, fact: FactView) -> float:
    """What an outdated fact still weighs: half as much after each `fact_half_life_days`."""
    half = engine.resolved.config.fact_half_life_days
    if half is None or fact.retired_at is None:
        return 1.0
    age = max(0.0, (engine.clock.now() - fact.retired_at).total_seconds() / DAY_S)
    return float(0.5 ** (age / half))
