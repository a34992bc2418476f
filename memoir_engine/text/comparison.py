"""How one statement stands to another: the answer of a comparison.

Invariant: frozen values. sure: False where it could well be otherwise, so that a person has to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stance = Literal["none", "duplicate", "complementary", "conflict", "update"]
GONE: tuple[Stance, ...] = ("update", "conflict")


@dataclass(frozen=True, slots=True)
class Comparison:
    stance: Stance
    sure: bool = True
    why: str = ""


BESIDE = Comparison("none")
