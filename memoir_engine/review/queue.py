"""`memory.review`: two queues of what a person may decide, filings by risk and facts by doubt, with evidence and verdicts.

Invariants: everybody may read the filings, facts carry their owner in every read and write below; a verdict needs the role
auditor, checked here whatever a page shows. Each step is an action of its own, done once however often it is sent, and can be
undone; one that cannot be done never keeps another from being done.
Source: API "The ledger and the audit"; DESIGN §6, §9; TIMEM "Supports Reversion".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import get_args

from memoir_engine.core import validation
from memoir_engine.core.errors import InvalidSetting, MemoirError, ReviewItemNotFound
from memoir_engine.core.results import Action, ReviewEvidence, ReviewItem, ReviewPage, StepOutcome, StepsPreview
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
from memoir_engine.review.order import FactPosition, QueueFilter, read_fact_cursor, read_fact_key, read_key
from memoir_engine.review.queue_cache import WaitingList
from memoir_engine.review.risk import CODES
from memoir_engine.runtime import access
from memoir_engine.runtime.access import needs_auditor
from memoir_engine.runtime.engine import View
from memoir_engine.store.db.types import Tx
from memoir_engine.store.facts import reviews
from memoir_engine.store.facts.reviews import FactDecision
from memoir_engine.store.review import reviews as review_reviews
from memoir_engine.store.review.reviews import ReviewDecision
from memoir_engine.store.tree import categories
from memoir_engine.store.tree.categories import below

SAMPLE_PERCENT = 5.0  # of all filings, unless the caller says otherwise
ID_CHARS = 26
TOGETHER = 20  # steps of one transaction: short enough for others to come between
MOST_ITEMS = 500
VERDICTS = ("approve", "reject", "skip")


class FactReviews(View):
    """Queue of facts and of proposals about facts."""

    def facts(
        self,
        user_id: str | None = None,
        *,
        kind: FactReviewKind | None = None,
        state: ReviewState | None = "unreviewed",
        limit: int = 50,
        after: str | None = None,
    ) -> FactReviewPage:
        """List facts and proposals to review, the most doubtful first and skipped ones last. after: cursor of the previous page.

        user_id: None is all that the actor may see. kind None: all three kinds. state None: every state.
        Decide by key with `approve`, `reject`, `skip` and `apply`. Rejecting a fact makes it outdated; rejecting a supersession
        makes the old fact active again.
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
        """Return the fact or proposal of a key as of now. Raises ReviewItemNotFound, also for one of somebody else."""
        wanted, whose = _key(key), access.any_of(self._actor)

        def work(tx: Tx) -> tuple[FactReviewItem, ...]:
            found = reviews.get_item(tx, whose, wanted)
            return () if found is None else reviews.item_views(tx, whose, [found])

        found = self._read(work)
        if not found:
            raise ReviewItemNotFound(key=key)
        return found[0]


def is_of_fact(step: ReviewStep) -> bool:
    return isinstance(step.key, str) and step.key.startswith(("fact-", "proposal-"))


