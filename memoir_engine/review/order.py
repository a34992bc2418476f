"""The order in which facts are reviewed, and the keys and cursors of that queue. Pure.

Invariant: a total order: open proposals first, then what gave way to something newer, then facts whose quote is not in the text,
then the others, what their extractor stated least surely before the rest; what was skipped comes after all of them.
Source: DESIGN §9; TIMEM "Supports Reversion".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, get_args

from memoir_engine.core.results import ReviewState as results_ReviewState
from memoir_engine.core.results import RiskReason
from memoir_engine.core.results.review import FactKey, FactReviewKind, HeldFact, ReviewState

# === risk: How likely a filing is to be wrong, judged by what the engine itself saw of its decisions. Pure.
#
# A chunk is in the wrong leaf when any of its levels went wrong, for any of the reasons; so its risk is 1 − ∏(1 −
# weight), over
# all reasons of all levels, as if they were independent. The weights are guesses of how often each of them means an
# error, in
# the order one would put them in without seeing any data, and are fitted to none:
#
# - disagrees .6    the model and the word statistics, neither knowing of the other, chose differently: one of them is
# wrong
# - limit .5        the model wanted a new category and had to take an existing one
# - margin up to .5 the chosen option is hardly nearer than the next: (1 − m)² / 2, m how much of its nearness it is ahead
# by;
#                   a model that saw another one to be nearer, and chose against it, counts as no margin at all, and a
# little more
# - new .3          made by the very choice; more the nearer an existing one was, which then may be the same under another
# name
# - retried .3      the first answer was no valid one
# - sample .25      drawn by lot: behind what has a strong reason, before what has none, so that quiet errors are found
# too
# - no_helper .1    the model did not know what text it was a part of
#
# Nothing in here is a number that a model gave.
# Invariant: the risk of a filing never changes while nothing is decided about it, whatever happens to others.
# Source: DESIGN §9 (order of the review queue).


DISAGREES, LIMIT, MARGIN, NEW, RETRIED, SAMPLE, NO_HELPER = 0.6, 0.5, 0.5, 0.3, 0.3, 0.25, 0.1
AGAINST = 0.1  # at most, on top of no margin
WORTH_SAYING = 0.02
CODES = ("margin", "disagrees", "new_category", "limit", "retried", "no_helper", "sample")
_64_BITS = 2**64 - 1

Names = Callable[[int], str]  # of a category


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision on one level, as far as its risk goes. `opinions`: (category, nearness), the nearest only."""

    level: int
    chosen: int
    opinions: tuple[tuple[int, float], ...]
    decided_by: str
    seen: bool
    attempts: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """One reason with its weight. `rival`: the option that nearly, or rather, should have been chosen."""

    code: str
    weight: float
    level: int = 0
    chosen: int = 0
    rival: int = 0


def signs(choices: Sequence[Choice]) -> tuple[Sign, ...]:
    """What speaks against the decisions of one chunk; the heaviest of each kind first."""
    found = [sign for choice in choices for sign in _of_choice(choice)]
    return tuple(sorted((one for one in found if one.weight >= WORTH_SAYING), key=lambda one: (-one.weight, one.code, one.level)))


def more_signs(*, has_helper: bool, in_sample: bool) -> tuple[Sign, ...]:
    """What does not lie in the decisions."""
    sample = (Sign("sample", SAMPLE),) if in_sample else ()
    return sample if has_helper else (*sample, Sign("no_helper", NO_HELPER))


def risk(found: Iterable[Sign]) -> float:
    """In [0, 1), rounded so that it can be written into a cursor and read back."""
    right = 1.0
    for sign in found:
        right *= 1 - sign.weight
    return round(1 - right, 6)


def in_sample(percent: float, seed: int, chunk_id: int, filed_seq: int) -> bool:
    """Whether the lot falls on a filing: alike for everybody with this seed; more percent draw the same, and more."""
    return _mixed(_mixed(_mixed(seed) ^ chunk_id) ^ filed_seq) / 2**64 * 100 < percent


def reasons(found: Sequence[Sign], name: Names) -> tuple[RiskReason, ...]:
    """One of each kind, in words, the heaviest first; its weight is that of all of its kind together."""
    kinds: dict[str, list[Sign]] = {}
    for sign in sorted(found, key=lambda one: -one.weight):
        kinds.setdefault(sign.code, []).append(sign)
    told = [RiskReason(code, _says(same[0], name), risk(same)) for code, same in kinds.items()]
    return tuple(sorted(told, key=lambda one: (-one.weight, one.code)))


def _mixed(number: int) -> int:
    """Another number of 64 bits, with nothing left of the order of the numbers (splitmix64): ten times faster than a digest."""
    mixed = (number + 0x9E3779B97F4A7C15) & _64_BITS
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _64_BITS
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _64_BITS
    return mixed ^ mixed >> 31


