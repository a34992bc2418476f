"""What a memory knows by itself, as items for LangGraph: its facts, and the texts added as knowledge.

Invariant: only what is in force is there, and nothing here is an item that somebody put. A fact is corrected by putting it and
ended by deleting it; facts are added by `memory.facts.add` and `memory.remember`, since Memoir gives them their ids. A text is
added once; withdrawing and erasing it is done by `memory.sources`, because it belongs to everybody.
Source: API "What comes next"; decision 0031.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from langgraph.store.base import Item, SearchItem

from memoir_engine.api.memory import AsyncMemory
from memoir_engine.core import validation
from memoir_engine.core.errors import FactNotFound
from memoir_engine.core.results import FactView, Source
from memoir_engine.langgraph.item_texts import checked_filter, matches

ROOT = "memoir"
MOST = 1_000  # facts or texts of which a page is taken
PASSAGES = 5  # looked at for each text that is wanted


class Shelf(Protocol):
    """A namespace that is filled by the memory."""

    @property
    def namespace(self) -> tuple[str, ...]: ...
    def get(self, key: str) -> Item | None: ...
    def search(self, query: str | None, reach: int, conditions: Mapping[str, Any] | None) -> list[SearchItem]: ...
    def put(self, key: str, value: Mapping[str, Any] | None) -> None: ...


class FactShelf:
    """The facts of the memory's user, by their ids: {"content", "type", "subject", "entities", "valid_from", …}."""

    namespace = (ROOT, "facts")

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    def get(self, key: str) -> Item | None:
        try:
            fact = self._memory.facts.get(key)
        except FactNotFound:
            return None
        return _fact_item(fact) if fact.user_id == self._memory.actor.user and _is_plain(fact) else None

    def search(self, query: str | None, reach: int, conditions: Mapping[str, Any] | None) -> list[SearchItem]:
        """Search facts in force; those about nothing asked last learned first."""
        wanted = checked_filter(conditions)
        if query is None or not query.strip():
            found: list[tuple[FactView, float | None]]
            found = [(fact, None) for fact in self._memory.facts.list(status="active", limit=MOST)]
        else:
            recall = self._memory.recall(query, limit=MOST if wanted else max(1, 2 * reach), include_outdated=False)
            hits = self._memory._engine.loop.wait(recall, verb="recall")
            found = [(hit.fact, hit.score) for hit in hits]
        items = [_fact_item(fact, score) for fact, score in found if _is_plain(fact)]
        return [item for item in items if _matches(item, wanted)]

    def put(self, key: str, value: Mapping[str, Any] | None) -> None:
        """Correct a fact, or end it. Raises FactNotFound, and what `facts.correct` and `facts.retire` raise."""
        if self.get(key) is None:
            if value is not None:
                advice = "Add facts by memory.facts.add() or memory.remember(); a namespace of your own takes any item."
                validation.refuse("key", key, "there is no such fact in force", advice)
            return
        if value is None:
            self._memory.facts.retire(key)
            return
        advice = 'Give {"content": "…"}, and its type, subject or dates where they change.'
        settable = {"content", "type", "subject", "entities", "valid_from", "valid_to"}
        if not set(value) & settable:
            validation.refuse("value", dict(value), "it has no words of a fact", advice)
        self._memory.facts.correct(
            key, **{name: given for name, given in value.items() if name in settable and given is not None}
        )


class KnowledgeShelf:
    """The texts added as knowledge, by their doc_ids: {"text", "metadata"}; they are the workspace's."""

    namespace = (ROOT, "knowledge")

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    def get(self, key: str) -> Item | None:
        sources = [source for source in self._memory.sources.by_name(key) if source.doc_id == key]
        return self._item(sources[0]) if sources else None

    def search(self, query: str | None, reach: int, conditions: Mapping[str, Any] | None) -> list[SearchItem]:
        """Search texts, each once, scored by its best passage; those of no query last added first."""
        wanted = checked_filter(conditions)
        stored = {source.id: source for source in self._memory.sources.list(limit=MOST) if source.doc_id and _is_kept(source)}
        if query is None or not query.strip() or not stored:
            scores: dict[int, float | None] = dict.fromkeys(stored)
        else:
            search = self._memory.search(query, top_k=max(1, reach * PASSAGES), sources=stored)
            hits = self._memory._engine.loop.wait(search, verb="search")
            scores = {hit.source_id: hit.score for hit in reversed(hits) if hit.source_id in stored}
        best = sorted(scores, key=lambda number: (-(scores[number] or 0.0), -number))
        items = (self._item(stored[number], scores[number]) for number in best)
        return [item for item in items if _matches(item, wanted)]

    def put(self, key: str, value: Mapping[str, Any] | None) -> None:
        """Add a text. Raises DocIdExists for one that is there, and what `add_knowledge` raises."""
        if value is None:
            advice = "Use memory.sources.withdraw(), or memory.sources.erase(): everybody finds these texts."
            validation.refuse("key", key, "a text of the knowledge is not deleted as an item", advice)
        adding = self._memory.add_knowledge(key, value.get("text", value.get("content")), value.get("metadata"))
        self._memory._engine.loop.wait(adding, verb="add_knowledge")

    def _item(self, source: Source, score: float | None = None) -> SearchItem:
        value = {"text": self._memory.sources.text(source.id), "metadata": source.metadata}
        return SearchItem(self.namespace, source.doc_id or "", value, source.created_at, source.created_at, score)


def _is_plain(fact: FactView) -> bool:
    """Return True for a fact in force that holds no item of a store."""
    return fact.status == "active" and not {"namespace", "key", "value"} <= fact.metadata.keys()


def _is_kept(source: Source) -> bool:
    return source.status not in ("withdrawn", "erased", "replaced")


def _fact_item(fact: FactView, score: float | None = None) -> SearchItem:
    def written(moment: datetime | None) -> str | None:
        return None if moment is None else moment.isoformat()

    value = {
        "content": fact.content,
        "type": fact.type,
        "subject": fact.subject,
        "entities": list(fact.entities),
        "valid_from": written(fact.valid_from),
        "valid_to": written(fact.valid_to),
        "metadata": dict(fact.metadata),
    }
    return SearchItem(FactShelf.namespace, fact.id, value, fact.recorded_at, fact.updated_at, score)


def _matches(item: SearchItem, wanted: Mapping[str, Any]) -> bool:
    return all(matches(item.value.get(key), condition) for key, condition in wanted.items())
