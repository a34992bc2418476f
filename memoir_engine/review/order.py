"""The queue: filters, order, pages. Pure.

Invariant: a total order that stays while items are decided: what was passed on one page never comes on a later one, and
nothing is left out between them. What was skipped comes after everything that nobody has looked at.
Source: DESIGN §9; API "The ledger and the audit".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, get_args

from memoir_engine.results import ReviewState
from memoir_engine.review.risk import Sign, in_sample, more_signs, risk

STATES: tuple[ReviewState, ...] = get_args(ReviewState)


Spot = tuple[int, float, int, int]


class Filed(NamedTuple):
    """A filing that stands, or that was rejected, as the store has it."""

    chunk_id: int
    filed_seq: int
    category_id: int
    source_id: int
    state: ReviewState
    reviewer: str | None
    reviewed_seq: int | None


@dataclass(frozen=True)
class Waiting:
    """A filing with all that speaks against it. `is_helped`: its source has a contextual helper."""

    filed: Filed
    signs: tuple[Sign, ...]
    risk: float
    is_helped: bool

    @property
    def key(self) -> str:
        return key_of(self.filed.chunk_id, self.filed.filed_seq)

    @property
    def place(self) -> Spot:
        """Where it stands: skipped ones last, then by risk, then as they were stored."""
        return int(self.filed.state == "skipped"), -self.risk, self.filed.chunk_id, self.filed.filed_seq


class Lot(NamedTuple):
    """How many percent of all filings are drawn, and by which numbers."""

    percent: float
    seed: int = 0


@dataclass(frozen=True)
class Wanted:
    """Filters; None lets everything through. `branch`: the category and all below it."""

    source: int | None = None
    branch: frozenset[int] | None = None
    reason: str | None = None
    reviewer: str | None = None


@dataclass(frozen=True)
class Page:
    items: tuple[Waiting, ...]
    total: int
    counts: dict[str, int]
    after: str | None


def key_of(chunk_id: int, filed_seq: int) -> str:
    return f"{chunk_id}-{filed_seq}"


def read_key(key: str) -> tuple[int, int] | None:
    """(chunk, filed_seq); None for what is no key."""
    chunk, _, seq = key.partition("-")
    known = chunk.isascii() and seq.isascii() and chunk.isdecimal() and seq.isdecimal() and len(key) < 40
    return (int(chunk), int(seq)) if known else None


def weighed(
    filed: Iterable[Filed],
    signs: Mapping[int, tuple[Sign, ...]],
    unhelped: frozenset[int],
    lot: Lot,
    before: Iterable[Waiting] = (),
) -> tuple[Waiting, ...]:
    """All in their order. signs: of their decisions, by chunk. unhelped: sources without a contextual helper.

    before: the same of an earlier moment, drawn by the same lot; what speaks against a filing need not be looked for again.
    """
    known = {(one.filed.chunk_id, one.filed.filed_seq): one for one in before}
    found = [_weighed(one, known.get((one.chunk_id, one.filed_seq)), signs, one.source_id not in unhelped, lot) for one in filed]
    return tuple(sorted(found, key=attrgetter("place")))


def page(waiting: Sequence[Waiting], wanted: Wanted, *, state: ReviewState | None, limit: int, after: Spot | None = None) -> Page:
    """waiting: in their order. state None: whatever their state. after: the place behind which it begins."""
    let = [one for one in waiting if _lets_through(one, wanted)]
    counts: dict[str, int] = dict.fromkeys(STATES, 0)
    for one in let:
        counts[one.filed.state] += 1
    shown = [one for one in let if _is_of(one.filed.state, state)]
    rest = shown if after is None else shown[bisect_right(shown, after, key=attrgetter("place")) :]
    more = rest[limit - 1] if len(rest) > limit else None
    return Page(tuple(rest[:limit]), len(shown), counts, cursor(more) if more else None)


def find(waiting: Iterable[Waiting], key: str) -> Waiting | None:
    """The item of that key."""
    known = read_key(key)
    return next((one for one in waiting if (one.filed.chunk_id, one.filed.filed_seq) == known), None)


def cursor(last: Waiting) -> str:
    skipped, against, chunk, seq = last.place
    return f"{skipped}|{-against!r}|{key_of(chunk, seq)}"


def read_cursor(after: str) -> Spot | None:
    """The place behind which the next page begins; None for what is no cursor of ours."""
    skipped, _, rest = after.partition("|")
    against, _, key = rest.partition("|")
    known = read_key(key)
    try:
        return (int(skipped), -float(against), *known) if known else None
    except ValueError:
        return None


def _weighed(one: Filed, before: Waiting | None, signs: Mapping[int, tuple[Sign, ...]], is_helped: bool, lot: Lot) -> Waiting:
    if before is not None and before.is_helped == is_helped:
        return before if before.filed == one else replace(before, filed=one)
    drawn = lot.percent > 0 and in_sample(lot.percent, lot.seed, one.chunk_id, one.filed_seq)
    found = (*signs.get(one.chunk_id, ()), *more_signs(has_helper=is_helped, in_sample=drawn))
    return Waiting(one, found, risk(found), is_helped)


def _lets_through(one: Waiting, wanted: Wanted) -> bool:
    filed = one.filed
    return (
        (wanted.source is None or filed.source_id == wanted.source)
        and (wanted.branch is None or filed.category_id in wanted.branch)
        and (wanted.reviewer is None or filed.reviewer == wanted.reviewer)
        and (wanted.reason is None or any(sign.code == wanted.reason for sign in one.signs))
    )


def _is_of(state: ReviewState, wanted: ReviewState | None) -> bool:
    """What was skipped still waits."""
    return wanted is None or state == wanted or (wanted == "unreviewed" and state == "skipped")
