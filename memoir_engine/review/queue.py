"""The part of the review that goes through what was decided: a queue by risk, the evidence of an item, and verdicts.

Invariant: everybody may read the queue, a verdict takes the auditor, checked here whatever a page shows. Each step is an action
of its own, done once however often it is sent; one that cannot be done never keeps another from being done.
Source: API "The ledger and the audit"; DESIGN §6, §9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import get_args

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting, MemoirError, ReviewItemNotFound
from memoir_engine.core.results import Action, ReviewEvidence, ReviewItem, ReviewPage, StepOutcome, StepsPreview
from memoir_engine.core.results import ReviewState as results_ReviewState
from memoir_engine.core.results import ReviewStep as results_ReviewStep
from memoir_engine.core.results.review import (
    FactKey,
    FactReviewItem,
    FactReviewKind,
    FactReviewPage,
    ReviewState,
    ReviewStep,
    Verdict,
)
from memoir_engine.core.run import new_id
from memoir_engine.review import item, order
from memoir_engine.review.item import outcome_of
from memoir_engine.review.order import CODES, FactPosition, Wanted, read_fact_cursor, read_fact_key, read_key
from memoir_engine.runtime import access
from memoir_engine.runtime.access import needs_auditor
from memoir_engine.runtime.view import View
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import reviews
from memoir_engine.store.facts.reviews import FactDecision
from memoir_engine.store.review import reviews as review_reviews
from memoir_engine.store.review.reviews import ReviewDecision
from memoir_engine.store.tree import categories
from memoir_engine.store.tree.edit_draft import below

# === fact_reviewing: The part of the review that goes through facts: open proposals, what gave way, and what nobody has
# looked at.
#
# Invariant: a fact belongs to a user, and each read and write says so below. A verdict takes the auditor; it is an action
# of its
# own, done once per id, and can be undone.
# Source: DESIGN §6 (who and whose); TIMEM "Supports Reversion".


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
        whose = access.any_of(self._actor) if user_id is None else access.whose(self._actor, user_id)
        for name, value, known in (("state", state, get_args(ReviewState)), ("kind", kind, get_args(FactReviewKind))):
            if value is not None and value not in known:
                advice = f"Use one of: {', '.join(known)}, or None for all."
                raise InvalidSetting(name=name, value=value, problem="there is none of that name", advice=advice)
        most, place = min(validation.whole("limit", limit, least=1), MOST_ITEMS), _place(after)

        def work(tx: Tx) -> FactReviewPage:
            held = reviews.review_items(tx, whose, kind)
            some, behind = order.fact_page(held, state, most, place)
            counts = Counter[str](dict.fromkeys(get_args(ReviewState), 0)) + Counter(one.state for one in held)
            total = len(order.fact_page(held, state, len(held) or 1, None)[0])
            return FactReviewPage(reviews.item_views(tx, whose, some), total, dict(counts), behind)

        return self._read(work)

    def fact(self, key: str) -> FactReviewItem:
        """The fact or the proposal of a key as it stands now. Raises ReviewItemNotFound; also for one of somebody else."""
        wanted, whose = _key(key), access.any_of(self._actor)

        def work(tx: Tx) -> tuple[FactReviewItem, ...]:
            found = reviews.get_item(tx, whose, wanted)
            return () if found is None else reviews.item_views(tx, whose, [found])

        found = self._read(work)
        if not found:
            raise ReviewItemNotFound(key=key)
        return found[0]


def is_of_fact(step: ReviewStep) -> bool:
    """Whether the step is about a fact, and not about a filing."""
    return isinstance(step.key, str) and step.key.startswith(("fact-", "proposal-"))


def fact_request(step: ReviewStep) -> FactDecision:
    """Raises InvalidSetting for what cannot be a step, ReviewItemNotFound for what is no key."""
    for name, value, known in (("verdict", step.verdict, VERDICTS), ("seen", step.seen, (None, *get_args(ReviewState)))):
        if value not in known:
            advice = "A fact can be approved, rejected or skipped."
            raise InvalidSetting(name=name, value=value, problem="facts know no such one", advice=advice)
    reason = None if step.reason is None else validation.text("reason", step.reason)
    return FactDecision(_key(step.key), step.verdict, reason, step.seen)


def _key(key: object) -> FactKey:
    found = read_fact_key(validation.text("key", key))
    if found is None or max(found.number, found.since) > validation.MOST_ID:
        raise ReviewItemNotFound(key=str(key)[: validation.ID_CHARS])
    return found


def _place(after: str | None) -> FactPosition | None:
    if after is None:
        return None
    place = read_fact_cursor(validation.text("after", after))
    if place is None:
        raise InvalidSetting(name="after", value=after, problem="it is no cursor", advice="Pages carry it: page.after.")
    return place


# === reviewing


SAMPLE_PERCENT = 5.0  # of all filings, where nobody says otherwise
ID_CHARS = 26
TOGETHER = 20  # steps of one transaction: short enough for others to come between


class Reviews(FactReviews):
    """Approve, re-file, reject or skip what the model decided."""

    def queue(
        self,
        *,
        kind: str | None = None,
        source: int | None = None,
        branch: int | None = None,
        reason: str | None = None,
        reviewer: str | None = None,
        state: results_ReviewState | None = "unreviewed",
        sample: float | None = None,
        seed: int = 0,
        limit: int = 50,
        after: str | None = None,
    ) -> ReviewPage:
        """Filings that wait for a person, the riskiest first; what was skipped comes last. `after`: the cursor of the last page.

        Facts, and changes of facts that were proposed, belong to users and wait in a queue of their own: `facts()`.
        The same verbs decide both.

        kind: "filing". source, branch: of this source, filed in or below this category. reason: a code of `RiskReason`.
        state None: whatever has become of it. sample: percent of all filings that are drawn by lot, with `seed`; 5 if not given.
        """
        wanted = self._wanted(source, branch, reason, reviewer)
        _known("state", state, get_args(results_ReviewState))
        if kind in get_args(FactReviewKind):
            advice = f"Ask review.facts(kind={kind!r})."
            raise InvalidSetting(name="kind", value=kind, problem="facts wait in a queue of their own", advice=advice)
        _known("kind", kind, ("filing",))
        _known("reason", reason, CODES)
        place = None if after is None else order.read_cursor(validation.text("after", after))
        if after is not None and place is None:
            raise InvalidSetting(name="after", value=after, problem="it is no cursor", advice="Pages carry it: page.after.")
        most = min(validation.whole("limit", limit, least=1), MOST_ITEMS)
        lot = order.Lot(SAMPLE_PERCENT if sample is None else _percent(sample), validation.number("seed", seed))
        waiting = self._engine.waiting.weighed(self._engine.db, lot)
        page = order.page(waiting, wanted, state=state, limit=most, after=place)
        return ReviewPage(self._read(lambda tx: item.items(tx, page.items)), page.total, page.counts, page.after)

    def item(self, key: str) -> ReviewEvidence:
        """All that the decision on one item needs. Raises ReviewItemNotFound."""
        waiting = self._engine.waiting.weighed(self._engine.db, order.Lot(SAMPLE_PERCENT))
        found = order.find(waiting, validation.text("key", key))
        if found is None:
            raise ReviewItemNotFound(key=key[: validation.ID_CHARS])
        return item.evidence(self._engine, found)

    def of_chunk(self, chunk_id: int) -> ReviewItem:
        """The item of a chunk as it stands now. Raises ReviewItemNotFound."""
        number, lot = validation.chunk(chunk_id), order.Lot(SAMPLE_PERCENT)
        found = next((one for one in self._engine.waiting.weighed(self._engine.db, lot) if one.filed.chunk_id == number), None)
        if found is None:
            raise ReviewItemNotFound(key=f"of chunk {number}")
        return self._read(lambda tx: item.items(tx, (found,)))[0]

    def apply(self, steps: Sequence[results_ReviewStep]) -> tuple[StepOutcome, ...]:
        """Do them in their order, each as an action of its own whose id is its `step_id`, and once however often it is sent.

        Raises NotAllowed; what keeps a single step from being done is in its outcome.
        """
        needs_auditor(self._actor, "review")
        outcomes: list[StepOutcome] = []
        for some in _portions(_steps(steps)):
            outcomes += self._together(some)
        if any(one.outcome == "done" for one in outcomes):
            self._engine.keeper.later()
        return tuple(outcomes)

    def preview_steps(self, steps: Sequence[results_ReviewStep]) -> StepsPreview:
        """What they would do, one after another, and which would not be done and why. Changes nothing."""
        needs_auditor(self._actor, "review")
        known = _steps(steps)
        return self._read(lambda tx: item.preview(tx, known, _asked, actor=self._actor.name))

    def approve(self, key: str, reason: str | None = None) -> Action:
        """It is in the right place. Raises NotAllowed, ReviewItemNotFound, ReviewOvertaken, NothingChanges."""
        return self._verdict(key, "approve", reason)

    def reject(self, key: str, reason: str | None = None) -> Action:
        """It is wrong there, and the right place is not known: the chunk leaves the tree until somebody files it."""
        return self._verdict(key, "reject", reason)

    def skip(self, key: str, reason: str | None = None) -> Action:
        """Not now: it comes last."""
        return self._verdict(key, "skip", reason)

    def _verdict(self, key: str, verdict: Verdict, reason: str | None) -> Action:
        needs_auditor(self._actor, verdict)
        engine, action_id = self._engine, new_id(self._engine.clock.now())
        step = results_ReviewStep(action_id, validation.text("key", key), verdict, reason=reason)
        if is_of_fact(step):
            return self._verdict_on_fact(step)
        asked = _asked(step)
        done = engine.db.write(
            lambda tx: review_reviews.perform(
                tx, review_reviews.as_it_stands(tx, asked), actor=self._actor.name, clock=engine.clock, action_id=action_id
            ),
            operation=f"the review of {key}",
        )
        engine.keeper.later()
        return done

    def _verdict_on_fact(self, step: results_ReviewStep) -> Action:
        asked, whose, engine, actor = fact_request(step), access.any_of(self._actor), self._engine, self._actor.name

        def work(tx: Tx) -> Action:
            seen = reviews.as_it_stands(tx, whose, asked)
            return reviews.perform(tx, whose, seen, actor=actor, clock=engine.clock, action_id=step.step_id)

        return engine.db.write(work, operation=f"the review of {step.key}")

    def _together(self, steps: Sequence[results_ReviewStep]) -> list[StepOutcome]:
        return self._engine.db.write(lambda tx: [self._step(tx, one) for one in steps], operation="the review")

    def _step(self, tx: Tx, step: results_ReviewStep) -> StepOutcome:
        actor, clock = self._actor.name, self._engine.clock
        try:
            if is_of_fact(step):
                id_of_caller("step_id", step.step_id)
                about, whose = fact_request(step), access.any_of(self._actor)
                if reviews.done_before(tx, about, actor=actor, action_id=step.step_id):
                    return StepOutcome(step.step_id, step.key, "again", action_id=step.step_id)
                reviews.perform(tx, whose, about, actor=actor, clock=clock, action_id=step.step_id)
                return StepOutcome(step.step_id, step.key, "done", action_id=step.step_id)
            asked = _asked(step)
            if review_reviews.done_before(tx, asked, actor=self._actor.name, action_id=step.step_id):
                return StepOutcome(step.step_id, step.key, "again", action_id=step.step_id)
            review_reviews.perform(tx, asked, actor=self._actor.name, clock=self._engine.clock, action_id=step.step_id)
        except MemoirError as refused:
            return outcome_of(step, refused)
        return StepOutcome(step.step_id, step.key, "done", action_id=step.step_id)

    def _wanted(self, source: int | None, branch: int | None, reason: str | None, reviewer: str | None) -> Wanted:
        number = None if branch is None else validation.category(branch)
        return Wanted(
            source=None if source is None else validation.source(source),
            branch=None if number is None else self._read(lambda tx: below(categories.open_tree(tx).values(), number)),
            reason=reason,
            reviewer=reviewer,
        )


def id_of_caller(name: str, value: object) -> str:
    """The id of an action that its caller made, so that it is done once however often it is sent."""
    known = validation.text(name, value)
    if len(known) != ID_CHARS or not known.isascii() or not known.isalnum():
        raise InvalidSetting(name=name, value=known, problem=f"it must be {ID_CHARS} letters and digits", advice="Use a ULID.")
    return known


def _asked(step: results_ReviewStep) -> ReviewDecision:
    """Raises InvalidSetting for what cannot be a step, ReviewItemNotFound for what is no key."""
    _known("verdict", step.verdict, get_args(Verdict))
    _known("seen", step.seen, get_args(results_ReviewState))
    id_of_caller("step_id", step.step_id)
    key = read_key(validation.text("key", step.key))
    if key is None or max(key) > validation.MOST_ID:
        raise ReviewItemNotFound(key=step.key[: validation.ID_CHARS])
    category = None
    if step.verdict == "refile":
        category = validation.category(step.category_id)
    reason = None if step.reason is None else validation.text("reason", step.reason)
    return ReviewDecision(*key, step.verdict, category, reason, step.seen)


def _portions(steps: Sequence[results_ReviewStep]) -> list[Sequence[results_ReviewStep]]:
    """Filings and facts apart, so that no transaction takes the locks of both."""
    alike = [tuple(some) for _, some in groupby(steps, key=is_of_fact)]
    return [some[at : at + TOGETHER] for some in alike for at in range(0, len(some), TOGETHER)]


def _steps(value: object) -> tuple[results_ReviewStep, ...]:
    """Raises InvalidSetting."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidSetting(name="steps", value=value, problem="it must be a list", advice="Give a list of ReviewStep.")
    steps = tuple(value)
    for one in steps:
        if not isinstance(one, results_ReviewStep):
            raise InvalidSetting(name="steps", value=one, problem="it is no step", advice="Give a list of ReviewStep.")
    return steps


def _known(name: str, value: object, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise InvalidSetting(
            name=name, value=value, problem="there is none of that name", advice=f"Use one of: {', '.join(known)}."
        )


def _percent(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100:
        return float(value)
    raise InvalidSetting(name="sample", value=value, problem="it must be a number from 0 to 100", advice="It is a percentage.")