def _of_choice(choice: Choice) -> list[Sign]:
    known = dict(choice.opinions)
    rival, others = max(
        ((c, near) for c, near in choice.opinions if c != choice.chosen), key=lambda pair: pair[1], default=(0, 0.0)
    )
    found = []
    if choice.is_new:
        found.append(_sign("new_category", choice, rival, NEW + (1 - NEW) * others))
    elif choice.decided_by != "forced" and others > 0:
        found.append(_margin(choice, known.get(choice.chosen, 0.0), rival, others))
    if choice.decided_by == "limit":
        found.append(_sign("limit", choice, rival, LIMIT))
    if choice.attempts > 1:
        found.append(_sign("retried", choice, rival, RETRIED))
    return found


def _margin(choice: Choice, own: float, rival: int, others: float) -> Sign:
    ahead = (own - others) / max(own, others)
    if ahead < 0 and not choice.seen:
        return _sign("disagrees", choice, rival, DISAGREES)
    return _sign("margin", choice, rival, MARGIN * (1 - max(ahead, 0.0)) ** 2 + AGAINST * max(-ahead, 0.0))


def _sign(code: str, choice: Choice, rival: int, weight: float) -> Sign:
    return Sign(code, weight, choice.level, choice.chosen, rival)


def _says(sign: Sign, name: Names) -> str:
    chosen, rival, where = name(sign.chosen), name(sign.rival), f"at level {sign.level}"
    near = f"; nearest of those there were: {rival}" if rival else ""
    margin = f"nearer to {rival} than to {chosen}" if sign.weight > MARGIN else f"about as near to {rival} as to {chosen}"
    return {
        "margin": f"By its words it is {margin} ({where}).",
        "disagrees": f"By its words it is nearer to {rival} than to {chosen} ({where}), which the model did not know.",
        "new_category": f"{chosen} was made for it ({where}){near}.",
        "limit": f"No new category could be made {where}: the limit was reached, so it had to be {chosen}.",
        "retried": f"The model was asked again {where}: its first answer was not valid.",
        "no_helper": "The text had no contextual helper.",
        "sample": "Drawn by lot.",
    }[sign.code]


# === order: The queue: filters, order, pages. Pure.
#
# Invariant: a total order that stays while items are decided: what was passed on one page never comes on a later one, and
# nothing is left out between them. What was skipped comes after everything that nobody has looked at.
# Source: DESIGN §9; API "The ledger and the audit".


STATES: tuple[results_ReviewState, ...] = get_args(results_ReviewState)


Position = tuple[int, float, int, int]


class Filed(NamedTuple):
    """A filing that stands, or that was rejected, as the store has it."""

    chunk_id: int
    filed_seq: int
    category_id: int
    source_id: int
    state: results_ReviewState
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
    def place(self) -> Position:
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


def page(
    waiting: Sequence[Waiting], wanted: Wanted, *, state: results_ReviewState | None, limit: int, after: Position | None = None
) -> Page:
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


def read_cursor(after: str) -> Position | None:
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


def _is_of(state: results_ReviewState, wanted: results_ReviewState | None) -> bool:
    """What was skipped still waits."""
    return wanted is None or state == wanted or (wanted == "unreviewed" and state == "skipped")


# === fact_order


_KEY = re.compile(r"(fact|proposal)-(\d{1,18})-(\d{1,18})", re.ASCII)
_CURSOR = re.compile(r"([01])\.([0-3])\.(\d{1,4})\.(\d{1,18})\.(\d{1,18})", re.ASCII)
_RANKS: dict[FactReviewKind, int] = {"proposal": 0, "supersession": 1, "fact": 3}
UNSUPPORTED = 2
PER_MILLE = 1000

FactPosition = tuple[int, int, int, int, int]


def read_fact_key(key: str) -> FactKey | None:
    """None for what is no key of a fact."""
    found = _KEY.fullmatch(key)
    return None if found is None else FactKey("fact" if found[1] == "fact" else "proposal", int(found[2]), int(found[3]))


def fact_page(
    held: Sequence[HeldFact], state: ReviewState | None, limit: int, after: FactPosition | None
) -> tuple[list[HeldFact], str | None]:
    """The next of them, and the cursor behind those. state unreviewed: with what was skipped, last."""
    shown = {"unreviewed", "skipped"} if state == "unreviewed" else {state}
    wanted = sorted((one for one in held if state is None or one.state in shown), key=place)
    first = 0 if after is None else bisect_right(wanted, after, key=place)
    some = wanted[first : first + limit]
    return some, ".".join(map(str, place(some[-1]))) if first + limit < len(wanted) else None


def read_fact_cursor(cursor: str) -> FactPosition | None:
    found = _CURSOR.fullmatch(cursor)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), int(found[4]), int(found[5]))


def place(one: HeldFact) -> FactPosition:
    """Where it stands."""
    rank = _RANKS[one.kind] if one.supported or one.kind != "fact" else UNSUPPORTED
    stated = PER_MILLE if one.confidence is None else int(min(1.0, max(0.0, one.confidence)) * PER_MILLE)
    return int(one.state == "skipped"), rank, stated, one.key.number, one.key.since
