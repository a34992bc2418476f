"""A SELECT over a list of ids, prepared once for each of a few lengths.

Invariant: the same rows as `IN` of the very list. A list is filled up to the next power of two with its last id, so ten
statements serve every length, and none is made anew for a list of two facts after one of three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import BigInteger, BindParameter, ColumnElement, Select, bindparam

from memoir_engine.store.prepared import Prepared
from memoir_engine.store.types import Tx, portions

MOST = 512

Among = Callable[[ColumnElement[int]], ColumnElement[bool]]


class Listed:
    """make: the statement, given what says of a column that it is among the ids."""

    def __init__(self, make: Callable[[Among], Select[Any]]) -> None:
        self._make = make
        self._by_length: dict[int, Prepared] = {}

    def rows(self, tx: Tx, numbers: Iterable[int], **given: Any) -> list[Any]:
        """In the order of the statement, 512 ids after 512, rising."""
        found: list[Any] = []
        for some in portions(sorted(set(numbers)), MOST):
            length = 1 << (len(some) - 1).bit_length()
            filled = some + some[-1:] * (length - len(some))
            found += self._prepared(length).rows(tx, given | {f"id_{at}": number for at, number in enumerate(filled)})
        return found

    def _prepared(self, length: int) -> Prepared:
        if length not in self._by_length:
            binds: list[BindParameter[int]] = [bindparam(f"id_{at}", type_=BigInteger) for at in range(length)]
            self._by_length[length] = Prepared(self._make(lambda column: column.in_(binds)))
        return self._by_length[length]
