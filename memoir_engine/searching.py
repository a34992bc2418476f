"""The verb search: a query in, ranked passages out, by words and by vectors.

Invariant: whatever keeps the vectors from being asked, the words answer, and the result says so; only what a caller gave wrongly,
or the database itself, raises. What asks a server is a run, each of its requests in the ledger; what asks nobody is none.
Source: MEMOLLA F-03; API "Knowledge, conversations, search"; DESIGN §6 (who and whose).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memoir_engine import searched
from memoir_engine.errors import CostCapReached, CostUnknown, MemoirError, ModelError, QueryCancelled
from memoir_engine.nearest import Health, NearestUnavailable
from memoir_engine.results import Searchable, SearchResult
from memoir_engine.run import Actor, Run, new_id
from memoir_engine.running import Verb
from memoir_engine.searched import Day, Kinds, Sources
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.embedding import Vectors
    from memoir_engine.search.fusion import Fused
    from memoir_engine.search.ranking import Asked, Vectored
    from memoir_engine.store.sifting import Sieve
    from memoir_engine.store.types import Tx

W01 = "[mem][W01] dense index unavailable, fallback to bm25"
OFF = "off"  # of the setting vector_store
SWITCHED_OFF = Health(False, "vectors are switched off (vector_store='off')", "Set vector_store to 'auto' to rank by them too.")

_log = logging.getLogger(__name__)


class Ranked(NamedTuple):
    """health: of the vectors; not ok where the words alone were asked."""

    found: list[Fused]
    health: Health


@dataclass(frozen=True)
class Silent:
    """The ledger of what asks nobody."""

    sent: int = 0
    reused: int = 0
    spent: float = 0.0

    async def record(self, attempt: Any) -> int:
        raise AssertionError("an embedder that asks a server is given a run")

    async def paid(self, fingerprint: str) -> None:
        return None


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
        asked, sieve = searched.asked(query, top_k, alpha, fanout, candidates), searched.sieve(sources, kinds, since, until)
        return await self._engine.loop.bridge(_searched(self._engine, self._actor, asked, sieve), verb="search")

    def searchable(self) -> Searchable:
        """What there is to be searched, and by which embedder."""
        from memoir_engine.store.owners import WORKSPACE, finder_key
        from memoir_engine.store.passages import count
        from memoir_engine.store.sifting import kinds

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
        asked, sieve = searched.asked(query, top_k, alpha, fanout, candidates), searched.sieve(sources, kinds, since, until)
        engine, actor = self._async._engine, self._async._actor
        if engine.resolved.config.vector_store != OFF:
            return self._wait("search", _searched(engine, actor, asked, sieve))
        engine.loop.may_wait("search")
        engine.keeper.cut_missing()
        return _by_words(engine, actor, asked, sieve)


async def _searched(engine: Engine, actor: Actor, asked: Asked, sieve: Sieve) -> list[SearchResult]:
    if engine.embedder.lexical or engine.resolved.config.vector_store == OFF:  # nobody is asked anything
        run = Run(new_id(engine.clock.now()), "search", actor, engine.clock, Silent())
        return await _search(engine, actor, asked, sieve, run)
    outcome = await engine.runner.perform(_verb(engine, actor, asked, sieve), actor)
    if isinstance(outcome, MemoirError):
        raise outcome
    return outcome


def _verb(engine: Engine, actor: Actor, asked: Asked, sieve: Sieve) -> Verb[list[SearchResult] | MemoirError]:
    async def work(run: Run) -> list[SearchResult] | MemoirError:
        return await _search(engine, actor, asked, sieve, run)

    def record(outcome: list[SearchResult] | MemoirError) -> dict[str, Any]:
        return {} if isinstance(outcome, MemoirError) else {"passages": [one.passage_id for one in outcome]}

    limits = {name: value for name, value in vars(sieve).items() if value is not None}
    request = {"query": asked.query, "top_k": asked.top_k, "alpha": asked.alpha, "fanout": asked.fanout, **limits}
    return Verb("search", request, None, work, lambda _run, error: error, QueryCancelled, record)


async def _search(engine: Engine, actor: Actor, asked: Asked, sieve: Sieve, run: Run) -> list[SearchResult]:
    from memoir_engine.store.owners import finder_key

    owner = finder_key(actor.user)
    if not engine.keeper.all_cut:
        await asyncio.to_thread(engine.keeper.cut_missing)
    if engine.resolved.config.vector_store == OFF:
        return await asyncio.to_thread(_by_words, engine, actor, asked, sieve)
    at = await asyncio.to_thread(engine.passages.cut, owner)
    vector, health, stands = await _vectored(engine, owner, asked.query, run, at)
    return await asyncio.to_thread(_answered, engine, owner, asked, sieve, vector, health, max(at, stands))


def _by_words(engine: Engine, actor: Actor, asked: Asked, sieve: Sieve) -> list[SearchResult]:
    from memoir_engine.store.owners import finder_key

    owner = finder_key(actor.user)
    return _answered(engine, owner, asked, sieve, None, SWITCHED_OFF, engine.passages.cut(owner))


def _answered(
    engine: Engine, owner: str, asked: Asked, sieve: Sieve, vector: Vectors | None, health: Health, at: int
) -> list[SearchResult]:
    ranked = _ranked(engine, owner, asked, sieve, vector, health, at)
    if not ranked.health.ok:
        _log.warning(W01, extra={"reason": ranked.health.reason, "remedy": ranked.health.remedy})
    return _told(engine, owner, asked, ranked)


async def _vectored(engine: Engine, owner: str, query: str, run: Run, at: int) -> tuple[Vectors | None, Health, int]:
    """The query's vector, once the passages have theirs, or why there is none; and up to where they stand."""
    from memoir_engine.store.owners import WORKSPACE

    try:
        stands = [await engine.vectoring.stands(each, run, at) for each in dict.fromkeys((WORKSPACE, owner))]
        vectors = await engine.embedder.embed([query], run)
    except (ModelError, CostCapReached, CostUnknown) as failed:
        return None, Health(False, failed.message, failed.remedy), at
    return vectors[0], Health(True), max(stands)


