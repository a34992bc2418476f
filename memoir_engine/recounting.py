"""What remembering came to, as callers receive it and as its run keeps it.

Invariant: told from rows as the commit leaves them; the run keeps ids and numbers, since words stand in facts and messages.
Source: API "Facts"; TIMEM; CHUNK 11, 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoir_engine.drawing import Drawing
from memoir_engine.events import FactsStored
from memoir_engine.results.facts import ExtractionResult, FactProposal, FactRelation, FactView, RememberResult
from memoir_engine.run import Run

if TYPE_CHECKING:
    from memoir_engine.store.fact_plan import FactPlan
    from memoir_engine.store.remembering import Remembered
    from memoir_engine.store.types import Tx


@dataclass(frozen=True)
class Became:
    """What a commit left. parts: numbers of facts, by the part of the result they are told in."""

    parts: dict[str, list[int]]
    views: dict[int, FactView]
    proposals: tuple[FactProposal, ...]


def became(tx: Tx, user: str | None, done: Remembered, plan: FactPlan) -> Became:
    """As it stands in the transaction that made it."""
    from memoir_engine.store import facts
    from memoir_engine.store.owners import owner_key

    owner, numbers = owner_key(user), done.numbers
    fuller = {one.new for one in plan.supersessions if one.cause == "merged"}
    parts = {
        "added": [numbers[one.key] for one in plan.facts if one.key not in fuller],
        "merged": [numbers[one.key] for one in plan.facts if one.key in fuller],
        "outdated": [one.old for one in plan.supersessions if one.old > 0],
        "duplicates": [one.fact for one in plan.sightings],
    }
    asked = facts.proposals(tx, owner, state=None, numbers=done.proposals) if done.proposals else ()
    return Became(parts, facts.by_number(tx, owner, [one for some in parts.values() for one in some]), asked)


def told(done: Remembered, left: Became, plan: FactPlan, drawing: Drawing, run: Run) -> RememberResult:
    """What became of it."""
    views = left.views
    uids = {key: views[number].id for key, number in done.numbers.items() if number in views}
    uids |= {number: view.id for number, view in views.items()}
    links = [(uids.get(one.source), uids.get(one.target), one) for one in plan.links]
    made: dict[str, Any] = {
        name: tuple(views[number] for number in dict.fromkeys(some) if number in views) for name, some in left.parts.items()
    }
    made["added"] = tuple(one for one in made["added"] if one.status == "active")
    made["proposals"] = left.proposals
    made["relationships"] = tuple(FactRelation(a, b, one.kind, one.confidence) for a, b, one in links if a and b)
    counts = {name: len(made[name]) for name in ("added", "outdated", "merged", "duplicates", "proposals")}
    run.emit(FactsStored(**counts, seq=done.seq))
    return result(drawing, run, done.action_id, made, done.session_id)


def result(
    drawing: Drawing, run: Run, action_id: str | None, made: dict[str, Any], session_id: str | None, *, seen_again: bool = False
) -> RememberResult:
    nothing: dict[str, Any] = dict.fromkeys(("added", "outdated", "merged", "duplicates", "proposals", "relationships"), ())
    return RememberResult(
        **(nothing | made),
        errors=tuple(drawing.extraction.failures) if drawing.extraction else (),
        cuts=drawing.made.cuts if drawing.made else (),
        metrics=drawing.metrics(run.clock.tick_ms()),
        run_id=run.id,
        action_id=action_id,
        session_id=session_id,
        seen_again=seen_again,
        warnings=tuple(dict.fromkeys(drawing.warnings)),
    )


def record(outcome: object) -> dict[str, Any]:
    """Ids and numbers: what was said stands in facts and messages."""
    if isinstance(outcome, RememberResult):
        ids = {name: [one.id for one in getattr(outcome, name)] for name in ("added", "outdated", "merged", "duplicates")}
        more = {"proposals": [one.id for one in outcome.proposals], "action_id": outcome.action_id}
        return {**ids, **more, "seen_again": outcome.seen_again, "errors": len(outcome.errors), "warnings": len(outcome.warnings)}
    if isinstance(outcome, ExtractionResult):
        return {"facts": len(outcome.memories), "errors": len(outcome.errors), "warnings": len(outcome.warnings)}
    return {}
