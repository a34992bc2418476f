"""The verb search: a query in, ranked passages out, by words and by vectors.

Invariant: whatever keeps the vectors from being asked, the words answer, and the result says so; only what a caller gave wrongly,
or the database itself, raises. What asks a server is a run, each of its requests in the ledger; what asks nobody is none.
Source: MEMOLLA F-03; API "Knowledge, conversations, search"; DESIGN §6 (who and whose).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterable
from datetime import date
from typing import Any, NamedTuple, Protocol, get_args

from memoir_engine.core import validation
from memoir_engine.core.errors import (
    CostCapReached,
    CostUnknown,
    InvalidSetting,
    MemoirError,
    ModelError,
    QueryCancelled,
    QuestionEmpty,
    TopKInvalid,
)
from memoir_engine.core.ports import Health, VectorIndexUnavailable, Vectors, search_pull
from memoir_engine.core.results import Searchable, SearchResult
from memoir_engine.core.run import Actor, NullLedger, Run, new_id
from memoir_engine.readers.document import Kind
from memoir_engine.runtime.embedding import OFF
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.search.ranking import Fused, SearchQuery, VectorSide, check_ranking, limited, rank
from memoir_engine.store.db.text_rules import WORKSPACE, finder_key
from memoir_engine.store.db.types import Tx
from memoir_engine.store.search import embeddings, hits
from memoir_engine.store.search.hits import CONVERSATION, SearchFilter, kinds, matching_ids
from memoir_engine.store.search.passages import count

# === searched: What a search is given, looked at once, at the border.
#
# Source: MEMOLLA F-03-03, E004; DESIGN §11.


MOST_FOUND = 1_000
QUERY_CHARS = 10_000
MOST_SHARE = 1e300  # a number beyond is refused like this one
Day = str | date
Sources = Iterable[int] | None
Kinds = Iterable[str] | None

_ISO = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


def to_query(query: object, top_k: object, alpha: object, fanout: object, candidates: object = False) -> SearchQuery:
    words = validation.text("query", query)
    if not words.strip():
        raise QuestionEmpty()
    if len(words) > QUERY_CHARS:
        problem = f"it is {len(words)} characters long"
        raise InvalidSetting(name="query", value="…", problem=problem, advice=f"Shorten it to {QUERY_CHARS} characters.")
    if isinstance(top_k, int) and not isinstance(top_k, bool) and top_k <= 0:
        raise TopKInvalid()
    most, wide = validation.whole("top_k", top_k, least=1), validation.whole("fanout", fanout, least=1)
    if most > MOST_FOUND:
        raise InvalidSetting(name="top_k", value=most, problem=f"it is more than {MOST_FOUND}", advice="Ask for fewer.")
    share = _share(alpha)
    check_ranking(most, share, wide)
    return SearchQuery(words, most, share, min(wide, MOST_FOUND), everything=validation.flag("candidates", candidates))


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        advice = "Give a number from 0 (words only) to 1 (vectors only); the default is 0.5."
        raise InvalidSetting(name="alpha", value=value, problem="it is no number", advice=advice)
    return float(value) if abs(value) <= MOST_SHARE else MOST_SHARE


def to_filter(sources: Sources, kinds: Kinds, since: Day | None, until: Day | None) -> SearchFilter:
    first, last = _day("since", since), _day("until", until)
    if last is not None:
        last += {4: "-12-31", 7: "-31"}.get(len(last), "")
    if first is not None and last is not None and first > last:
        advice = "Give the earlier one as since; both days are included."
        raise InvalidSetting(name="since", value=since, problem=f"it is later than until, {until!s}", advice=advice)
    return SearchFilter(
        sources=None if sources is None else validation.sources(sources),
        kinds=None if kinds is None else _kinds(kinds),
        since=first,
        until=last,
    )


def _kinds(value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        advice = "Give kinds such as ('pdf', 'conversation'), or leave it out."
        raise InvalidSetting(name="kinds", value=value, problem="it must be a list of kinds", advice=advice)
    found = tuple(validation.text("kinds", each) for each in value)
    known = (CONVERSATION, *get_args(Kind))
    advice = f"Known are {', '.join(known)}; leave it out to search all."
    if not found:
        raise InvalidSetting(name="kinds", value=value, problem="there is no kind in it", advice=advice)
    for each in found:
        if each not in known:
            raise InvalidSetting(name="kinds", value=each, problem="there is no such kind", advice=advice)
    return found


def _day(name: str, value: object) -> str | None:
    """A year, a month or a day, ISO 8601."""
    if value is None:
        return None
    told = value.isoformat()[:10] if isinstance(value, date) else value
    if not isinstance(told, str) or not _ISO.fullmatch(told) or not _is_day(told):
        advice = "Give a date, or a text such as '2024', '2024-05' or '2024-05-17'."
        raise InvalidSetting(name=name, value=value, problem="it is no date", advice=advice)
    return told


def _is_day(told: str) -> bool:
    """Whether the calendar has it; a year or a month by its first day."""
    try:
        date.fromisoformat(told + "-01-01"[: 10 - len(told)])
    except ValueError:
        return False
    return True


# === searching


W01 = "[mem][W01] dense index unavailable, fallback to bm25"
SWITCHED_OFF = Health(False, "vectors are switched off (vector_store='off')", "Set vector_store to 'auto' to rank by them too.")

_log = logging.getLogger(__name__)


class RankedPassages(NamedTuple):
    """health: of the vectors; not ok where the words alone were asked."""

    found: list[Fused]
    health: Health


class AsyncSearches:
    """The verb as coroutines have it."""

    _engine: Engine
    _actor: Actor

    async def search(
        self,
        query: str,
        top_k: int = 5,
        alpha: float = 0.5,
        fanout: int = 2,
        *,
        sources: Sources = None,
        kinds: Kinds = None,
        since: Day | None = None,
        until: Day | None = None,
        candidates: bool = False,
    ) -> list[SearchResult]:
        """Passages of sources and of the actor's own conversations, best first, by words and by vectors (MEMOLLA F-03).

        alpha: the share of the vectors, 0 to 1. fanout: top_k · fanout candidates come from each side. sources, kinds: only of
        these; `conversation` is a kind. since, until: only what is dated between, both included, as ISO 8601 of a year, month or
        day. Where the vectors cannot be had the words alone answer: `mode` and `reason` of each result say so.
        candidates: all of them, best first, not the first top_k alone: what another alpha ranks otherwise.
        What shares no word with the query and is not near it is no result.
        Raises TopKInvalid (E004), QuestionEmpty (E301), SourceNotFound (E206), InvalidSetting.
        """
        asked, sieve = to_query(query, top_k, alpha, fanout, candidates), to_filter(sources, kinds, since, until)
        return await self._engine.loop.bridge(_searched(self._engine, self._actor, asked, sieve), verb="search")

    def searchable(self) -> Searchable:
        """What there is to be searched, and by which embedder."""
        owner, embedder = finder_key(self._actor.user), self._engine.embedder
        self._engine.passages.cut(owner)

        def work(tx: Tx) -> Searchable:
            passages = sum(count(tx, each) for each in {WORKSPACE, owner})
            return Searchable(passages, kinds(tx, owner), embedder.id, embedder.lexical)

        return self._engine.db.read(work)


class _Waiting(Protocol):
    """What the twin stands on: the engine as coroutines have it, and a way to wait."""

    @property
    def _async(self) -> AsyncSearches: ...
    def _wait(self, verb: str, coroutine: Coroutine[Any, Any, list[SearchResult]]) -> list[SearchResult]: ...


class Searches:
    """The same on Memory, waited for; by words alone in the caller's own thread, for nobody else has to be waited for."""

    def search(
        self: _Waiting,
        query: str,
        top_k: int = 5,
        alpha: float = 0.5,
        fanout: int = 2,
        *,
        sources: Sources = None,
        kinds: Kinds = None,
        since: Day | None = None,
        until: Day | None = None,
        candidates: bool = False,
    ) -> list[SearchResult]:
        """Passages of sources and of the actor's own conversations, best first, by words and by vectors (MEMOLLA F-03).

        alpha: the share of the vectors, 0 to 1. fanout: top_k · fanout candidates come from each side. sources, kinds: only of
        these; `conversation` is a kind. since, until: only what is dated between, both included, as ISO 8601 of a year, month or
        day. Where the vectors cannot be had the words alone answer: `mode` and `reason` of each result say so.
        candidates: all of them, best first, not the first top_k alone: what another alpha ranks otherwise.
        What shares no word with the query and is not near it is no result.
        Raises TopKInvalid (E004), QuestionEmpty (E301), SourceNotFound (E206), InvalidSetting.
        """
        asked, sieve = to_query(query, top_k, alpha, fanout, candidates), to_filter(sources, kinds, since, until)
        engine, actor = self._async._engine, self._async._actor
        if engine.resolved.config.vector_store != OFF:
            return self._wait("search", _searched(engine, actor, asked, sieve))
        engine.loop.may_wait("search")
        engine.keeper.cut_missing()
        return _by_words(engine, actor, asked, sieve)


