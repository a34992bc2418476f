"""Record of what the steps of one look over the tree have done, so that no later step of the same look undoes it.

Invariant: a category gets a name at most once in a look; what a step put together is not split by a later one, and what a step
split is not put together again. The next look may do either: by then a person may have seen the first.
Source: docs/decisions/0067.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from memoir_engine.core.results import Action
from memoir_engine.review.proposals import StoredProposal


@dataclass
class Steps:
    """named: ids of categories that got a name. joined: those that others became part of. parts: what was split, by its parts."""

    named: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    parts: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, step: StoredProposal, done: Action) -> None:
        if step.verb == "split":
            made = {event.body["category"] for event in done.events if event.kind == "category.created"}
            for part in (*made, step.category_ids[0]):
                self.parts[part].add(step.category_ids[0])
            self.named |= made
            return
        kept = step.category_ids[0] if step.into_id is None else step.into_id
        self.named |= {kept} if step.name else set()
        if step.verb == "merge":
            self.joined.add(kept)
            self.parts[kept].update(*(self.parts[other] for other in step.category_ids))

    def undone_by(self, step: StoredProposal) -> str | None:
        """Return what the proposal would undo, in words; None if nothing."""
        if step.verb == "split":
            return "this look has put it together" if step.category_ids[0] in self.joined else None
        touched = [*step.category_ids, *([] if step.into_id is None else [step.into_id])]
        if any(self.parts[one] & self.parts[other] for one, other in combinations(touched, 2)):
            return "this look has split it"
        return "this look has given it its name" if step.name and touched[-1] in self.named else None
