"""The verb context: what is known of a user, as a block for a prompt within a number of tokens.

Invariant: each line is one fact with its id and its dates, in the order of recall; the block never holds more tokens than were
given, and a fact that does not fit is left out whole. Nothing is asked but what recall asks.
Source: API "What comes next" (`memory.context`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, tzinfo
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import MemoirError, QueryCancelled
from memoir_engine.core.results.facts import ContextBlock, FactView, RecalledFact
from memoir_engine.core.run import Actor, Listener, Run
from memoir_engine.facts.recall import RecallOptions, SeqOrTime, recall_verb
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.runner import Verb
from memoir_engine.runtime.verbs import verb
from memoir_engine.text.partial_dates import format_date, format_end

MAX_TOKENS = 800


@dataclass(frozen=True)
class ContextOptions:
    """Options of context; those that are not its own are recall's."""

    text: str
    user_id: str | None = None
    max_tokens: int = MAX_TOKENS
    _: KW_ONLY
    limit: int = 50
    include_outdated: bool = False
    as_of: SeqOrTime | None = None
    valid_at: datetime | str | None = None
    threshold: float | None = None
    filters: Mapping[str, Any] | None = None


@verb("context", ContextOptions)
def context_verb(
    engine: Engine, actor: Actor, options: ContextOptions, listeners: tuple[Listener, ...] = ()
) -> Verb[ContextBlock | MemoirError]:
    """Recall, and return the facts as lines: its run is one of recall. Raises what `recall_verb` raises."""
    most = validation.whole("max_tokens", options.max_tokens, least=1)
    recall_options = RecallOptions(
        options.text,
        options.user_id,
        options.limit,
        options.include_outdated,
        options.as_of,
        options.valid_at,
        threshold=options.threshold,
        filters=options.filters,
    )
    recall = recall_verb(engine, actor, recall_options)

    async def work(run: Run) -> ContextBlock | MemoirError:
        recalled = await recall.work(run)
        return recalled if isinstance(recalled, MemoirError) else block(engine, recalled, most)

    return Verb(
        name=recall.name,
        request=recall.request,
        subject=None,
        work=work,
        stopped=QueryCancelled,
        record=lambda block: {"facts": [hit.id for hit in block.facts]},
        listeners=listeners,
        actor=recall.actor,
        recorded=recall.recorded,
    )


def block(engine: Engine, hits: Iterable[RecalledFact], most: int) -> ContextBlock:
    lines: list[str] = []
    kept: list[RecalledFact] = []
    tokens = 0
    for hit in hits:
        longer = "\n".join([*lines, line_of(hit.fact, engine.resolved.config.zone)])
        count = engine.tokens.count(longer)
        if count <= most:
            lines, tokens = longer.split("\n"), count
            kept.append(hit)
    return ContextBlock("\n".join(lines), tuple(kept), tokens)


def line_of(fact: FactView, zone: tzinfo) -> str:
    """Write a fact in one line: "- Lives in Bern [since 2026-03; said 2026-03-05; fact 0b1c…]"."""
    said = format_date(fact.said_at, "day", zone)
    since = format_date(fact.valid_from, fact.valid_from_precision, zone)
    until = format_end(fact.valid_to, fact.valid_to_precision, zone, is_stated=fact.end_said)
    expires = format_date(fact.expires_at, None, zone) if fact.status == "active" else ""
    dates = {"since": since, "until": until, "expires": expires, "said": said}
    state = "no longer so" if fact.status == "outdated" else ""
    notes = "; ".join(filter(None, (state, *(f"{word} {date}" for word, date in dates.items() if date), f"fact {fact.id}")))
    return f"- {' '.join(fact.content.split())} [{notes}]"
