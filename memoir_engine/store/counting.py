"""What stands in the store, in numbers.

Source: DESIGN §5 (the ledger: tokens and cost of each call).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import distinct, func, select

from memoir_engine.store import chunks, sources
from memoir_engine.store import tables as t
from memoir_engine.store.types import FAR, Tx


@dataclass(frozen=True)
class Counts:
    """tokens: prompt and completion, over all calls. cost: USD, None when no call's price is known."""

    sources: int
    chunks: int
    categories: int
    leaves: int
    questions: int
    tokens: int
    cost: float | None


def counts(tx: Tx) -> Counts:
    version, call = t.category_version.c, t.model_call.c
    spent = tx.execute(select(func.sum(call.tokens_prompt + call.tokens_completion), func.sum(call.cost))).one()
    return Counts(
        sources=sources.count(tx),
        chunks=chunks.count(tx),
        categories=tx.execute(select(func.count()).where(version.to_seq == FAR)).scalar_one(),
        leaves=tx.execute(select(func.count(distinct(t.filing.c.category_id))).where(t.filing.c.to_seq == FAR)).scalar_one(),
        questions=tx.execute(select(func.count()).where(t.run.c.verb == "query")).scalar_one(),
        tokens=int(spent[0] or 0),
        cost=None if spent[1] is None else float(spent[1]),
    )
