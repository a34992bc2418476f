"""How many categories a strategy follows at a level.

Invariant: width(level) = min(max_width, max(1, n ∓ (level − 1)·n2)), never more than is offered. Pure, as plug-ins have to be.
N counts categories over all open paths together (spec/README 15), so a question costs one call per level.
Source: MEMOIR 8; DESIGN §9 "Width"; API "Facts" (STRATEGIES).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from memoir_engine.core.errors import InvalidSetting, NotRegistered
from memoir_engine.core.registry import Registry

Shape = Callable[[int, int, int], int]

STRATEGIES: Registry[Shape] = Registry("strategy")
"""Plug-ins by the name that `strategy` of a query gives them: `(level from 1, n, n2)` to how many categories are followed there.

What a plug-in gives its n and n2 as defaults are the strategy's own.
"""

DEFAULT_N, DEFAULT_N2 = 3, 0  # of a plug-in that says neither
SAME_AT_EVERY_LEVEL = ("one_shot", "wide_branch")


@STRATEGIES.register("one_shot")
def one_shot(level: int, n: int = 1, n2: int = 0) -> int:
    return 1


@STRATEGIES.register("wide_branch")
def wide_branch(level: int, n: int = 3, n2: int = 0) -> int:
    return n


@STRATEGIES.register("zoom_in")
def zoom_in(level: int, n: int = 6, n2: int = 2) -> int:
    return n - (level - 1) * n2


@STRATEGIES.register("branch_out")
def branch_out(level: int, n: int = 6, n2: int = 2) -> int:
    return n + (level - 1) * n2


@dataclass(frozen=True)
class Widths:
    """A strategy with its numbers."""

    strategy: str
    n: int
    n2: int
    shape: Shape
    max_width: int

    def at(self, level: int, offered: int) -> int:
        """How many may be chosen at `level` (from 1) out of `offered`. Raises InvalidSetting where a plug-in says no number."""
        wanted = self.shape(level, self.n, self.n2)
        if isinstance(wanted, bool) or not isinstance(wanted, int):
            problem, advice = f"it gave {wanted!r:.50} for level {level}", "Have it return a whole number."
            raise InvalidSetting(name="strategy", value=self.strategy, problem=problem, advice=advice)
        return min(offered, self.max_width, max(1, wanted))


def widths(strategy: str, n: int | None = None, n2: int | None = None, *, max_width: int) -> Widths:
    """The widths of a strategy; `n` and `n2` override its defaults. One shot is always 1."""
    shape = _known(strategy)
    default_n, default_n2 = _defaults(shape)
    n = default_n if n is None or strategy == "one_shot" else n
    n2 = default_n2 if n2 is None or strategy in SAME_AT_EVERY_LEVEL else n2
    _positive("n", n, least=1)
    _positive("n2", n2, least=0)
    return Widths(strategy, n, n2, shape, max_width)


def without_effect(strategy: str, n: int | None, n2: int | None, *, max_width: int) -> tuple[str, ...]:
    """What was asked of a strategy and is not done, in words."""
    told: list[str] = []
    _known(strategy)
    if strategy == "one_shot" and n not in (None, 1):
        told.append(f"one_shot follows one category at each level: n = {n} has no effect")
    elif n is not None and n > max_width:
        told.append(f"n = {n} is above max_width: at most {max_width} categories are followed at a level")
    if n2 and strategy in SAME_AT_EVERY_LEVEL:
        told.append(f"{strategy} keeps its width at every level: n2 = {n2} has no effect")
    return tuple(told)


def _known(strategy: str) -> Shape:
    if isinstance(strategy, str):
        with suppress(NotRegistered):
            return STRATEGIES.get(strategy)
    advice = f"Use one of: {', '.join(STRATEGIES)}."
    raise InvalidSetting(name="strategy", value=strategy, problem="there is no such strategy", advice=advice)


def _defaults(shape: Shape) -> tuple[int, int]:
    """n and n2, as the function itself has them."""
    _, n, n2 = (one.default for one in inspect.signature(shape).parameters.values())
    empty = inspect.Parameter.empty
    return DEFAULT_N if n is empty else n, DEFAULT_N2 if n2 is empty else n2


def _positive(name: str, value: int, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidSetting(
            name=name,
            value=value,
            problem=f"it must be a whole number of {least} or more",
            advice=f"Give {name}={least} or more.",
        )
