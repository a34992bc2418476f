"""A transaction, the two numbers that stand for nothing in a row, values of rows, and portions of long lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select
from sqlalchemy.engine import Connection

T = TypeVar("T")
Tx = Connection  # a connection inside one transaction, as `Database.read` and `Database.write` hand it out

FAR = 2**62  # to_seq of a row that is still open; a number, so that UNIQUE holds for open rows on every database
ROOT = 0  # parent_key of level 1; a UNIQUE over a NULL parent lets duplicates through on every database


def portions(values: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Yield a few at a time: an IN list and a packet have their limits."""
    rest = iter(values)
    while portion := list(islice(rest, size)):
        yield portion


def rows_in(tx: Tx, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of a query whose column has one of these values, portion by portion."""
    for portion in portions(values):
        yield from tx.execute(query.where(column.in_(portion)))


def build(kind: type[T], row: Any, **values: Any) -> T:
    """Build a dataclass from the columns that are named like its fields, and from further or corrected values."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    return kind(**{**{name: value for name, value in row._asdict().items() if name in names}, **values})
