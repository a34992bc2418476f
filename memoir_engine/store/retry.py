"""Which failures of a database pass by themselves, and how long to wait for them.

Invariant: a unit of work is retried whole or not at all; a statement never.
`lost`: the connection is gone, or none can be made. `conflict`: another transaction was in the way. `fatal`: waiting will
not help. A driver says little: a refused connection is an OperationalError that does not count as invalidated.
Source: MEMOIR 7.5; measured on the three servers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

Failure = Literal["lost", "conflict", "fatal"]

_MYSQL_LOST = {0, 1040, 1053, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 2055}
_MYSQL_CONFLICT = {1020, 1205, 1213, 3572, 8022, 9007}  # the last two are TiDB's write conflicts
_PG_LOST = ("08", "57P", "53")
_PG_CONFLICT = ("40001", "40P01", "55P03")
_SQLITE_CONFLICT = ("locked", "busy")


@dataclass(frozen=True)
class Retry:
    """How often and how long: waits double from `first_s` up to `longest_s`, each shortened by up to a half at random."""

    attempts: int = 8
    first_s: float = 0.05
    longest_s: float = 4.0
    chance: Random = field(default_factory=Random, compare=False)  # writers that collided must not collide again

    def wait_s(self, attempt: int) -> float:
        """Before the attempt after this one; attempts count from 1."""
        full = min(self.first_s * 2.0 ** (attempt - 1), self.longest_s)
        return full * (0.5 + self.chance.random() / 2)


def kind_of(error: Exception) -> Failure:
    if isinstance(error, PoolTimeout):
        return "conflict"
    if not isinstance(error, DBAPIError):
        return "fatal"
    known = _by_code(error)
    if known is not None:
        return known
    if error.connection_invalidated:
        return "lost"
    return "lost" if isinstance(error, OperationalError) and _no_connection(error) else "fatal"


def problem_of(error: Exception) -> str:
    """What the driver says, in one line, without the statement and its parameters."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = origin.args[1] if len(origin.args) > 1 and isinstance(origin.args[1], str) else str(origin)
    return (said.strip().splitlines() or [type(origin).__name__])[0]


def _by_code(error: DBAPIError) -> Failure | None:
    origin = error.orig
    state = getattr(origin, "sqlstate", None)
    if isinstance(state, str):
        return "conflict" if state in _PG_CONFLICT else "lost" if state.startswith(_PG_LOST) else None
    code = origin.args[0] if origin is not None and origin.args else None
    if isinstance(code, int):
        return "conflict" if code in _MYSQL_CONFLICT else "lost" if code in _MYSQL_LOST else "fatal"
    if any(word in str(origin) for word in _SQLITE_CONFLICT):
        return "conflict"
    return None


def _no_connection(error: OperationalError) -> bool:
    """psycopg gives no SQLSTATE when it could not connect; SQLite never loses a connection."""
    return "sqlite3" not in type(error.orig).__module__ and getattr(error.orig, "sqlstate", None) is None
