"""The verb recall: facts of one user that relate to a text, active ones before outdated ones of the same subject.

Invariants: exact cosine over the user's own facts, then SQL by owner, as of now or of a moment. Facts rank by score whatever
their status; an outdated one brings its active successor along, and of one subject active facts come before outdated ones.
If the embedder asks no server, recall is not a run.
Source: TIMEM "Memory Forgetting" (both are returned, marked; decay), "Data Isolation"; API "Facts".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from functools import partial

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting, MemoirError, QueryCancelled, QuestionEmpty
from memoir_engine.core.ports import VectorIndex, Vectors
from memoir_engine.core.results.facts import FACT_TYPES, FactView, RecalledFact
from memoir_engine.core.run import Actor, Listener, Run
from memoir_engine.runtime import access
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.verbs import verb
from memoir_engine.store.chain import actions
from memoir_engine.store.db.statements import Tx
from memoir_engine.store.facts import facts
from memoir_engine.text.attributes import subject_key

SeqOrTime = int | datetime
BROAD = 4
FAR_ENOUGH = 1_000  # facts searched for one that weighs more than nearer ones that have decayed
STATUSES = ("active", "outdated")
DAY_S = 86_400


@dataclass(frozen=True)
class FactFilter:
    """Filters of a recall; None matches any. valid_at: facts that were true then."""

    status: str | None
    type: str | None
    valid_at: datetime | None

    def matches(self, fact: FactView) -> bool:
        kinds_match = self.status in (None, fact.status) and self.type in (None, fact.type)
        return kinds_match and (self.valid_at is None or was_true(fact, self.valid_at))


@dataclass(frozen=True)
class RecallOptions:
    """Options of recall."""

    text: str
    user_id: str | None = None
    limit: int = 10
    include_outdated: bool = True
    as_of: SeqOrTime | None = None
    valid_at: datetime | str | None = None
    _: KW_ONLY
    status: str | None = None
    type: str | None = None


@verb("recall", RecallOptions)
def recall_verb(
    engine: Engine, actor: Actor, options: RecallOptions, listeners: tuple[Listener, ...] = ()
) -> Verb[tuple[RecalledFact, ...] | MemoirError]:
    """Raises QuestionEmpty, InvalidSetting; the outcome may be an error of the embedder."""
    text, limit = validation.text("text", options.text), validation.limit(options.limit)
    if not text.strip():
        raise QuestionEmpty()
    both = validation.flag("include_outdated", options.include_outdated)
    status = one_of("status", options.status, STATUSES)
    as_of, valid_at = moment_of(options.as_of), valid_moment(options.valid_at)
    if not both and status == "outdated":
        advice = "Leave out status, or include_outdated=False."
        raise InvalidSetting(name="status", value=status, problem="outdated facts are not included", advice=advice)
    matching = FactFilter(status if both else "active", one_of("type", options.type, FACT_TYPES), valid_at)
    user_id, owner = options.user_id, access.whose(actor, options.user_id)

    async def work(run: Run) -> tuple[RecalledFact, ...]:
        index, _ = await engine.nearness.of(owner, run)
        if index is None:
            return ()
        vector = (await engine.nearness.vectors([text], run))[0]
        search = FactSearch(engine, owner, index, vector, matching, as_of)
        best = await search.best(limit)
        return _in_reading_order(best, await search.active_successors(best), limit)

    is_theirs = owner != access.NOBODY and user_id is not None
    return Verb(
        name="recall",
        request={"user_id": user_id},
        subject=None,
        work=work,
        stopped=QueryCancelled,
        record=lambda recalled: {"facts": [hit.id for hit in recalled]},
        listeners=listeners,
        actor=replace(actor, user=user_id) if is_theirs else None,  # they may see the run, and it is erased with them
        recorded=not engine.embedder.lexical,
    )


@dataclass(frozen=True)
class FactSearch:
    """Search of one recall over the facts of an owner. as_of: the moment as of which they are read."""

    engine: Engine
    owner: str
    index: VectorIndex
    vector: Vectors
    matching: FactFilter
    as_of: SeqOrTime | None

    async def best(self, limit: int) -> dict[int, RecalledFact]:
        """Return the best-scored facts by number, best first. What was not searched scores at most the last cosine."""
        reach = limit * BROAD
        while True:
            (near,) = await self.engine.nearness.top(self.index, [self.vector], reach)
            views = await self.engine.db.aread(partial(self.views, [hit.key for hit in near]))
            cosines = {hit.key: hit.cosine for hit in near if hit.key in views and self.matching.matches(views[hit.key])}
            hits = {number: self.scored(views[number], cosine) for number, cosine in cosines.items()}
            sure = sum(hit.score >= max(0.0, near[-1].cosine) for hit in hits.values()) if near else 0
            if len(near) < reach or sure >= limit or (len(hits) >= limit and reach >= FAR_ENOUGH):
                best = sorted(hits.items(), key=lambda item: (-item[1].score, item[1].status, item[1].id))
                return dict(best[:limit])
            reach *= BROAD

    async def active_successors(self, best: Mapping[int, RecalledFact]) -> dict[int, RecalledFact]:
        """Return the active successor of each outdated fact, by number, where the filter allows it."""
        outdated = [number for number, hit in best.items() if hit.status == "outdated"]
        if not outdated or self.matching.status == "outdated":
            return {}

        def read(tx: Tx) -> tuple[dict[int, int], dict[int, FactView]]:
            successors = facts.current_successors(tx, self.owner, outdated, seq_of(tx, self.as_of))
            return successors, self.views(successors.values(), tx)

        successors, views = await self.engine.db.aread(read)
        hits = {number: best[number] for number in successors.values() if number in best}
        far = [number for number in dict.fromkeys(successors.values()) if number not in hits and number in views]
        far = [number for number in far if self.matching.matches(views[number])]
        for number, cosine in zip(far, await self.engine.nearness.scores(self.index, self.vector, far), strict=True):
            hits[number] = self.scored(views[number], cosine)
        return {number: hits[successor] for number, successor in successors.items() if successor in hits}

    def views(self, numbers: Iterable[int], tx: Tx) -> dict[int, FactView]:
        return facts.by_number(tx, self.owner, numbers, seq_of(tx, self.as_of))

    def scored(self, fact: FactView, cosine: float) -> RecalledFact:
        """Score by the cosine; an outdated fact weighs half as much after each `fact_half_life_days`."""
        similarity, half_days = max(0.0, cosine), self.engine.resolved.config.fact_half_life_days
        if half_days is None or fact.retired_at is None:
            return RecalledFact(fact, similarity, similarity)
        age_days = max(0.0, (self.engine.clock.now() - fact.retired_at).total_seconds() / DAY_S)
        return RecalledFact(fact, similarity * float(0.5 ** (age_days / half_days)), similarity)


def moment_of(as_of: object) -> int | datetime | None:
    return None if as_of is None else validation.moment("as_of", as_of)


def valid_moment(valid_at: object) -> datetime | None:
    """Check an aware time, given as such or in ISO 8601."""
    if valid_at is None:
        return None
    moment = validation.moment("valid_at", valid_at)
    if isinstance(moment, datetime):
        return moment
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


def was_true(fact: FactView, at: datetime) -> bool:
    """Return True if the fact held at that time, by the rule of the store (`facts.was_true`)."""
    since, until = fact.valid_from or fact.said_at, fact.valid_to
    if fact.valid_from is None and until is not None and fact.said_at is not None and until <= fact.said_at:
        since = None
    return (since is None or since <= at) and (until is None or until > at) and fact.cause != "merged"


def _in_reading_order(
    best: Mapping[int, RecalledFact], successors: Mapping[int, RecalledFact], limit: int
) -> tuple[RecalledFact, ...]:
    """Order by score, each outdated fact behind its active successor; of one subject the active facts come first."""
    distinct: dict[str, RecalledFact] = {}
    for number, hit in best.items():
        for recalled in (successors.get(number, hit), hit):
            distinct.setdefault(recalled.id, recalled)
    hits = list(distinct.values())[:limit]
    by_subject: dict[str, list[RecalledFact]] = {}
    for hit in sorted(hits, key=lambda hit: hit.status):
        by_subject.setdefault(subject_key(hit.fact.subject), []).append(hit)
    turns = {subject: iter(members) for subject, members in by_subject.items()}
    return tuple(next(turns[subject_key(hit.fact.subject)]) for hit in hits)
