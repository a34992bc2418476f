"""How many categories a strategy follows at a level.

Invariant: width(level) = min(max_width, max(1, n ∓ (level − 1)·n2)), never more than is offered. Pure.
N counts categories over all open paths together (spec/README 15), so a question costs one call per level.
Source: MEMOIR 8; DESIGN §9 "Width".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from memoir_engine.errors import InvalidSetting

Strategy = Literal["one_shot", "wide_branch", "zoom_in", "branch_out"]


@dataclass(frozen=True)
class Widths:
    """A strategy with its numbers. `step` is what each deeper level adds (branch out) or takes away (zoom in)."""

    strategy: Strategy
    n: int
    n2: int
    step: int
    max_width: int

    def at(self, level: int, offered: int) -> int:
        """How many may be chosen at `level` (from 1) out of `offered`."""
        wanted = max(1, self.n + (level - 1) * self.step)
        return min(offered, self.max_width, wanted)


DEFAULTS: dict[Strategy, tuple[int, int, int]] = {  # n, n2, sign of the step
    "one_shot": (1, 0, 0),
    "wide_branch": (3, 0, 0),
    "zoom_in": (6, 2, -1),
    "branch_out": (6, 2, 1),
}


def widths(strategy: str, n: int | None = None, n2: int | None = None, *, max_width: int) -> Widths:
    """The widths of a strategy; `n` and `n2` override its defaults. One shot is always 1."""
    name = _known(strategy)
    default_n, default_n2, sign = DEFAULTS[name]
    n = default_n if n is None or name == "one_shot" else n
    n2 = default_n2 if n2 is None or sign == 0 else n2
    _positive("n", n, least=1)
    _positive("n2", n2, least=0)
    return Widths(name, n, n2, sign * n2, max_width)


def without_effect(strategy: str, n: int | None, n2: int | None, *, max_width: int) -> tuple[str, ...]:
    """What was asked of a strategy and is not done, in words."""
    name, told = _known(strategy), []
    if name == "one_shot" and n not in (None, 1):
        told.append(f"one_shot follows one category at each level: n = {n} has no effect")
    elif n is not None and n > max_width:
        told.append(f"n = {n} is above max_width: at most {max_width} categories are followed at a level")
    if n2 and DEFAULTS[name][2] == 0:
        told.append(f"{name} keeps its width at every level: n2 = {n2} has no effect")
    return tuple(told)


def _known(strategy: str) -> Strategy:
    for name in get_args(Strategy):
        if name == strategy:
            return name  # type: ignore[no-any-return]  # get_args forgets the literals
    raise InvalidSetting(
        name="strategy",
        value=strategy,
        problem="there is no such strategy",
        advice=f"Use one of: {', '.join(get_args(Strategy))}.",
    )


def _positive(name: str, value: int, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidSetting(
            name=name,
            value=value,
            problem=f"it must be a whole number of {least} or more",
            advice=f"Give {name}={least} or more.",
        )
