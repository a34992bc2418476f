"""The part of the review that goes through facts: open proposals, what gave way, and what nobody has looked at.

Invariant: a fact belongs to a user, and each read and write says so below. A verdict takes the auditor; it is an action of its
own, done once per id, and can be undone.
Source: DESIGN §6 (who and whose); TIMEM "Supports Reversion".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from memoir_engine import given, owning
from memoir_engine.errors import InvalidSetting, ReviewItemNotFound
from memoir_engine.reading import View
from memoir_engine.results.fact_review import FactKey, FactReviewItem, FactReviewKind, FactReviewPage
from memoir_engine.results.review import ReviewState, ReviewStep

if TYPE_CHECKING:
    from memoir_engine.review.fact_order import Spot
    from memoir_engine.store.fact_reviews import Asked
    from memoir_engine.store.types import Tx

MOST_ITEMS = 500
VERDICTS = ("approve", "reject", "skip")


class FactReviews(View):
    """Facts that wait for a person."""

    def facts(
        self,
        user_id: str | None = None,
        *,
        kind: FactReviewKind | None = None,
        state: ReviewState | None = "unreviewed",
        limit: int = 50,
        after: str | None = None,
    ) -> FactReviewPage:
        """What waits, the most doubtful first; what was skipped comes last. `after` is the cursor of the page before.

        user_id: None is all that the actor may see. kind None: all three. state None: whatever has become of it.
        Their keys are decided by `approve`, `reject`, `skip` and `apply`. Rejecting a fact makes it outdated; rejecting that
        one gave way brings it back into force.
        """
        from memoir_engine.review import fact_order
        from memoir_engine.store import fact_reviews

        whose = owning.any_of(self._actor) if user_id is None else owning.whose(self._actor, user_id)
        for name, value, known in (("state", state, get_args(ReviewState)), ("kind", kind, get_args(FactReviewKind))):
            if value is not None and value not in known:
                advice = f"Use one of: {', '.join(known)}, or None for all."
                raise InvalidSetting(name=name, value=value, problem="there is none of that name", advice=advice)
        most, place = min(given.whole("limit", limit, least=1), MOST_ITEMS), _place(after)

        def work(tx: Tx) -> FactReviewPage:
            held = fact_reviews.held(tx, whose, kind)
            some, behind = fact_order.page(held, state, most, place)
            counts = Counter[str](dict.fromkeys(get_args(ReviewState), 0)) + Counter(one.state for one in held)
            total = len(fact_order.page(held, state, len(held) or 1, None)[0])
            return FactReviewPage(fact_reviews.items(tx, whose, some), total, dict(counts), behind)

        return self._read(work)

    def fact(self, key: str) -> FactReviewItem:
        """The fact or the proposal of a key as it stands now. Raises ReviewItemNotFound; also for one of somebody else."""
        from memoir_engine.store import fact_reviews

        wanted, whose = _key(key), owning.any_of(self._actor)

        def work(tx: Tx) -> tuple[FactReviewItem, ...]:
            found = fact_reviews.one(tx, whose, wanted)
            return () if found is None else fact_reviews.items(tx, whose, [found])

        found = self._read(work)
        if not found:
            raise ReviewItemNotFound(key=key)
        return found[0]


def is_of_fact(step: ReviewStep) -> bool:
    """Whether the step is about a fact, and not about a filing."""
    return isinstance(step.key, str) and step.key.startswith(("fact-", "proposal-"))


def asked(step: ReviewStep) -> Asked:
    """Raises InvalidSetting for what cannot be a step, ReviewItemNotFound for what is no key."""
    from memoir_engine.store.fact_reviews import Asked

    for name, value, known in (("verdict", step.verdict, VERDICTS), ("seen", step.seen, (None, *get_args(ReviewState)))):
        if value not in known:
            advice = "A fact can be approved, rejected or skipped."
            raise InvalidSetting(name=name, value=value, problem="facts know no such one", advice=advice)
    reason = None if step.reason is None else given.text("reason", step.reason)
    return Asked(_key(step.key), step.verdict, reason, step.seen)


def _key(key: object) -> FactKey:
    from memoir_engine.review.fact_order import read_key

    found = read_key(given.text("key", key))
    if found is None or max(found.number, found.since) > given.MOST_ID:
        raise ReviewItemNotFound(key=str(key)[: given.ID_CHARS])
    return found


def _place(after: str | None) -> Spot | None:
    from memoir_engine.review.fact_order import read_cursor

    if after is None:
        return None
    place = read_cursor(given.text("after", after))
    if place is None:
        raise InvalidSetting(name="after", value=after, problem="it is no cursor", advice="Pages carry it: page.after.")
    return place