async def _searched(engine: Engine, actor: Actor, asked: SearchQuery, sieve: SearchFilter) -> list[SearchResult]:
    if engine.embedder.lexical or engine.resolved.config.vector_store == OFF:  # nobody is asked anything
        run = Run(new_id(engine.clock.now()), "search", actor, engine.clock, NullLedger())
        return await _search(engine, actor, asked, sieve, run)
    outcome = await engine.runner.perform(_verb(engine, actor, asked, sieve), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


def _verb(engine: Engine, actor: Actor, asked: SearchQuery, sieve: SearchFilter) -> Verb[list[SearchResult] | MemoirError]:
    async def work(run: Run) -> list[SearchResult] | MemoirError:
        return await _search(engine, actor, asked, sieve, run)

    def record(outcome: list[SearchResult] | MemoirError) -> dict[str, Any]:
        return {} if isinstance(outcome, MemoirError) else {"passages": [one.passage_id for one in outcome]}

    limits = {name: value for name, value in vars(sieve).items() if value is not None}
    request = {"query": asked.query, "top_k": asked.top_k, "alpha": asked.alpha, "fanout": asked.fanout, **limits}
    return Verb("search", request, None, work, lambda _run, error: error, QueryCancelled, record)


async def _search(engine: Engine, actor: Actor, asked: SearchQuery, sieve: SearchFilter, run: Run) -> list[SearchResult]:
    owner = finder_key(actor.user)
    if not engine.keeper.all_cut:
        await asyncio.to_thread(engine.keeper.cut_missing)
    if engine.resolved.config.vector_store == OFF:
        return await asyncio.to_thread(_by_words, engine, actor, asked, sieve)
    at = await asyncio.to_thread(engine.passages.cut, owner)
    vector, health, stands = await _vectored(engine, owner, asked.query, run, at)
    return await asyncio.to_thread(_answered, engine, owner, asked, sieve, vector, health, max(at, stands))


def _by_words(engine: Engine, actor: Actor, asked: SearchQuery, sieve: SearchFilter) -> list[SearchResult]:
    owner = finder_key(actor.user)
    return _answered(engine, owner, asked, sieve, None, SWITCHED_OFF, engine.passages.cut(owner))


def _answered(
    engine: Engine, owner: str, asked: SearchQuery, sieve: SearchFilter, vector: Vectors | None, health: Health, at: int
) -> list[SearchResult]:
    ranked = _ranked(engine, owner, asked, sieve, vector, health, at)
    if not ranked.health.ok:
        _log.warning(W01, extra={"reason": ranked.health.reason, "remedy": ranked.health.remedy})
    return _told(engine, owner, asked, ranked)


async def _vectored(engine: Engine, owner: str, query: str, run: Run, at: int) -> tuple[Vectors | None, Health, int]:
    """The query's vector, once the passages have theirs, or why there is none; and up to where they stand."""
    try:
        stands = [await engine.vectoring.stands(each, run, at) for each in dict.fromkeys((WORKSPACE, owner))]
        vectors = await engine.embedder.embed([query], run)
    except (ModelError, CostCapReached, CostUnknown) as failed:
        return None, Health(False, failed.message, failed.remedy), at
    return vectors[0], Health(True), max(stands)


def _ranked(
    engine: Engine, owner: str, asked: SearchQuery, sieve: SearchFilter, vector: Vectors | None, health: Health, at: int
) -> RankedPassages:
    words = engine.passages.words(owner, at)
    if not sieve.is_open:
        asked = limited(asked, engine.db.read(lambda tx: matching_ids(tx, owner, sieve)))
    if vector is None:
        return RankedPassages(rank(asked, words, None), health)
    for last in (False, True):  # what it held may turn out damaged when it is asked: it is fed anew, once
        try:
            return RankedPassages(rank(asked, words, _side(engine, owner, vector, at)), health)
        except VectorIndexUnavailable as cannot:
            health = cannot.health
            if last or not _is_well(engine, owner, vector):
                break
    return RankedPassages(
        rank(asked, words, None), health if not health.ok else Health(False, "the index of vectors was damaged")
    )


def _side(engine: Engine, owner: str, vector: Vectors, at: int) -> VectorSide:
    name, dim = engine.embedder.id, len(vector)
    indexes = engine.passages.vectors(owner, name, dim, at)

    def vectors_of(keys: list[int]) -> Any:
        return engine.db.read(lambda tx: embeddings.get(tx, "passage", keys, name, dim))

    return VectorSide(vector, indexes, search_pull(engine.embedder), vectors_of)


def _is_well(engine: Engine, owner: str, vector: Vectors) -> bool:
    try:
        return all(index.health.ok for index in engine.passages.vectors(owner, engine.embedder.id, len(vector)))
    except VectorIndexUnavailable:
        return False


def _told(engine: Engine, owner: str, asked: SearchQuery, ranked: RankedPassages) -> list[SearchResult]:
    """The best that still stand, with their texts."""
    most = len(ranked.found) if asked.everything else asked.top_k

    def work(tx: Tx) -> dict[int, hits.PassageHit]:
        found: dict[int, hits.PassageHit] = {}
        for start in range(0, len(ranked.found), most):
            found |= hits.load_hits(tx, [one.key for one in ranked.found[start : start + most]], owner=owner)
            if len(found) >= most:
                break
        return found

    if not ranked.found:
        return []
    texts = engine.db.read(work)
    best = [one for one in ranked.found if one.key in texts][:most]
    return [_result(engine, one, texts[one.key], ranked.health) for one in best]


def _result(engine: Engine, one: Fused, told: Any, health: Health) -> SearchResult:
    return SearchResult(
        score=one.score,
        score_bm25=one.score_bm25,
        score_dense=one.score_dense,
        raw_bm25=one.raw_bm25,
        raw_dense=one.raw_dense,
        passage_id=one.key,
        text=told.text,
        start=told.start,
        end=told.end,
        doc_id=told.doc_id,
        source_id=told.source_id,
        source_name=told.source_name,
        session_id=told.session_id,
        message_ids=told.message_ids,
        kind=told.kind,
        dated=told.dated,
        mode="hybrid" if health.ok else "bm25_only",
        reason=None if health.ok else " ".join(filter(None, (f"{health.reason.rstrip('.')}.", health.remedy))),
        embedder=engine.embedder.id if health.ok else None,
    )
