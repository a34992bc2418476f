"""The part of the review that edits the tree by hand: each verb is one action, shown before it is done, and can be undone.

Invariant: the role is checked here, in the engine, whatever a page shows; preview and edit come from the same plan.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.errors import NotAllowed
from memoir_engine.core.results import Action, EditPreview
from memoir_engine.core.run import Role, new_id
from memoir_engine.runtime.engine import View
from memoir_engine.store.tree import edit_draft, edit_plan
from memoir_engine.store.tree.edit_draft import Edit


class TreeEdits(View):
    """Make, rename, move, merge, split and retire categories; file many chunks anew."""

    def create(self, parent_id: int | None, name: str, *, reason: str | None = None) -> Action:
        """An empty category below a parent, or at level 1. Raises NameTaken, LimitReached, WrongLevel, NameInvalid."""
        return self._edit(edit_draft.create(parent_id, name), "make a category", reason)

    def rename(self, category_id: int, name: str, *, reason: str | None = None) -> Action:
        """Raises NameTaken, NameInvalid, NothingChanges."""
        return self._edit(edit_draft.rename(category_id, name), "rename a category", reason)

    def move(self, category_id: int, parent_id: int | None, *, reason: str | None = None) -> Action:
        """Below another parent one level up, with all that it holds. Raises WrongLevel, NameTaken, LimitReached."""
        return self._edit(edit_draft.move(category_id, parent_id), "move a category", reason)

    def merge(self, category_id: int, into_id: int, *, reason: str | None = None) -> Action:
        """Make two of one level one; categories of one name below them become one, too. Raises WrongLevel, LimitReached."""
        return self._edit(edit_draft.merge(category_id, into_id), "merge categories", reason)

    def split(self, category_id: int, chosen: Iterable[int], name: str, *, reason: str | None = None) -> Action:
        """Put what was chosen, chunks of a leaf or categories below an inner one, into a new category beside it.

        Raises NotInside, NothingChanges (nothing or all was chosen), NameTaken, LimitReached, NameInvalid.
        """
        return self._edit(edit_draft.split(category_id, chosen, name), "split a category", reason)

    def retire(self, category_id: int, *, reason: str | None = None) -> Action:
        """Close an empty category. Raises CategoryInUse, which says what is in it."""
        return self._edit(edit_draft.retire(category_id), "retire a category", reason)

    def refile_many(self, chunk_ids: Iterable[int], category_id: int, *, reason: str | None = None) -> Action:
        """File chunks under another leaf, as one action; those that are there already stay. Raises ChunkNotFound, NotALeaf."""
        return self._edit(edit_draft.refile_many(chunk_ids, category_id), "re-file chunks", reason)

    def preview(self, verb: str, *arguments: Any, **named: Any) -> EditPreview:
        """Return what one of these verbs would do with the same arguments, or what prevents it. Changes nothing."""
        self._needs("auditor", "preview an edit of the tree")
        named.pop("reason", None)
        edit, limits = _checked(edit_draft.make_edit(verb, *arguments, **named)), self._engine.resolved.config.limit
        return self._read(lambda tx: edit_plan.preview(tx, edit, limits=limits))

    def _edit(self, edit: Edit, what: str, reason: str | None) -> Action:
        self._needs("auditor", what)
        edit, why = _checked(edit), validation.reason(reason)
        engine, actor, action_id = self._engine, self._actor, self._new_action()
        done = engine.db.write(
            lambda tx: edit_plan.perform(
                tx,
                edit,
                actor=actor.name,
                reason=why,
                limits=engine.resolved.config.limit,
                clock=engine.clock,
                action_id=action_id,
            ),
            operation=f"the edit of the tree ({edit.verb})",
        )
        engine.keeper.later()
        return done

    def _new_action(self) -> str:
        """Its id beforehand, so that a unit that is run again finds what it already wrote."""
        return new_id(self._engine.clock.now())

    def _needs(self, role: Role, verb: str) -> None:
        if role not in self._actor.roles:
            raise NotAllowed(actor=self._actor.name, verb=verb, role=role)


def _checked(edit: Edit) -> Edit:
    """Check the ids and the name of an edit. Raises InvalidSetting, CategoryNotFound, ChunkNotFound."""
    is_new, at_top = edit.verb in ("create", "refile_many"), edit.verb in ("create", "move") and edit.other == 0
    return replace(
        edit,
        category=edit.category if is_new else validation.category(edit.category),
        other=0 if at_top or edit.verb in ("rename", "split", "retire") else validation.category(edit.other),
        chosen=tuple(validation.chunk(each) if is_new else validation.cursor("chosen", each) for each in edit.chosen),
        name=validation.raw_text("name", edit.name),
    )
