"""The view that changes what stands: each verb needs a role, is an action of somebody, and can be undone.

Invariant: the role is checked here, in the engine, whatever a page shows.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from memoir_engine.core import validation
from memoir_engine.core.results import Action, UndoPreview
from memoir_engine.review.edits import TreeEdits
from memoir_engine.review.queue import Reviews, id_of_caller
from memoir_engine.review.sign_off import SignOffs
from memoir_engine.runtime import access
from memoir_engine.store import undo
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import reviews
from memoir_engine.store.tree import filings


class ReviewView(Reviews, SignOffs, TreeEdits):
    """Go through what was decided, correct, sign, and take back."""

    def refile(self, chunk_id: int, category_id: int, reason: str | None = None) -> Action:
        """File a chunk under another leaf. Raises NotAllowed, ChunkNotFound, CategoryNotFound, NotALeaf, NothingChanges."""
        self._needs("auditor", "re-file a chunk")
        chunk_id, category_id, reason = validation.chunk(chunk_id), validation.category(category_id), validation.reason(reason)
        engine, actor, action_id = self._engine, self._actor, self._new_action()
        return engine.db.write(
            lambda tx: filings.refile(
                tx, chunk_id, category_id, actor=actor.name, reason=reason, clock=engine.clock, action_id=action_id
            ),
            operation=f"the re-filing of chunk {chunk_id}",
        )

    def preview_undo(self, action_id: str) -> UndoPreview:
        """Return what undoing would change, or what prevents it."""
        limit, whose, action_id = self._engine.resolved.config.limit, access.any_of(self._actor), validation.action(action_id)

        def work(tx: Tx) -> UndoPreview:
            reviews.check_owner(tx, whose, action_id)
            return undo.preview(tx, action_id, limits=limit)

        return self._read(work)

    def undo(self, action_id: str, reason: str | None = None, *, undo_id: str | None = None) -> Action:
        """Append the inverses of an action. Raises UndoBlocked (E703) naming what stands in the way.

        undo_id: the id of this action, where the caller gives it (26 letters and digits): with the same one it happens once.
        """
        self._needs("auditor", "undo an action")
        whose, action_id, reason = access.any_of(self._actor), validation.action(action_id), validation.reason(reason)
        self._read(lambda tx: reviews.check_owner(tx, whose, action_id))
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
