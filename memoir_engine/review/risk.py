"""How likely a filing is to be wrong, judged by what the engine itself saw of its decisions. Pure.

A chunk is in the wrong leaf when any of its levels went wrong, for any of the reasons; so its risk is 1 − ∏(1 − weight), over
all reasons of all levels, as if they were independent. The weights are guesses of how often each of them means an error, in
the order one would put them in without seeing any data, and are fitted to none:

- disagrees .6    the model and the word statistics, neither knowing of the other, chose differently: one of them is wrong
- limit .5        the model wanted a new category and had to take an existing one
- margin up to .5 the chosen option is hardly nearer than the next: (1 − m)² / 2, m how much of its nearness it is ahead by;
                  a model that saw another one to be nearer, and chose against it, counts as no margin at all, and a little more
- new .3          made by the very choice; more the nearer an existing one was, which then may be the same under another name
- retried .3      the first answer was no valid one
- sample .25      drawn by lot: behind what has a strong reason, before what has none, so that quiet errors are found too
- no_helper .1    the model did not know what text it was a part of

Nothing in here is a number that a model gave.
Invariant: the risk of a filing never changes while nothing is decided about it, whatever happens to others.
Source: DESIGN §9 (order of the review queue).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memoir_engine.results import RiskReason

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
