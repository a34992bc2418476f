"""What the steps of one look over the tree have done, so that no later step of the same look undoes it.

Invariant: a category gets a name at most once in a look; what a step put together is not split by a later one, and what a step
split is not put together again. The next look may do either: by then a person may have seen the first.
Source: docs/decisions/0067.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memoir_engine.core.results import Action
from memoir_engine.review.proposals import StoredProposal


@dataclass
class Steps:
    """named: ids of categories that got a name. joined: those that others became part of. parts: of a split, by the part."""

    named: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    parts: dict[int, int] = field(default_factory=dict)

    def add(self, step: StoredProposal, done: Action) -> None:
        if step.verb == "split":
            made = {event.body["category"] for event in done.events if event.kind == "category.created"}
            self.parts |= dict.fromkeys(made, step.category_ids[0])
            self.named |= made
            return
        kept = step.category_ids[0] if step.into_id is None else step.into_id
        self.named |= {kept} if step.name else set()
        self.joined |= {kept} if step.verb == "merge" else set()

    def undone_by(self, step: StoredProposal) -> str | None:
        """Return what the proposal would undo, in words; None if nothing."""
        if step.verb == "split":
            return "this look has put it together" if step.category_ids[0] in self.joined else None
        touched = [*step.category_ids, *([] if step.into_id is None else [step.into_id])]
        if len(set(map(self._whole, touched))) < len(touched):
            return "this look has split it"
        return "this look has given it its name" if step.name and touched[-1] in self.named else None

    def _whole(self, category_id: int) -> int:
        while category_id in self.parts:
            category_id = self.parts[category_id]
        return category_id
