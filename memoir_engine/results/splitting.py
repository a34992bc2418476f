"""How a category could be split, as the model proposes it.

Invariant: a proposal changes nothing. Each of its groups holds the arguments of one `review.split`, which a person confirms.
Source: DESIGN §6; API "The ledger and the audit".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memoir_engine.results.documents import Path


@dataclass(frozen=True)
class SplitGroup:
    """`chosen` are chunks of a leaf, or categories below an inner one, `chunks` how many chunks that is. `why` is the model's."""

    name: str
    why: str
    chosen: tuple[int, ...]
    chunks: int


@dataclass(frozen=True)
class SplitProposal:
    """groups: none, where the model sees one subject only. stays: what is in no group.

    unseen: how many items were not shown to the model, as there are too many; they stay, too. notes: what of its answer could
    not be taken, in words. run_id: where the call stands, and what `review.proposal` takes.
    """

    run_id: str
    category_id: int
    path: Path
    kind: Literal["chunk", "category"]
    groups: tuple[SplitGroup, ...]
    stays: tuple[int, ...]
    unseen: int = 0
    notes: tuple[str, ...] = ()
