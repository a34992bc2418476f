"""The part of the review that signs: a person stands for a source or a branch as it is, with a statement.

Invariant: the role is checked here, in the engine, whatever a page shows. A signature can be undone like any action.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results import Action, SignOff, SignOffPreview
from memoir_engine.core.run import new_id
from memoir_engine.runtime.access import needs_auditor
from memoir_engine.runtime.engine import View
from memoir_engine.store.events import sentences
from memoir_engine.store.review import sign_offs
from memoir_engine.store.review.sign_offs import Subject

STATEMENT_CHARS = 4_000


class SignOffs(View):
    """Sign, and see whether what was signed still stands."""

    def sign_off(self, source_id: int, statement: str, *, expected: str | None = None) -> Action:
        """Stand for a source as it is now. `expected`: the digest of `preview_sign_off`, of what the signer has seen.

        Raises NotAllowed, SourceNotFound, SignedStateChanged, NothingChanges (signed by the same person already).
        """
        needs_auditor(self._actor, "sign off")
        return self._sign("source", validation.source(source_id), statement, expected)

    def sign_off_category(self, category_id: int, statement: str, *, expected: str | None = None) -> Action:
        """The same for a category with all below it. Raises CategoryNotFound, too."""
        needs_auditor(self._actor, "sign off")
        return self._sign("category", validation.category(category_id), statement, expected)

    def preview_sign_off(self, *, source_id: int | None = None, category_id: int | None = None) -> SignOffPreview:
        """Return what a signature would cover, of a source or of a category. Raises SourceNotFound, CategoryNotFound."""
        subject, number = _subject(source_id, category_id)
        if subject is None or number is None:
            raise InvalidSetting(
                name="source_id", value=None, problem="there is nothing to sign", advice="Give one of the two ids."
            )
        return self._read(lambda tx: sign_offs.preview(tx, subject, number))

    def sign_offs(
        self, *, source_id: int | None = None, category_id: int | None = None, limit: int = 100, before: int | None = None
    ) -> tuple[SignOff, ...]:
        """Newest first, below the seq `before`; of one source or category, or all."""
        subject, number = _subject(source_id, category_id)
        most = validation.limit(limit)
        below = None if before is None else validation.cursor("before", before)
        found = self._read(lambda tx: sign_offs.listed(tx, subject=subject, number=number, before=below, limit=most))
        return sentences.sign_offs(found)

    def _sign(self, subject: Subject, number: int, statement: str, expected: str | None) -> Action:
        words = _statement(statement)
        seen = None if expected is None else validation.text("expected", expected)
        engine, actor, action_id = self._engine, self._actor, new_id(self._engine.clock.now())
        return engine.db.write(
            lambda tx: sign_offs.sign(
                tx,
                subject,
                number,
                actor=actor.name,
                statement=words,
                clock=engine.clock,
                expected=seen,
                action_id=action_id,
            ),
            operation=f"the signature under {subject} {number}",
        )


def _subject(source_id: int | None, category_id: int | None) -> tuple[Subject | None, int | None]:
    if source_id is not None and category_id is not None:
        advice = "Give source_id or category_id."
        raise InvalidSetting(name="category_id", value=category_id, problem="it is one or the other", advice=advice)
    if source_id is not None:
        return "source", validation.source(source_id)
    return (None, None) if category_id is None else ("category", validation.category(category_id))


def _statement(value: object) -> str:
    words = validation.text("statement", value).strip()
    if not words:
        advice = "Say what you stand for, e.g. 'I have read all of it, and it is filed where it belongs.'"
        raise InvalidSetting(name="statement", value=words, problem="it is empty", advice=advice)
    if len(words) > STATEMENT_CHARS:
        advice = f"Shorten it to {STATEMENT_CHARS} characters."
        raise InvalidSetting(name="statement", value="…", problem=f"it is {len(words)} characters long", advice=advice)
    return words
