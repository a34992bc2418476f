"""The view that changes what stands: each verb needs a role, is an action of somebody, and can be undone.

Invariant: the role is checked here, in the engine, whatever a page shows.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memoir_engine import given, owning
from memoir_engine.editing import TreeEdits
from memoir_engine.erasing import Erasures
from memoir_engine.identifying import needs_auditor
from memoir_engine.results import Action, UndoPreview
from memoir_engine.reviewing import Reviews, id_of_caller
from memoir_engine.run import new_id
from memoir_engine.signing import SignOffs

if TYPE_CHECKING:
    from memoir_engine.store.types import Tx


class DocumentsView(Erasures):
    """Sources, read, withdrawn and erased."""

    def passages(self, source_ids: Iterable[int]) -> dict[int, int]:
        """Into how many passages each of them is cut for the search; those that are not searched are left out."""
        from memoir_engine.store import passages

        wanted = given.rows("source_ids", source_ids)
        return self._read(lambda tx: passages.counts(tx, [each for each in wanted if 0 < each <= given.MOST_ID]))

    def withdraw(self, source_id: int, reason: str | None = None) -> Action:
        """Take a source out of the tree; it stays readable. Raises NotAllowed, SourceNotFound, NothingChanges."""
        from memoir_engine.store import filings

        needs_auditor(self._actor, "withdraw a source")
        source_id, reason = given.source(source_id), given.reason(reason)
        engine, actor, action_id = self._engine, self._actor, new_id(self._engine.clock.now())
        return engine.db.write(
            lambda tx: filings.withdraw(tx, source_id, actor=actor.name, reason=reason, clock=engine.clock, action_id=action_id),
            operation=f"the withdrawal of source {source_id}",
        )


class ReviewView(Reviews, SignOffs, TreeEdits):
    """Go through what was decided, correct, sign, and take back."""

    def refile(self, chunk_id: int, category_id: int, reason: str | None = None) -> Action:
        """File a chunk under another leaf. Raises NotAllowed, ChunkNotFound, CategoryNotFound, NotALeaf, NothingChanges."""
        from memoir_engine.store import filings

        self._needs("auditor", "re-file a chunk")
        chunk_id, category_id, reason = given.chunk(chunk_id), given.category(category_id), given.reason(reason)
        engine, actor, action_id = self._engine, self._actor, self._new_action()
        return engine.db.write(
            lambda tx: filings.refile(
                tx, chunk_id, category_id, actor=actor.name, reason=reason, clock=engine.clock, action_id=action_id
            ),
            operation=f"the re-filing of chunk {chunk_id}",
        )

    def preview_undo(self, action_id: str) -> UndoPreview:
        """What undoing would change, or what stands in the way."""
        from memoir_engine.store import fact_actions, undo

        limit, whose, action_id = self._engine.resolved.config.limit, owning.any_of(self._actor), given.action(action_id)

        def work(tx: Tx) -> UndoPreview:
            fact_actions.refuse_foreign(tx, whose, action_id)
            return undo.preview(tx, action_id, limits=limit)

        return self._read(work)

    def undo(self, action_id: str, reason: str | None = None, *, undo_id: str | None = None) -> Action:
        """Append the inverses of an action. Raises UndoBlocked (E703) naming what stands in the way.

        undo_id: the id of this action, where the caller gives it (26 letters and digits): with the same one it happens once.
        """
        from memoir_engine.store import fact_actions, undo

        self._needs("auditor", "undo an action")
        whose, action_id, reason = owning.any_of(self._actor), given.action(action_id), given.reason(reason)
        self._read(lambda tx: fact_actions.refuse_foreign(tx, whose, action_id))
        engine, actor = self._engine, self._actor
        own = self._new_action() if undo_id is None else id_of_caller("undo_id", undo_id)
        return engine.db.write(
            lambda tx: undo.undo(
                tx,
                action_id,
                actor=actor.name,
                reason=reason,
                clock=engine.clock,
                limits=engine.resolved.config.limit,
                undo_id=own,
            ),
            operation=f"the undoing of {action_id}",
        )
