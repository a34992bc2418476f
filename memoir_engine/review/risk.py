"""Estimate how likely a filing is to be wrong, from what the engine itself saw of its decisions. Pure.

A chunk is in the wrong leaf if any of its levels went wrong, for any of the reasons; so its risk is 1 − ∏(1 − weight) over all
reasons of all levels, as if they were independent. The weights are guesses of how often each reason means an error, set without
looking at any data and fitted to none:

- disagrees .6    the model and the word statistics chose differently, neither knowing of the other: one of them is wrong
- limit .5        the model wanted a new category and had to take an existing one
- margin up to .5 the chosen option is hardly nearer than the next: (1 − m)² / 2, with m its lead as a share of its nearness;
                  a model that saw another option to be nearer and chose against it counts as no margin, and a little more
- new .3          the category was made by this very choice; more if an existing one was near, which may mean the same
- retried .3      the first answer was not valid
- sample .25      drawn at random: behind strong reasons, before none, so that quiet errors are found too
- no_helper .1    the model did not know what text the chunk belongs to

No number in here comes from a model.
Invariant: the risk of a filing never changes while nothing is decided about it, whatever happens to others.
Source: DESIGN §9 (order of the review queue).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memoir_engine.core.results import RiskReason

DISAGREES, LIMIT, MARGIN, NEW, RETRIED, SAMPLE, NO_HELPER = 0.6, 0.5, 0.5, 0.3, 0.3, 0.25, 0.1
AGAINST = 0.1  # at most, on top of no margin
WORTH_SAYING = 0.02
CODES = ("margin", "disagrees", "new_category", "limit", "retried", "no_helper", "sample")
_64_BITS = 2**64 - 1

Names = Callable[[int], str]  # of a category


@dataclass(frozen=True, slots=True)
class RiskChoice:
    """Decision at one level, with what its risk depends on. opinions: (category, nearness), only the nearest."""

    level: int
    chosen: int
    opinions: tuple[tuple[int, float], ...]
    decided_by: str
    seen: bool
    attempts: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class RiskSignal:
    """One reason with its weight. rival: the option that was nearly chosen, or should have been."""

    code: str
    weight: float
    level: int = 0
    chosen: int = 0
    rival: int = 0


def risk_signals(choices: Sequence[RiskChoice]) -> tuple[RiskSignal, ...]:
    """Return the reasons to doubt the decisions of one chunk, heaviest first."""
    signals = (signal for choice in choices for signal in _choice_signals(choice) if signal.weight >= WORTH_SAYING)
    return tuple(sorted(signals, key=lambda signal: (-signal.weight, signal.code, signal.level)))


def source_signals(*, has_helper: bool, in_sample: bool) -> tuple[RiskSignal, ...]:
    """Return the reasons that do not come from the decisions."""
    sample = (RiskSignal("sample", SAMPLE),) if in_sample else ()
    return sample if has_helper else (*sample, RiskSignal("no_helper", NO_HELPER))


def risk(signals: Iterable[RiskSignal]) -> float:
    """Combine weights to a risk in [0, 1), rounded so that it survives a cursor."""
    right = 1.0
    for signal in signals:
        right *= 1 - signal.weight
    return round(1 - right, 6)


def in_sample(percent: float, seed: int, chunk_id: int, filed_seq: int) -> bool:
    """Return True if the filing is in the random sample, the same for everybody with this seed.

    The sample of a larger percentage includes that of a smaller one.
    """
    return _mixed(_mixed(_mixed(seed) ^ chunk_id) ^ filed_seq) / 2**64 * 100 < percent


def reasons(signals: Sequence[RiskSignal], name: Names) -> tuple[RiskReason, ...]:
    """Word the reasons, one per kind, heaviest first; the weight is that of all of its kind together."""
    kinds: dict[str, list[RiskSignal]] = {}
    for signal in sorted(signals, key=lambda signal: -signal.weight):
        kinds.setdefault(signal.code, []).append(signal)
    worded = [RiskReason(code, _worded(same[0], name), risk(same)) for code, same in kinds.items()]
    return tuple(sorted(worded, key=lambda reason: (-reason.weight, reason.code)))


def _mixed(number: int) -> int:
    """Scramble a 64-bit number (splitmix64): ten times faster than a digest."""
    mixed = (number + 0x9E3779B97F4A7C15) & _64_BITS
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _64_BITS
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _64_BITS
    return mixed ^ mixed >> 31


def _choice_signals(choice: RiskChoice) -> list[RiskSignal]:
    opinions = dict(choice.opinions)
    rival, nearness = max(
        ((category, near) for category, near in choice.opinions if category != choice.chosen),
        key=lambda pair: pair[1],
        default=(0, 0.0),
    )
    weights: dict[str, float] = {}
    if choice.is_new:
        weights["new_category"] = NEW + (1 - NEW) * nearness
    elif choice.decided_by != "forced" and nearness > 0:
        own = opinions.get(choice.chosen, 0.0)
        lead = (own - nearness) / max(own, nearness)
        if lead < 0 and not choice.seen:
            weights["disagrees"] = DISAGREES
        else:
            weights["margin"] = MARGIN * (1 - max(lead, 0.0)) ** 2 + AGAINST * max(-lead, 0.0)
    if choice.decided_by == "limit":
        weights["limit"] = LIMIT
    if choice.attempts > 1:
        weights["retried"] = RETRIED
    return [RiskSignal(code, weight, choice.level, choice.chosen, rival) for code, weight in weights.items()]


def _worded(signal: RiskSignal, name: Names) -> str:
    chosen, rival, where = name(signal.chosen), name(signal.rival), f"at level {signal.level}"
    near = f"; nearest of those there were: {rival}" if rival else ""
    margin = f"nearer to {rival} than to {chosen}" if signal.weight > MARGIN else f"about as near to {rival} as to {chosen}"
    return {
        "margin": f"By its words it is {margin} ({where}).",
        "disagrees": f"By its words it is nearer to {rival} than to {chosen} ({where}), which the model did not know.",
        "new_category": f"{chosen} was made for it ({where}){near}.",
        "limit": f"No new category could be made {where}: the limit was reached, so it had to be {chosen}.",
        "retried": f"The model was asked again {where}: its first answer was not valid.",
        "no_helper": "The text had no contextual helper.",
        "sample": "Drawn by lot.",
    }[signal.code]
