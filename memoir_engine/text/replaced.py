"""Another value of what one has one at a time: what it does to the value that was known.

Invariant: only values of the same slot and the same kind replace each other surely; one that may hold beside the other, as a
country beside its city, does nothing or is put to a person. Pure. Source: verified/offline-model.md §4.8 (c).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memoir_engine.text.comparison import Comparison
from memoir_engine.text.slots import Slot, Value, ends_work, filled, is_without_work

CHANGED = re.compile(
    r"\b(?:now|moved|moving|relocated|new|since|these days|from \w+ on|as of|nowadays|meanwhile|started|became|become|switched"
    r"|changed|turned|got|went|for good)\b",
    re.IGNORECASE,
)
_FORWARD = {"single": 0, "dating": 1, "in a relationship": 1, "engaged": 2, "married": 3}  # how such things go on


def replaced(old: str, new: str) -> Comparison | None:
    """Two clauses of one subject, both of what is so now."""
    mine, theirs = filled(old), filled(new)
    if mine.keys() & {"role", "employer"} and ends_work(new):
        named = theirs.keys() & {"role", "employer"}
        told_of_another = named and not any(mine[slot].words & theirs[slot].words for slot in named & mine.keys())
        return None if told_of_another else Comparison("update", True, "it says that the job has ended")
    if is_without_work(old) and theirs.keys() & {"role", "employer"}:
        return Comparison("update", True, "there is work again")
    changed = bool(CHANGED.search(new))
    for slot, rule in _RULES:
        if slot in mine and slot in theirs:
            sure = rule(mine[slot], theirs[slot], changed)
            if sure is not None:
                return Comparison("update", sure, f"another {slot}")
    return None


def _home(mine: Value, theirs: Value, changed: bool) -> bool | None:
    """A town and a flat, a street and a town go together; of a town and a country nobody here knows.

    Who said in which flat they live has left it when they live in another now, or in another town.
    """
    if mine.words & theirs.words:
        return None
    loose = {"dwelling", "street"}
    if mine.kind in loose or theirs.kind in loose:
        if theirs.kind in loose:
            return changed if mine.kind in loose or mine.housed else None
        return True if changed else None
    if "maybe" in (mine.kind, theirs.kind):
        return False
    return changed or mine.kind == theirs.kind


def _role(mine: Value, theirs: Value, changed: bool) -> bool | None:
    if mine.words & theirs.words:
        return None
    return changed or (mine.kind == theirs.kind == "told")


def _employer(mine: Value, theirs: Value, changed: bool) -> bool | None:
    """ "At a hospital" may be the hospital that has a name."""
    if mine.words & theirs.words:
        return None
    if mine.kind == theirs.kind == "named":
        return True
    return False if changed or mine.kind == theirs.kind else None


def _diet(mine: Value, theirs: Value, changed: bool) -> bool | None:
    """Vegans are vegetarians, too."""
    if mine == theirs:
        return None
    return changed or (mine.words | theirs.words) - {"vegan", "vegetarian", "pescatarian"} != frozenset()


def _marriage(mine: Value, theirs: Value, changed: bool) -> bool | None:
    (was,), (is_now,) = mine.words, theirs.words
    if was == is_now:
        return None
    return _FORWARD.get(is_now, 0) > _FORWARD.get(was, 0) or is_now in ("divorced", "separated", "widowed") or was not in _FORWARD


def _car(mine: Value, theirs: Value, changed: bool) -> bool | None:
    if mine.words & theirs.words or mine.kind != theirs.kind:
        return None
    return changed and mine.kind == "named"


def _age(mine: Value, theirs: Value, changed: bool) -> bool | None:
    (was,), (is_now,) = mine.words, theirs.words
    return None if was == is_now else int(is_now) > int(was)


def _once(mine: Value, theirs: Value, changed: bool) -> bool | None:
    """Where and when one was born does not change: one of the two is wrong, or says less, or the same of something else."""
    return None if mine.kind != theirs.kind or mine.words <= theirs.words or theirs.words <= mine.words else True


_RULES: tuple[tuple[Slot, Callable[[Value, Value, bool], bool | None]], ...] = (
    ("home", _home),
    ("role", _role),
    ("employer", _employer),
    ("diet", _diet),
    ("marriage", _marriage),
    ("car", _car),
    ("age", _age),
    ("birth day", _once),
    ("birth place", _once),
    ("death place", _once),
    ("made", _once),
)
