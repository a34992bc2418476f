"""Layout of facts as timeline lanes: facts that superseded one another share a lane, lanes of one subject are adjacent.

Invariant: every fact is in exactly one lane; bars of one row of a lane do not overlap. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memoir_engine import FactView

TYPES = ("personal", "professional", "health", "preference", "activity", "plan", "miscellaneous")
LEAST = 0.012  # of the whole width: what a bar takes at least
AHEAD, AHEAD_S = 0.5, 60 * 86_400  # how far the picture reaches into the time to come: of what has passed, and at least


@dataclass(frozen=True)
class Bar:
    """begin, end: seconds since 1970. row: within its lane. after: ids of the facts it superseded. expires: it ends by itself."""

    id: str
    text: str
    begin: float
    end: float
    row: int
    state: str
    told: str
    after: tuple[str, ...]
    expires: bool = False


@dataclass(frozen=True)
class Lane:
    subject: str
    type: str
    bars: tuple[Bar, ...]
    rows: int


def begins(fact: FactView) -> datetime:
    """Return the stated start; else when it was said, or its end if earlier; else when it was recorded."""
    begun = fact.valid_from or fact.said_at or fact.recorded_at
    return fact.valid_to if fact.valid_from is None and fact.valid_to is not None and fact.valid_to < begun else begun


def span(facts: Sequence[FactView], now: datetime) -> tuple[float, float]:
    """Return the range of the timeline in seconds since 1970: all starts with some room before the first, and what expires."""
    first, present = min((begins(fact) for fact in facts), default=now).timestamp(), now.timestamp()
    last = max(present, *(begins(fact).timestamp() for fact in facts), first + 86_400)
    ahead = max((fact.expires_at.timestamp() for fact in facts if _expires(fact) and fact.expires_at), default=present)
    last = max(last, min(ahead + (ahead - first) * 0.02, present + max((last - first) * AHEAD, AHEAD_S)))
    return first - (last - first) * 0.02, last


def lanes(
    facts: Sequence[FactView],
    now: datetime,
    *,
    doubted: Collection[str],
    told: Callable[[FactView], str],
    ranked: bool = False,
) -> list[Lane]:
    """doubted: ids of facts that wait for a decision. Subjects with most facts first; in each, chains first.

    ranked: the facts are the hits of a search, and the lane of the best one comes first, then those of its subject.
    """
    begin, end = span(facts, now)
    room = (end - begin) * LEAST
    by_id = {fact.id: fact for fact in facts}
    made = [_lane(chain, by_id, (now.timestamp(), end), room, doubted, told) for chain in _chains(facts, by_id)]
    if ranked:
        return _by_rank(made, {fact.id: at for at, fact in enumerate(facts)})
    sizes: dict[str, int] = defaultdict(int)
    for lane in made:
        sizes[lane.subject] += len(lane.bars)
    return sorted(
        made,
        key=lambda one: (
            -sizes[one.subject],
            one.subject,
            -len(one.bars),
            TYPES.index(one.type),
            one.bars[0].begin,
            one.bars[0].id,
        ),
    )


def _by_rank(made: Sequence[Lane], ranks: dict[str, int]) -> list[Lane]:
    best = {id(lane): min(ranks[bar.id] for bar in lane.bars) for lane in made}
    subjects: dict[str, int] = {}
    for lane in made:
        subjects[lane.subject] = min(best[id(lane)], subjects.get(lane.subject, len(ranks)))
    return sorted(made, key=lambda lane: (subjects[lane.subject], best[id(lane)]))


def _chains(facts: Sequence[FactView], by_id: dict[str, FactView]) -> list[list[FactView]]:
    """Group facts that are connected by superseding one another."""
    group = {fact.id: fact.id for fact in facts}

    def root(uid: str) -> str:
        while group[uid] != uid:
            uid = group[uid]
        return uid

    for fact in facts:
        if fact.superseded_by in by_id:
            group[root(fact.id)] = root(str(fact.superseded_by))
    found: dict[str, list[FactView]] = defaultdict(list)
    for fact in facts:
        found[root(fact.id)].append(fact)
    return list(found.values())


def _lane(
    chain: list[FactView],
    by_id: dict[str, FactView],
    ends_at: tuple[float, float],
    room: float,
    doubted: Collection[str],
    told: Callable[[FactView], str],
) -> Lane:
    ordered = sorted(chain, key=lambda fact: (begins(fact), fact.recorded_at, -_successors(fact, by_id), fact.id))
    ends: list[float] = []  # of the last bar of each row
    bars = []
    for fact in ordered:
        start = begins(fact).timestamp()
        stop = max(_end(fact, by_id, *ends_at), start + room)
        if fact.valid_from is None and fact.valid_to == begins(fact):  # it was over when it was said, begun who knows when
            start, stop = start - room, start
        row = next((at for at, last in enumerate(ends) if last <= start + room / 2), len(ends))
        ends[row : row + 1] = [stop]
        state = "doubted" if fact.id in doubted else "outdated corrected" if fact.cause == "corrected" else fact.status
        after = tuple(one.id for one in ordered if one.superseded_by == fact.id)
        bars.append(Bar(fact.id, fact.content, start, stop, row, state, told(fact), after, _expires(fact)))
    newest = ordered[-1]
    return Lane(newest.subject, newest.type, tuple(bars), len(ends))


def _successors(fact: FactView, by_id: dict[str, FactView]) -> int:
    """Count the facts that superseded it in turn: of two said at once, the older has more."""
    seen = [fact.id]
    while (after := by_id.get(fact.superseded_by or "")) is not None and after.id not in seen:
        seen.append(after.id)
        fact = after
    return len(seen) - 1


def _expires(fact: FactView) -> bool:
    return fact.status == "active" and fact.expires_at is not None


def _end(fact: FactView, by_id: dict[str, FactView], now: float, last: float) -> float:
    """Return the stated end, else the start of its successor, else when it was retired or expires, else now.

    now, last: what is active ends now, or at the end of the picture if it begins later.
    """
    is_ahead = _expires(fact) or begins(fact).timestamp() >= now
    stops = [max(last, fact.expires_at.timestamp() if fact.expires_at else last) if is_ahead else now]
    if fact.valid_to is not None:
        stops.append(fact.valid_to.timestamp())
    if fact.expires_at is not None:
        stops.append(fact.expires_at.timestamp())
    successor = by_id.get(fact.superseded_by or "")
    if successor is not None:
        stops.append(begins(successor).timestamp())
    elif fact.status == "outdated" and fact.retired_at is not None:
        stops.append(fact.retired_at.timestamp())
    return min(stops)
