"""The agent's own tools: search the memory, ask the tree, recall facts; for one turn of one person.

Invariants: each tool reads as the actor reads. Whatever a tool hands the model goes through `show`, so that the run can name all
of it under one number each. What a tool asks of a model is in the ledger: a question to the tree is a run of its own, which
`Shown` names. What was said in this very session is before the model already; an agent with sessions of its own finds nothing of
another session. The docstrings of the tools are what the model reads about them.
Source: SESSION 1.2, 1.4, 4; TIMEM "LLM-driven retrieval"; API "Sessions and the agent".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

from memoir_engine.core.results import FactView, MessageRecord, QueryResult, RecalledFact, SearchResult, Shown
from memoir_engine.core.run import Actor
from memoir_engine.runtime.engine import Engine
from memoir_engine.store.db.text_rules import WORKSPACE, owner_key
from memoir_engine.store.facts import facts
from memoir_engine.store.search import hits
from memoir_engine.store.sources import sources
from memoir_engine.text.partial_dates import format_date

MOST_CHARS = 2_000  # of one finding


class Showing:
    """Findings of one turn."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int | str], Shown] = {}

    def show(self, shown: Shown, text: str, **more: Any) -> dict[str, Any]:
        """The record that the model gets. `more` without what is not known."""
        key = (shown.kind, shown.id)
        known = self._seen.setdefault(key, replace(shown, number=len(self._seen) + 1))
        told = {name: value for name, value in more.items() if value is not None}
        return {"number": known.number, "text": text[:MOST_CHARS], **told}

    @property
    def all(self) -> tuple[Shown, ...]:
        return tuple(self._seen.values())


OWN = ("search_memory", "recall_facts", "ask_tree")  # what the model calls them
FOUND = 5
Found = list[dict[str, Any]] | str


class Sessions(Protocol):
    """Sessions, as a turn is stored in them."""

    def append(self, session_id: str, messages: Iterable[object], *, run_id: str | None = None) -> tuple[MessageRecord, ...]: ...


class Memory(Protocol):
    """Memory as an agent's tools use it, acting for the person of the turn; AsyncMemory fits."""

    @property
    def sessions(self) -> Sessions: ...
    def search(self, query: str, top_k: int = 5, *, kinds: Iterable[str] | None = None) -> Awaitable[list[SearchResult]]: ...
    def recall(self, text: str, *, limit: int = 10) -> Awaitable[tuple[RecalledFact, ...]]: ...
    def query(self, question: str) -> Awaitable[QueryResult]: ...


async def something(engine: Engine, actor: Actor) -> bool:
    """Return True if there is a document, or a fact about the person, that a tool could find."""
    owner = owner_key(actor.user)
    return await engine.db.aread(lambda tx: sources.count(tx) > 0 or facts.has_facts(tx, owner))


def lookups(
    engine: Engine, memory: Memory, session_id: str, showing: Showing, *, earlier: bool = True
) -> list[Callable[..., Any]]:
    """earlier: whether other conversations of the person are searched, too."""

    async def search_memory(query: str) -> Found:
        """Search documents and earlier conversations by words and meaning. Returns passages, each with its number.

        Args:
            query: What to look for, as a question or in key words.
        """
        return await _search(engine, memory, session_id if earlier else None, showing, query)

    async def recall_facts(query: str) -> Found:
        """Recall facts about the person you talk with: what they like, do, plan, own, whom they know. Some are outdated.

        Args:
            query: What to recall, as a question or in key words.
        """
        return await _recall(engine, memory, showing, query)

    async def ask_tree(question: str) -> list[dict[str, Any]]:
        """Ask the category tree of filed documents: for questions about a whole subject. Returns its answer and its evidence.

        Args:
            question: One full question.
        """
        return await _ask(memory, showing, question)

    return [search_memory, recall_facts, ask_tree]


async def _search(engine: Engine, memory: Memory, session_id: str | None, showing: Showing, query: str) -> Found:
    """session_id: whose words stand before the model already; None leaves out all that was said in conversations."""
    kinds = None if session_id is not None else await _kinds_of_documents(engine)
    found = await memory.search(query, 2 * FOUND, kinds=kinds) if kinds != () else []
    others = [one for one in found if one.session_id is None or one.session_id != session_id]
    return _or_nothing(
        showing.show(
            Shown(0, "passage", one.passage_id, one.source_id, one.start, one.end),
            one.text,
            source=one.source_name or (one.session_id and "an earlier conversation"),
            dated=one.dated,
        )
        for one in others[:FOUND]
    )


async def _kinds_of_documents(engine: Engine) -> tuple[str, ...]:
    found = await engine.db.aread(lambda tx: hits.kinds(tx, WORKSPACE))
    return tuple(kind for kind in found if kind != hits.CONVERSATION)


async def _recall(engine: Engine, memory: Memory, showing: Showing, query: str) -> Found:
    found = await memory.recall(query, limit=FOUND)
    return _or_nothing(
        showing.show(Shown(0, "fact", one.fact.id), one.content, status=one.status, since=_since(engine, one.fact))
        for one in found
    )


async def _ask(memory: Memory, showing: Showing, question: str) -> list[dict[str, Any]]:
    answered = await memory.query(question)
    if answered.error is not None:
        return [{"text": f"The tree has no answer: {answered.error.message}"}]
    texts = {one.id: one.text for one in answered.chunks}
    evidence = [
        showing.show(
            Shown(0, "chunk", one.chunk_id, one.source_id, one.start, one.end, answered.run_id),
            texts.get(one.chunk_id, ""),
            filed=" › ".join(one.category_path),
        )
        for one in answered.used_chunks[:FOUND]
    ]
    return [{"text": answered.answer or ""}, *evidence]


def _or_nothing(found: Iterable[dict[str, Any]]) -> Found:
    """An empty list would reach the model as no words at all."""
    return list(found) or "Nothing was found."


def _since(engine: Engine, fact: FactView) -> str | None:
    return format_date(fact.valid_from, fact.valid_from_precision, engine.resolved.config.zone) or None
