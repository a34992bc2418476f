"""The order of both review queues: filters, order, pages, keys and cursors. Pure.

Invariants: a total order that stays while items are decided: what one page showed never comes again on a later one, and nothing
is skipped between them. Filings come by risk. Facts: open proposals first, then superseded facts, then facts whose quote is not
in the text, then the others, the least sure first. Skipped items come last, after everything that nobody has looked at.
Source: DESIGN §9; API "The ledger and the audit"; TIMEM "Supports Reversion".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, get_args

from memoir_engine.core.results.review import FactKey, FactReviewKind, HeldFact, ReviewState
from memoir_engine.review.risk import RiskSignal, in_sample, risk, source_signals

STATES: tuple[ReviewState, ...] = get_args(ReviewState)


Position = tuple[int, float, int, int]


class QueuedFiling(NamedTuple):
    """A current or rejected filing, as the store has it."""

    chunk_id: int
    filed_seq: int
    category_id: int
    source_id: int
    state: ReviewState
    reviewer: str | None
    reviewed_seq: int | None


@dataclass(frozen=True)
class QueueItem:
    """A filing with the reasons to doubt it. is_helped: its source has a contextual helper."""

    filed: QueuedFiling
    signs: tuple[RiskSignal, ...]
    risk: float
    is_helped: bool

    @property
    def key(self) -> str:
        return key_of(self.filed.chunk_id, self.filed.filed_seq)

    @property
    def place(self) -> Position:
        """Position in the queue: skipped items last, then by risk, then in the order in which they were stored."""
        return int(self.filed.state == "skipped"), -self.risk, self.filed.chunk_id, self.filed.filed_seq


class SampleRule(NamedTuple):
    """Percentage of all filings that are sampled, and the seed that draws them."""

    percent: float
    seed: int = 0


@dataclass(frozen=True)
class QueueFilter:
    """Filters; None matches everything. branch: the category and all below it."""

    source: int | None = None
    branch: frozenset[int] | None = None
    reason: str | None = None
    reviewer: str | None = None


@dataclass(frozen=True)
class QueuePage:
    items: tuple[QueueItem, ...]
    total: int
    counts: dict[str, int]
    after: str | None


def key_of(chunk_id: int, filed_seq: int) -> str:
    return f"{chunk_id}-{filed_seq}"


def read_key(key: str) -> tuple[int, int] | None:
    """Return (chunk, filed_seq), or None if it is not a valid key."""
    chunk, _, seq = key.partition("-")
    known = chunk.isascii() and seq.isascii() and chunk.isdecimal() and seq.isdecimal() and len(key) < 40
    return (int(chunk), int(seq)) if known else None


def ranked_items(
    filed: Iterable[QueuedFiling],
    signs: Mapping[int, tuple[RiskSignal, ...]],
    unhelped: frozenset[int],
    lot: SampleRule,
    before: Iterable[QueueItem] = (),
) -> tuple[QueueItem, ...]:
    """Return all items in order. signs: of their decisions, by chunk. unhelped: sources without a contextual helper.

    before: an earlier result with the same sample rule, whose signals are reused.
    """
    known = {(item.filed.chunk_id, item.filed.filed_seq): item for item in before}
    found = [_weighed(one, known.get((one.chunk_id, one.filed_seq)), signs, one.source_id not in unhelped, lot) for one in filed]
    return tuple(sorted(found, key=attrgetter("place")))


def page(
    waiting: Sequence[QueueItem],
    wanted: QueueFilter,
    *,
    state: ReviewState | None,
    limit: int,
    after: Position | None = None,
) -> QueuePage:
    """Return one page. waiting: in order. state: None matches every state. after: the position behind which the page begins."""
    let = [one for one in waiting if _lets_through(one, wanted)]
    counts: dict[str, int] = dict.fromkeys(STATES, 0)
    for one in let:
        counts[one.filed.state] += 1
    shown = [one for one in let if _is_of(one.filed.state, state)]
    rest = shown if after is None else shown[bisect_right(shown, after, key=attrgetter("place")) :]
    more = rest[limit - 1] if len(rest) > limit else None
    return QueuePage(tuple(rest[:limit]), len(shown), counts, cursor(more) if more else None)


def find(waiting: Iterable[QueueItem], key: str) -> QueueItem | None:
    known = read_key(key)
    return next((one for one in waiting if (one.filed.chunk_id, one.filed.filed_seq) == known), None)


def cursor(last: QueueItem) -> str:
    skipped, against, chunk, seq = last.place
    return f"{skipped}|{-against!r}|{key_of(chunk, seq)}"


def read_cursor(after: str) -> Position | None:
    """Return the position behind which the next page begins, or None if it is not a valid cursor."""
    skipped, _, rest = after.partition("|")
    against, _, key = rest.partition("|")
    known = read_key(key)
    try:
        return (int(skipped), -float(against), *known) if known else None
    except ValueError:
        return None


def _weighed(
    one: QueuedFiling, before: QueueItem | None, signs: Mapping[int, tuple[RiskSignal, ...]], is_helped: bool, lot: SampleRule
) -> QueueItem:
    if before is not None and before.is_helped == is_helped:
        return before if before.filed == one else replace(before, filed=one)
    drawn = lot.percent > 0 and in_sample(lot.percent, lot.seed, one.chunk_id, one.filed_seq)
    found = (*signs.get(one.chunk_id, ()), *source_signals(has_helper=is_helped, in_sample=drawn))
    return QueueItem(one, found, risk(found), is_helped)


def _lets_through(one: QueueItem, wanted: QueueFilter) -> bool:
    filed = one.filed
    return (
        (wanted.source is None or filed.source_id == wanted.source)
        and (wanted.branch is None or filed.category_id in wanted.branch)
        and (wanted.reviewer is None or filed.reviewer == wanted.reviewer)
        and (wanted.reason is None or any(sign.code == wanted.reason for sign in one.signs))
    )


def _is_of(state: ReviewState, wanted: ReviewState | None) -> bool:
    """Return True if the state matches; skipped items stay in the queue."""
    return wanted is None or state == wanted or (wanted == "unreviewed" and state == "skipped")


_KEY = re.compile(r"(fact|proposal)-(\d{1,18})-(\d{1,18})", re.ASCII)
_CURSOR = re.compile(r"([01])\.([0-3])\.(\d{1,4})\.(\d{1,18})\.(\d{1,18})", re.ASCII)
_RANKS: dict[FactReviewKind, int] = {"proposal": 0, "supersession": 1, "fact": 3}
UNSUPPORTED = 2
PER_MILLE = 1000

FactPosition = tuple[int, int, int, int, int]


def read_fact_key(key: str) -> FactKey | None:
    """Return None if it is not a valid key of a fact."""
    found = _KEY.fullmatch(key)
    return None if found is None else FactKey("fact" if found[1] == "fact" else "proposal", int(found[2]), int(found[3]))


def fact_page(
    held: Sequence[HeldFact], state: ReviewState | None, limit: int, after: FactPosition | None
) -> tuple[list[HeldFact], str | None]:
    """Return the next items and the cursor behind them. State "unreviewed" includes skipped items, last."""
    shown = {"unreviewed", "skipped"} if state == "unreviewed" else {state}
    wanted = sorted((one for one in held if state is None or one.state in shown), key=place)
    first = 0 if after is None else bisect_right(wanted, after, key=place)
    some = wanted[first : first + limit]
    return some, ".".join(map(str, place(some[-1]))) if first + limit < len(wanted) else None


def read_fact_cursor(cursor: str) -> FactPosition | None:
    found = _CURSOR.fullmatch(cursor)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), int(found[4]), int(found[5]))


def place(one: HeldFact) -> FactPosition:
    """Position of a fact in the queue."""
    rank = _RANKS[one.kind] if one.supported or one.kind != "fact" else UNSUPPORTED
    stated = PER_MILLE if one.confidence is None else int(min(1.0, max(0.0, one.confidence)) * PER_MILLE)
    return int(one.state == "skipped"), rank, stated, one.key.number, one.key.since
