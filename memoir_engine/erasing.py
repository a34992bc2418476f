"""The view that erases: shown first, done once, final.

Invariant: the role is checked here, in the engine. When `erase` returns, the text is out of the database and out of the index on
disk; what a database file keeps of deleted rows is overwritten, at the next opening where somebody else is reading it now. Where
another process writes the index, it goes from there at that process's next search, or at the next opening.
Source: DESIGN §6; API `memory.sources.erase`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memoir_engine import given
from memoir_engine.errors import InvalidSetting, NotAllowed
from memoir_engine.reading import SourcesView
from memoir_engine.results import Action, ErasurePreview, Tombstone
from memoir_engine.run import new_id


class Erasures(SourcesView):
    """Sources, read and erased."""

    def preview_erase(
        self, source_id: int, *, keep: Iterable[int] = (), rename: Mapping[int, str] | None = None
    ) -> ErasurePreview:
        """What erasing would take away, and which category names quote the text. Changes nothing.

        keep: categories whose names stay as they are. rename: names for categories instead of "erased category n".
        Raises NotAllowed, SourceNotFound, NothingChanges, NameTaken, NameInvalid.
        """
        from memoir_engine.store import erasures

        self._needs_admin("preview an erasure")
        source_id, kept, names = given.source(source_id), _categories(keep), _names(rename)
        return self._read(lambda tx: erasures.preview(tx, source_id, keep=kept, rename=names))

    def erase(self, source_id: int, reason: str, *, keep: Iterable[int] = (), rename: Mapping[int, str] | None = None) -> Action:
        """Take the text of a source out of every place that holds it, for good.

        Other versions of the source stay: each is erased by itself. Runs under way that may hold the text fail, and can be
        started again. Raises as the preview does, and InvalidSetting without a reason.
        """
        from memoir_engine.store import erasures

        self._needs_admin("erase a source")
        source_id, kept, names, why = given.source(source_id), _categories(keep), _names(rename), _reason(reason)
        engine, actor, action_id = self._engine, self._actor, new_id(self._engine.clock.now())
        done = engine.db.write(
            lambda tx: erasures.erase(
                tx, source_id, actor=actor.name, reason=why, clock=engine.clock, action_id=action_id, keep=kept, rename=names
            ),
            operation=f"the erasure of source {source_id}",
        )
        engine.keeper.erased()
        engine.nearness.kept.forget()
        return done

    def tombstone(self, source_id: int) -> Tombstone | None:
        """Who erased it, when and why; None for a source that was not erased. Raises SourceNotFound."""
        from memoir_engine.store import erasures

        source_id = given.source(source_id)
        return self._read(lambda tx: erasures.tombstone(tx, source_id))

    def _needs_admin(self, verb: str) -> None:
        if "admin" not in self._actor.roles:
            raise NotAllowed(actor=self._actor.name, verb=verb, role="admin")


def _reason(value: object) -> str:
    why = given.text("reason", value).strip()
    if not why:
        raise InvalidSetting(name="reason", value="", problem="it is empty", advice="Say why: it stands on the tombstone.")
    return why


def _categories(value: object) -> tuple[int, ...]:
    return tuple(given.category(each) for each in given.rows("keep", value))


def _names(value: object) -> dict[int, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        advice = "Give a dict of names by the ids of categories, e.g. {12: 'Reports'}."
        raise InvalidSetting(name="rename", value=value, problem="it must be a dictionary", advice=advice)
    return {given.category(number): given.text("rename", name) for number, name in value.items()}
