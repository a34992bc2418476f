"""`memory.facts`: list facts, follow them through time, restore, settle and forget them.

Invariants: every read and write below carries the owner, so that another user's fact answers like a missing one. Roles are
checked here: everybody reads their own facts, auditors change them, admins forget them.
Source: API "Facts"; TIMEM; DESIGN §6 (who and whose).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal

from memoir_engine.core import validation
from memoir_engine.core.errors import FactNotFound, InvalidSetting
from memoir_engine.core.results import Action
from memoir_engine.core.results.facts import FactLineage, FactProposal, FactRelation, FactStatus, FactView, ForgetPreview
from memoir_engine.facts.recall import SeqOrTime, moment_of, seq_of, valid_moment
from memoir_engine.runtime import access, messages
from memoir_engine.runtime.access import needs_admin, needs_auditor
from memoir_engine.runtime.engine import View
from memoir_engine.store.facts import facts, reviews
from memoir_engine.store.facts import forget as facts_forget

UID_CHARS = 36
STATES = ("open", "approved", "rejected")


class FactsView(View):
    """Facts of the users whom the actor may see."""

    def list(
        self,
        user_id: str | None = None,
        status: FactStatus | None = None,
        as_of: SeqOrTime | None = None,
        valid_at: datetime | str | None = None,
        limit: int = 1000,
        before: str | None = None,
        session_id: str | None = None,
    ) -> tuple[FactView, ...]:
        """List facts, the last learned first.

        user_id: None is the actor's own. as_of: what was believed then (a seq or an aware time). valid_at: what was true then.
        before: id of the last fact of the previous page. session_id: only facts drawn from this conversation of the user.
        """
        owner, most = access.whose(self._actor, user_id), validation.limit(limit)
        if status not in (None, "active", "outdated"):
            advice = "Use 'active' or 'outdated', or leave it out."
            raise InvalidSetting(name="status", value=status, problem="there is no such status", advice=advice)
        last = None if before is None else _fact_uid(before)
        when, at = moment_of(as_of), valid_moment(valid_at)
        session = None if session_id is None else messages.session(session_id)
        return self._read(
            lambda tx: facts.list_facts(
                tx, owner, status=status, seq=seq_of(tx, when), valid_at=at, limit=most, before=last, session_id=session
            )
        )

    def get(self, fact_id: str, as_of: SeqOrTime | None = None) -> FactView:
        """Return one fact. Raises FactNotFound, also for a fact of somebody else."""
        whose, uid, when = access.any_of(self._actor), _fact_uid(fact_id), moment_of(as_of)
        return self._read(lambda tx: facts.get(tx, whose, uid, seq_of(tx, when)))

    def lineage(self, fact_id: str, as_of: SeqOrTime | None = None) -> FactLineage:
        """Return the facts it replaced and those that replaced it, oldest first. Raises FactNotFound."""
        whose, uid, when = access.any_of(self._actor), _fact_uid(fact_id), moment_of(as_of)
        return self._read(lambda tx: facts.lineage(tx, whose, uid, seq_of(tx, when)))

    def relations(
        self, user_id: str | None = None, fact_id: str | None = None, limit: int = 1000, after: FactRelation | None = None
    ) -> tuple[FactRelation, ...]:
        """List relations between current facts, of a user or of one fact, in the order in which the facts were learned.

        after: the last relation of the previous page. Raises FactNotFound if its facts do not exist.
        """
        most, last = validation.limit(limit), None if after is None else _checked_relation(after)
        if fact_id is not None:
            whose, uid = access.any_of(self._actor), _fact_uid(fact_id)
            return self._read(lambda tx: facts.relations(tx, whose, uid, limit=most, after=last))
        owner = access.whose(self._actor, user_id)
        return self._read(lambda tx: facts.relations(tx, owner, limit=most, after=last))

    def counts(self, user_id: str | None = None, as_of: SeqOrTime | None = None) -> dict[tuple[str, str], int]:
        """Count facts by (type, status)."""
        owner, when = access.whose(self._actor, user_id), moment_of(as_of)
        return self._read(lambda tx: facts.counts(tx, owner, seq_of(tx, when)))

    def users(self) -> tuple[tuple[str | None, int], ...]:
        """List the users whose facts the actor may see, with how many each has; None is the workspace."""
        whose = access.any_of(self._actor)
        return self._read(lambda tx: facts.users(tx, whose))

    def proposals(
        self, user_id: str | None = None, state: Literal["open", "approved", "rejected"] | None = "open", limit: int = 200
    ) -> tuple[FactProposal, ...]:
        """List proposals that wait for a person, or settled ones, newest first. user_id: None is all that the actor may see."""
        if state is not None and state not in STATES:
            advice = f"Use one of: {', '.join(STATES)}, or None for all."
            raise InvalidSetting(name="state", value=state, problem="there is no such state", advice=advice)
        whose = access.any_of(self._actor) if user_id is None else access.whose(self._actor, user_id)
        most = validation.limit(limit)
        return self._read(lambda tx: facts.proposals(tx, whose, state=state, limit=most))

    def restore(self, fact_id: str, reason: str | None = None) -> Action:
        """Make an outdated fact active again, beside the one that replaced it.

        Raises NotAllowed, FactNotFound, FactNotOutdated.
        """
        needs_auditor(self._actor, "restore a fact")
        return self._decide(reviews.restore, _fact_uid(fact_id), reason, f"fact {fact_id} to be in force again")

    def approve(self, proposal_id: int, reason: str | None = None) -> Action:
        """Carry out a proposal. Raises NotAllowed, ProposalNotFound."""
        needs_auditor(self._actor, "approve a proposal")
        number = validation.cursor("proposal_id", proposal_id)
        return self._decide(reviews.approve, number, reason, f"the proposal {proposal_id}")

    def reject(self, proposal_id: int, reason: str | None = None) -> Action:
        """Leave both facts as they are. Raises NotAllowed, ProposalNotFound."""
        needs_auditor(self._actor, "reject a proposal")
        number = validation.cursor("proposal_id", proposal_id)
        return self._decide(reviews.reject, number, reason, f"the proposal {proposal_id}")

    def preview_forget(self, fact_id: str) -> ForgetPreview:
        """Return what `forget` would erase, by place, and where its words would remain. Raises FactNotFound."""
        whose, uid = access.any_of(self._actor), _fact_uid(fact_id)
        return self._read(lambda tx: facts_forget.preview(tx, whose, uid))

    def forget(self, fact_id: str, reason: str) -> Action:
        """Erase a fact for good: its words, the words in messages that state it, its vector, every prompt and reply with them.

        Its parts and the merged facts made of it are erased with it; other parts of those become active again. A tombstone
        keeps that there was a fact, who had it forgotten, when and why. Raises NotAllowed, FactNotFound.
        """
        needs_admin(self._actor, "forget a fact")
        whose, uid, why = access.any_of(self._actor), _fact_uid(fact_id), validation.text("reason", reason)
        planned = self._read(lambda tx: facts_forget.plan_forget(tx, whose, uid))
        forget = partial(facts_forget.forget, plan=planned)
        action = self._decide(forget, uid, why, "the forgetting of a fact")
        self._engine.nearness.kept.forget()
        self._engine.db.compact()
        return action

    def _decide(self, work: Callable[..., Action], subject: object, reason: str | None, operation: str) -> Action:
        """Perform an action on a fact or a proposal."""
        whose, reason, signature = access.any_of(self._actor), validation.reason(reason), self._engine.signature(self._actor)
        return self._engine.db.write(lambda tx: work(tx, whose, subject, reason=reason, **signature), operation=operation)


def _fact_uid(fact_id: object) -> str:
    """Check a fact id. Raises FactNotFound for an id that no fact can have, as for one that no fact has."""
    uid = validation.text("fact_id", fact_id)
    if len(uid) > UID_CHARS or not uid.isascii():
        raise FactNotFound(fact_id=uid[:UID_CHARS])
    return uid


def _checked_relation(after: object) -> FactRelation:
    """Check the last relation of the previous page."""
    if isinstance(after, FactRelation):
        kind = validation.text("after.kind", after.kind)
        return replace(after, source=_fact_uid(after.source), target=_fact_uid(after.target), kind=kind)
    advice = "Give the last relation of the page before, as relations() returned it."
    raise InvalidSetting(name="after", value=after, problem="not a valid relation: expected a FactRelation", advice=advice)
