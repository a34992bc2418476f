"""The part of the review that goes through what was decided: a queue by risk, the evidence of an item, and verdicts.

Invariant: everybody may read the queue, a verdict takes the auditor, checked here whatever a page shows. Each step is an action
of its own, done once however often it is sent; one that cannot be done never keeps another from being done.
Source: API "The ledger and the audit"; DESIGN §6, §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from memoir_engine import fact_reviewing, given, owning
from memoir_engine.errors import InvalidSetting, MemoirError, ReviewItemNotFound
from memoir_engine.fact_reviewing import FactReviews
from memoir_engine.identifying import needs_auditor
from memoir_engine.results import (
    Action,
    ReviewEvidence,
    ReviewItem,
    ReviewPage,
    ReviewState,
    ReviewStep,
    StepOutcome,
    StepsPreview,
    Verdict,
)
from memoir_engine.results.fact_review import FactReviewKind
from memoir_engine.run import new_id

if TYPE_CHECKING:
    from memoir_engine.review.order import Wanted
    from memoir_engine.store.reviews import Asked
    from memoir_engine.store.types import Tx

SAMPLE_PERCENT = 5.0  # of all filings, where nobody says otherwise
MOST_ITEMS = 500
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
        state: ReviewState | None = "unreviewed",
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
        from memoir_engine import weighing
        from memoir_engine.review import order
        from memoir_engine.review.risk import CODES

        wanted = self._wanted(source, branch, reason, reviewer)
        _known("state", state, get_args(ReviewState))
        if kind in get_args(FactReviewKind):
            advice = f"Ask review.facts(kind={kind!r})."
            raise InvalidSetting(name="kind", value=kind, problem="facts wait in a queue of their own", advice=advice)
        _known("kind", kind, ("filing",))
        _known("reason", reason, CODES)
        place = None if after is None else order.read_cursor(given.text("after", after))
        if after is not None and place is None:
            raise InvalidSetting(name="after", value=after, problem="it is no cursor", advice="Pages carry it: page.after.")
        most = min(given.whole("limit", limit, least=1), MOST_ITEMS)
        lot = order.Lot(SAMPLE_PERCENT if sample is None else _percent(sample), given.number("seed", seed))
        waiting = self._engine.waiting.weighed(self._engine.db, lot)
        page = order.page(waiting, wanted, state=state, limit=most, after=place)
        return ReviewPage(self._read(lambda tx: weighing.items(tx, page.items)), page.total, page.counts, page.after)

    def item(self, key: str) -> ReviewEvidence:
        """All that the decision on one item needs. Raises ReviewItemNotFound."""
        from memoir_engine import weighing
        from memoir_engine.review import order

        waiting = self._engine.waiting.weighed(self._engine.db, order.Lot(SAMPLE_PERCENT))
        found = order.find(waiting, given.text("key", key))
        if found is None:
            raise ReviewItemNotFound(key=key[: given.ID_CHARS])
        return weighing.evidence(self._engine, found)

    def of_chunk(self, chunk_id: int) -> ReviewItem:
        """The item of a chunk as it stands now. Raises ReviewItemNotFound."""
        from memoir_engine import weighing
        from memoir_engine.review import order

        number, lot = given.chunk(chunk_id), order.Lot(SAMPLE_PERCENT)
        found = next((one for one in self._engine.waiting.weighed(self._engine.db, lot) if one.filed.chunk_id == number), None)
        if found is None:
            raise ReviewItemNotFound(key=f"of chunk {number}")
        return self._read(lambda tx: weighing.items(tx, (found,)))[0]

    def apply(self, steps: Sequence[ReviewStep]) -> tuple[StepOutcome, ...]:
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

    def preview_steps(self, steps: Sequence[ReviewStep]) -> StepsPreview:
        """What they would do, one after another, and which would not be done and why. Changes nothing."""
        from memoir_engine import weighing

        needs_auditor(self._actor, "review")
        known = _steps(steps)
        return self._read(lambda tx: weighing.preview(tx, known, _asked, actor=self._actor.name))

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
        from memoir_engine.store import reviews

        needs_auditor(self._actor, verdict)
        engine, action_id = self._engine, new_id(self._engine.clock.now())
        step = ReviewStep(action_id, given.text("key", key), verdict, reason=reason)
        if fact_reviewing.is_of_fact(step):
            return self._verdict_on_fact(step)
        asked = _asked(step)
        done = engine.db.write(
            lambda tx: reviews.perform(
                tx, reviews.as_it_stands(tx, asked), actor=self._actor.name, clock=engine.clock, action_id=action_id
            ),
            operation=f"the review of {key}",
        )
        engine.keeper.later()
        return done

    def _verdict_on_fact(self, step: ReviewStep) -> Action:
        from memoir_engine.store import fact_reviews

        asked, whose, engine, actor = fact_reviewing.asked(step), owning.any_of(self._actor), self._engine, self._actor.name

        def work(tx: Tx) -> Action:
            seen = fact_reviews.as_it_stands(tx, whose, asked)
            return fact_reviews.perform(tx, whose, seen, actor=actor, clock=engine.clock, action_id=step.step_id)

        return engine.db.write(work, operation=f"the review of {step.key}")

    def _together(self, steps: Sequence[ReviewStep]) -> list[StepOutcome]:
        return self._engine.db.write(lambda tx: [self._step(tx, one) for one in steps], operation="the review")

    def _step(self, tx: Tx, step: ReviewStep) -> StepOutcome:
        from memoir_engine.store import fact_reviews, reviews
        from memoir_engine.weighing import outcome_of

        actor, clock = self._actor.name, self._engine.clock
        try:
            if fact_reviewing.is_of_fact(step):
                id_of_caller("step_id", step.step_id)
                about, whose = fact_reviewing.asked(step), owning.any_of(self._actor)
                if fact_reviews.done_before(tx, about, actor=actor, action_id=step.step_id):
                    return StepOutcome(step.step_id, step.key, "again", action_id=step.step_id)
                fact_reviews.perform(tx, whose, about, actor=actor, clock=clock, action_id=step.step_id)
                return StepOutcome(step.step_id, step.key, "done", action_id=step.step_id)
            asked = _asked(step)
            if reviews.done_before(tx, asked, actor=self._actor.name, action_id=step.step_id):
                return StepOutcome(step.step_id, step.key, "again", action_id=step.step_id)
            reviews.perform(tx, asked, actor=self._actor.name, clock=self._engine.clock, action_id=step.step_id)
        except MemoirError as refused:
            return outcome_of(step, refused)
        return StepOutcome(step.step_id, step.key, "done", action_id=step.step_id)

    def _wanted(self, source: int | None, branch: int | None, reason: str | None, reviewer: str | None) -> Wanted:
        from memoir_engine.review.order import Wanted
        from memoir_engine.store import tree
        from memoir_engine.store.edits.standing import below

        number = None if branch is None else given.category(branch)
        return Wanted(
            source=None if source is None else given.source(source),
            branch=None if number is None else self._read(lambda tx: below(tree.every_open(tx).values(), number)),
            reason=reason,
            reviewer=reviewer,
        )


def id_of_caller(name: str, value: object) -> str:
    """The id of an action that its caller made, so that it is done once however often it is sent."""
    known = given.text(name, value)
    if len(known) != ID_CHARS or not known.isascii() or not known.isalnum():
        raise InvalidSetting(name=name, value=known, problem=f"it must be {ID_CHARS} letters and digits", advice="Use a ULID.")
    return known


def _asked(step: ReviewStep) -> Asked:
    """Raises InvalidSetting for what cannot be a step, ReviewItemNotFound for what is no key."""
    from memoir_engine.review.order import read_key
    from memoir_engine.store.reviews import Asked

    _known("verdict", step.verdict, get_args(Verdict))
    _known("seen", step.seen, get_args(ReviewState))
    id_of_caller("step_id", step.step_id)
    key = read_key(given.text("key", step.key))
    if key is None or max(key) > given.MOST_ID:
        raise ReviewItemNotFound(key=step.key[: given.ID_CHARS])
    category = None
    if step.verdict == "refile":
        category = given.category(step.category_id)
    reason = None if step.reason is None else given.text("reason", step.reason)
    return Asked(*key, step.verdict, category, reason, step.seen)


def _portions(steps: Sequence[ReviewStep]) -> list[Sequence[ReviewStep]]:
    """Filings and facts apart, so that no transaction takes the locks of both."""
    alike = [tuple(some) for _, some in groupby(steps, key=fact_reviewing.is_of_fact)]
    return [some[at : at + TOGETHER] for some in alike for at in range(0, len(some), TOGETHER)]


def _steps(value: object) -> tuple[ReviewStep, ...]:
    """Raises InvalidSetting."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidSetting(name="steps", value=value, problem="it must be a list", advice="Give a list of ReviewStep.")
    steps = tuple(value)
    for one in steps:
        if not isinstance(one, ReviewStep):
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