def fact_request(step: ReviewStep) -> FactDecision:
    """Check a step about a fact. Raises InvalidSetting; ReviewItemNotFound for an invalid key."""
    for name, value, known in (("verdict", step.verdict, VERDICTS), ("seen", step.seen, (None, *get_args(ReviewState)))):
        if value not in known:
            advice = "A fact can be approved, rejected or skipped."
            raise InvalidSetting(name=name, value=value, problem="not valid for a fact", advice=advice)
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
        raise InvalidSetting(name="after", value=after, problem="not a valid cursor", advice="Use page.after.")
    return place


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
        state: ReviewState | None = "unreviewed",
        sample: float | None = None,
        seed: int = 0,
        limit: int = 50,
        after: str | None = None,
    ) -> ReviewPage:
        """List filings to review, the riskiest first and skipped ones last. after: cursor of the previous page.

        Facts and proposals about them belong to users and have a queue of their own, `facts()`; the same verbs decide both.

        kind: "filing". source, branch: of this source, filed in or below this category. reason: a code of `RiskReason`.
        state None: every state. sample: percentage of all filings drawn at random with `seed`; 5 by default.
        """
        wanted = self._wanted(source, branch, reason, reviewer)
        _known("state", state, get_args(ReviewState))
        if kind in get_args(FactReviewKind):
            advice = f"Ask review.facts(kind={kind!r})."
            raise InvalidSetting(name="kind", value=kind, problem="facts wait in a queue of their own", advice=advice)
        _known("kind", kind, ("filing",))
        _known("reason", reason, CODES)
        place = None if after is None else order.read_cursor(validation.text("after", after))
        if after is not None and place is None:
            raise InvalidSetting(name="after", value=after, problem="not a valid cursor", advice="Use page.after.")
        most = min(validation.whole("limit", limit, least=1), MOST_ITEMS)
        lot = order.SampleRule(SAMPLE_PERCENT if sample is None else _percent(sample), validation.number("seed", seed))
        waiting = self._engine.cache_of(WaitingList).weighed(self._engine.db, lot)
        page = order.page(waiting, wanted, state=state, limit=most, after=place)
        return ReviewPage(self._read(lambda tx: item.items(tx, page.items)), page.total, page.counts, page.after)

    def item(self, key: str) -> ReviewEvidence:
        """Return one item with everything needed to decide on it. Raises ReviewItemNotFound."""
        waiting = self._engine.cache_of(WaitingList).weighed(self._engine.db, order.SampleRule(SAMPLE_PERCENT))
        found = order.find(waiting, validation.text("key", key))
        if found is None:
            raise ReviewItemNotFound(key=key[: validation.ID_CHARS])
        return item.evidence(self._engine, found)

    def of_chunk(self, chunk_id: int) -> ReviewItem:
        """Return the item of a chunk as of now. Raises ReviewItemNotFound."""
        number, lot = validation.chunk(chunk_id), order.SampleRule(SAMPLE_PERCENT)
        found = next(
            (one for one in self._engine.cache_of(WaitingList).weighed(self._engine.db, lot) if one.filed.chunk_id == number),
            None,
        )
        if found is None:
            raise ReviewItemNotFound(key=f"of chunk {number}")
        return self._read(lambda tx: item.items(tx, (found,)))[0]

    def apply(self, steps: Sequence[ReviewStep]) -> tuple[StepOutcome, ...]:
        """Carry out steps in order, each as an action whose id is its `step_id`, and once however often it is sent.

        Raises NotAllowed. If a single step cannot be done, its outcome says why.
        """
        needs_auditor(self._actor, "review")
        outcomes: list[StepOutcome] = []
        for portion in _portions(_steps(steps)):
            outcomes += self._engine.db.write(partial(self._do, steps=portion), operation="the review")
        if any(outcome.outcome == "done" for outcome in outcomes):
            self._engine.keeper.later()
        return tuple(outcomes)

    def preview_steps(self, steps: Sequence[ReviewStep]) -> StepsPreview:
        """Return what the steps would do, one after another, and which of them could not be done and why. Changes nothing."""
        needs_auditor(self._actor, "review")
        known = _steps(steps)
        return self._read(lambda tx: item.preview(tx, known, _asked, actor=self._actor.name))

    def approve(self, key: str, reason: str | None = None) -> Action:
        """Confirm that the item is right. Raises NotAllowed, ReviewItemNotFound, ReviewOvertaken, NothingChanges."""
        return self._verdict(key, "approve", reason)

    def reject(self, key: str, reason: str | None = None) -> Action:
        """Reject a filing whose right place is unknown: the chunk leaves the tree until somebody files it."""
        return self._verdict(key, "reject", reason)

    def skip(self, key: str, reason: str | None = None) -> Action:
        """Put the item off: it comes last."""
        return self._verdict(key, "skip", reason)

    def _verdict(self, key: str, verdict: Verdict, reason: str | None) -> Action:
        needs_auditor(self._actor, verdict)
        engine, action_id = self._engine, new_id(self._engine.clock.now())
        step = ReviewStep(action_id, validation.text("key", key), verdict, reason=reason)
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

    def _verdict_on_fact(self, step: ReviewStep) -> Action:
        asked, whose, engine, actor = fact_request(step), access.any_of(self._actor), self._engine, self._actor.name

        def work(tx: Tx) -> Action:
            seen = reviews.as_it_stands(tx, whose, asked)
            return reviews.perform(tx, whose, seen, actor=actor, clock=engine.clock, action_id=step.step_id)

        return engine.db.write(work, operation=f"the review of {step.key}")

    def _do(self, tx: Tx, steps: Sequence[ReviewStep]) -> list[StepOutcome]:
        return [self._step(tx, step) for step in steps]

    def _step(self, tx: Tx, step: ReviewStep) -> StepOutcome:
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

    def _wanted(self, source: int | None, branch: int | None, reason: str | None, reviewer: str | None) -> QueueFilter:
        number = None if branch is None else validation.category(branch)
        return QueueFilter(
            source=None if source is None else validation.source(source),
            branch=None if number is None else self._read(lambda tx: below(categories.open_tree(tx).values(), number)),
            reason=reason,
            reviewer=reviewer,
        )


def id_of_caller(name: str, value: object) -> str:
    """Check an action id that the caller made, so that the action is done once however often it is sent."""
    known = validation.text(name, value)
    if len(known) != ID_CHARS or not known.isascii() or not known.isalnum():
        raise InvalidSetting(name=name, value=known, problem=f"it must be {ID_CHARS} letters and digits", advice="Use a ULID.")
    return known


def _asked(step: ReviewStep) -> ReviewDecision:
    """Check a step about a filing. Raises InvalidSetting; ReviewItemNotFound for an invalid key."""
    _known("verdict", step.verdict, get_args(Verdict))
    _known("seen", step.seen, get_args(ReviewState))
    id_of_caller("step_id", step.step_id)
    key = read_key(validation.text("key", step.key))
    if key is None or max(key) > validation.MOST_ID:
        raise ReviewItemNotFound(key=step.key[: validation.ID_CHARS])
    category = validation.category(step.category_id) if step.verdict == "refile" else None
    reason = None if step.reason is None else validation.text("reason", step.reason)
    return ReviewDecision(*key, step.verdict, category, reason, step.seen)


def _portions(steps: Sequence[ReviewStep]) -> list[Sequence[ReviewStep]]:
    """Split the steps into transactions: filings and facts apart, so that none takes the locks of both."""
    alike = [tuple(some) for _, some in groupby(steps, key=is_of_fact)]
    return [some[at : at + TOGETHER] for some in alike for at in range(0, len(some), TOGETHER)]


def _steps(value: object) -> tuple[ReviewStep, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidSetting(name="steps", value=value, problem="it must be a list", advice="Give a list of ReviewStep.")
    steps = tuple(value)
    for one in steps:
        if not isinstance(one, ReviewStep):
            raise InvalidSetting(name="steps", value=one, problem="not a ReviewStep", advice="Give a list of them.")
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