def _ranked(engine: Engine, owner: str, asked: Asked, sieve: Sieve, vector: Vectors | None, health: Health, at: int) -> Ranked:
    from memoir_engine.search.ranking import limited, rank
    from memoir_engine.store.sifting import sifted

    words = engine.passages.words(owner, at)
    if not sieve.is_open:
        asked = limited(asked, engine.db.read(lambda tx: sifted(tx, owner, sieve)))
    if vector is None:
        return Ranked(rank(asked, words, None), health)
    for last in (False, True):  # what it held may turn out damaged when it is asked: it is fed anew, once
        try:
            return Ranked(rank(asked, words, _side(engine, owner, vector, at)), health)
        except NearestUnavailable as cannot:
            health = cannot.health
            if last or not _is_well(engine, owner, vector):
                break
    return Ranked(rank(asked, words, None), health if not health.ok else Health(False, "the index of vectors was damaged"))


def _side(engine: Engine, owner: str, vector: Vectors, at: int) -> Vectored:
    from memoir_engine.embedding import pull_of
    from memoir_engine.search.ranking import Vectored
    from memoir_engine.store import embeddings

    name, dim = engine.embedder.id, len(vector)
    indexes = engine.passages.vectors(owner, name, dim, at)

    def vectors_of(keys: list[int]) -> Any:
        return engine.db.read(lambda tx: embeddings.of(tx, "passage", keys, name, dim))

    return Vectored(vector, indexes, pull_of(engine.embedder), vectors_of)


def _is_well(engine: Engine, owner: str, vector: Vectors) -> bool:
    try:
        return all(index.health.ok for index in engine.passages.vectors(owner, engine.embedder.id, len(vector)))
    except NearestUnavailable:
        return False


def _told(engine: Engine, owner: str, asked: Asked, ranked: Ranked) -> list[SearchResult]:
    """The best that still stand, with their texts."""
    from memoir_engine.store import told_passages

    most = len(ranked.found) if asked.everything else asked.top_k

    def work(tx: Tx) -> dict[int, told_passages.Told]:
        found: dict[int, told_passages.Told] = {}
        for start in range(0, len(ranked.found), most):
            found |= told_passages.told(tx, [one.key for one in ranked.found[start : start + most]], owner=owner)
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
