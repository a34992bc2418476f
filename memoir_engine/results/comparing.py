"""Two questions' runs side by side: what was asked differently, chosen differently, read and answered differently.

Invariant: a choice is the same choice when it was made at the same level under the same category, whatever its name was then.
Source: MEMOIR 8 (strategies); DESIGN §9 ("a run with an address of its own").
"""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.results.documents import Path
from memoir_engine.results.outcomes import PathChoice, QueryResult


@dataclass(frozen=True)
class ComparedSetting:
    """Something that differs between the two: strategy, model, question, budget."""

    name: str
    one: str
    other: str


@dataclass(frozen=True)
class ComparedOption:
    """`one` and `other` are the ranks it was given, None where it was not chosen; offered: by which of the two."""

    category_id: int
    name: str
    one: int | None
    other: int | None
    offered: tuple[bool, bool]
    opinion: float | None = None

    @property
    def differs(self) -> bool:
        """Chosen by one of the two only."""
        return (self.one is None) != (self.other is None)


@dataclass(frozen=True)
class ComparedChoice:
    """What became of the options below one category; `made` says which of the two came here at all."""

    level: int
    parent_id: int | None
    parent_path: Path
    options: tuple[ComparedOption, ...]
    made: tuple[bool, bool]

    @property
    def differs(self) -> bool:
        return self.made != (True, True) or any(option.differs for option in self.options)


@dataclass(frozen=True)
class RunComparison:
    """`both`, `only_one` and `only_other` are chunk ids in reading order; paths likewise, by their leaf."""

    one: QueryResult
    other: QueryResult
    settings: tuple[ComparedSetting, ...]
    choices: tuple[ComparedChoice, ...]
    paths_both: tuple[PathChoice, ...]
    paths_one: tuple[PathChoice, ...]
    paths_other: tuple[PathChoice, ...]
    both: tuple[int, ...]
    only_one: tuple[int, ...]
    only_other: tuple[int, ...]
    same_answer: bool
    tree_changed: bool  # between the moments at which they were asked

    @property
    def first_difference(self) -> int | None:
        """The level at which they part; None when every choice is the same."""
        return min((choice.level for choice in self.choices if choice.differs), default=None)
