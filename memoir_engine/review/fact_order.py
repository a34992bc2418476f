"""The order in which facts are reviewed, and the keys and cursors of that queue. Pure.

Invariant: a total order: open proposals first, then what gave way to something newer, then facts whose quote is not in the text,
then the others, what their extractor stated least surely before the rest; what was skipped comes after all of them.
Source: DESIGN §9; TIMEM "Supports Reversion".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from memoir_engine.results.fact_review import FactKey, FactReviewKind, HeldFact
from memoir_engine.results.review import ReviewState

_KEY = re.compile(r"(fact|proposal)-(\d{1,18})-(\d{1,18})", re.ASCII)
_CURSOR = re.compile(r"([01])\.([0-3])\.(\d{1,4})\.(\d{1,18})\.(\d{1,18})", re.ASCII)
_RANKS: dict[FactReviewKind, int] = {"proposal": 0, "supersession": 1, "fact": 3}
UNSUPPORTED = 2
PER_MILLE = 1000

Spot = tuple[int, int, int, int, int]


def read_key(key: str) -> FactKey | None:
    """None for what is no key of a fact."""
    found = _KEY.fullmatch(key)
    return None if found is None else FactKey("fact" if found[1] == "fact" else "proposal", int(found[2]), int(found[3]))


def page(
    held: Sequence[HeldFact], state: ReviewState | None, limit: int, after: Spot | None
) -> tuple[list[HeldFact], str | None]:
    """The next of them, and the cursor behind those. state unreviewed: with what was skipped, last."""
    shown = {"unreviewed", "skipped"} if state == "unreviewed" else {state}
    wanted = sorted((one for one in held if state is None or one.state in shown), key=place)
    first = 0 if after is None else bisect_right(wanted, after, key=place)
    some = wanted[first : first + limit]
    return some, ".".join(map(str, place(some[-1]))) if first + limit < len(wanted) else None


def read_cursor(cursor: str) -> Spot | None:
    found = _CURSOR.fullmatch(cursor)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), int(found[4]), int(found[5]))


def place(one: HeldFact) -> Spot:
    """Where it stands."""
    rank = _RANKS[one.kind] if one.supported or one.kind != "fact" else UNSUPPORTED
    stated = PER_MILLE if one.confidence is None else int(min(1.0, max(0.0, one.confidence)) * PER_MILLE)
    return int(one.state == "skipped"), rank, stated, one.key.number, one.key.since
