"""What a person asks to be changed in the tree, as one value.

Invariant: an edit says what is wanted and nothing of what that comes to; categories are ids, the root is 0.
Source: DESIGN §6; API "The ledger and the audit".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from memoir_engine.errors import InvalidSetting, ReviewError
from memoir_engine.store.types import ROOT

EditVerb = Literal["create", "rename", "move", "merge", "split", "retire", "refile_many"]


@dataclass(frozen=True)
class Edit:
    """`category` is what is edited, `other` its new parent, what it is merged into, or where chunks go.

    chosen: chunks of a leaf, or children of an inner category. name: of what is made or renamed.
    """

    verb: EditVerb
    category: int = ROOT
    other: int = ROOT
    chosen: tuple[int, ...] = ()
    name: str = ""

    def told(self) -> dict[str, Any]:
        """For the action's payload, without what its events say one by one."""
        return {name: value for name, value in asdict(self).items() if value and name not in ("verb", "chosen")}


def create(parent_id: int | None, name: str) -> Edit:
    return Edit("create", other=ROOT if parent_id is None else parent_id, name=name)


def rename(category_id: int, name: str) -> Edit:
    return Edit("rename", category_id, name=name)


def move(category_id: int, parent_id: int | None) -> Edit:
    return Edit("move", category_id, ROOT if parent_id is None else parent_id)


def merge(category_id: int, into_id: int) -> Edit:
    return Edit("merge", category_id, into_id)


def split(category_id: int, chosen: Iterable[int], name: str) -> Edit:
    return Edit("split", category_id, chosen=_each("chosen", chosen), name=name)


def retire(category_id: int) -> Edit:
    return Edit("retire", category_id)


def refile_many(chunk_ids: Iterable[int], category_id: int) -> Edit:
    return Edit("refile_many", other=category_id, chosen=_each("chunk_ids", chunk_ids))


def edit_of(verb: object, *given: Any, **named: Any) -> Edit:
    """The edit of that verb with these arguments. Raises ReviewError for a verb there is not, InvalidSetting."""
    known: dict[str, Callable[..., Edit]] = {
        "create": create,
        "rename": rename,
        "move": move,
        "merge": merge,
        "split": split,
        "retire": retire,
        "refile_many": refile_many,
    }
    if not isinstance(verb, str):
        advice = f"Use one of: {', '.join(known)}."
        raise InvalidSetting(name="verb", value=verb, problem="it must be a text", advice=advice)
    if verb not in known:
        raise ReviewError(problem=f"there is no edit {verb!r:.100}; there are {', '.join(known)}")
    try:
        return known[verb](*given, **named)
    except TypeError as unlike:
        advice = f"Give the arguments of review.{verb}."
        raise InvalidSetting(name="arguments", value=[*given, *named], problem=str(unlike), advice=advice) from None


def _each(name: str, value: object) -> tuple[int, ...]:
    """Once each, in their order."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidSetting(name=name, value=value, problem="it must be a list of ids", advice="Give a list, even of one.")
    numbers = list(value)
    for one in numbers:
        if isinstance(one, bool) or not isinstance(one, int):
            raise InvalidSetting(name=name, value=one, problem="it must be a whole number", advice="Results carry the ids.")
    return tuple(dict.fromkeys(numbers))
