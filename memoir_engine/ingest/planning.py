"""The choices of an ingestion as the frozen plan the store commits. Pure.

Invariant: drafts are numbered by the first chunk that needs them, so the plan does not depend on which call came back first.
Source: DESIGN §8 (IngestPlan).
"""

from __future__ import annotations

from collections.abc import Sequence

from memoir_engine.ingest.draft import DraftTree, Node
from memoir_engine.ingest.filing import Chosen
from memoir_engine.store.plan import IngestPlan, NewCategory, NewChunk, NewDecision, NewHelper, NewSource, Offer


def make_plan(
    source: NewSource,
    helper: NewHelper | None,
    chunks: Sequence[NewChunk],
    chosen: Sequence[Chosen],
    tree: DraftTree,
    *,
    tree_seq: int,
) -> IngestPlan:
    """chosen: by position, then level, as `Filing.walk` returns them."""
    numbers = _numbers(chosen)
    drafts = {node.id: node for node in tree.drafts}
    offers = list(dict.fromkeys(_offer(choice.offer, numbers) for choice in chosen))
    index = {offer: i for i, offer in enumerate(offers)}
    return IngestPlan(
        source=source,
        helper=helper,
        chunks=tuple(chunks),
        categories=tuple(_category(drafts[old], numbers) for old in numbers),
        offers=tuple(offers),
        decisions=tuple(_decision(choice, index[_offer(choice.offer, numbers)], numbers) for choice in chosen),
        tree_seq=tree_seq,
    )


def _numbers(chosen: Sequence[Chosen]) -> dict[int, int]:
    """Old draft → −1, −2, … in the order of first need; parents come before their children."""
    needed = dict.fromkeys(choice.category for choice in chosen if choice.category < 0)
    return {old: -1 - i for i, old in enumerate(needed)}


def _category(node: Node, numbers: dict[int, int]) -> NewCategory:
    return NewCategory(numbers[node.id], numbers.get(node.parent, node.parent), node.level, node.name)


def _offer(offer: Offer, numbers: dict[int, int]) -> Offer:
    options = tuple((numbers.get(category, category), name) for category, name in offer.options)
    return Offer(offer.level, numbers.get(offer.parent, offer.parent), options, offer.taught)


def _decision(choice: Chosen, offer: int, numbers: dict[int, int]) -> NewDecision:
    placed = choice.placed
    return NewDecision(
        position=placed.position,
        level=choice.level,
        parent=numbers.get(choice.parent, choice.parent),
        offer=offer,
        chosen=numbers.get(choice.category, choice.category),
        call_id=placed.call_id,
        opinions=tuple((numbers.get(category, category), round(score, 4)) for category, score in placed.opinions),
        seen=placed.seen,
        decided_by=placed.decided_by,
        attempts=placed.attempts,
        note="the limit was reached; chosen from the existing names" if placed.decided_by == "limit" else None,
    )
