"""Database addresses: which driver, and what of them a person may read.

Invariant: no password leaves this module except inside a SQLAlchemy URL.
Source: DESIGN §12; MEMOIR 1.1, 1.5.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from memoir_engine.errors import DatabaseUnreachable

_DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
_EXTRAS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}


def address(url: str) -> URL:
    """The URL with its driver named. Raises DatabaseUnreachable for what is no URL."""
    scheme, _, rest = url.partition("://")
    try:
        return make_url(f"{_DRIVERS.get(scheme, scheme)}://{rest}")
    except (ArgumentError, ValueError):
        problem = "it is not a database URL; examples: sqlite:///memory.db, postgresql://user:password@host/name"
        raise DatabaseUnreachable(url=f"{scheme}://…", problem=problem) from None


def safe(url: URL) -> str:
    """Without password and query, for messages and pages."""
    return url.set(query={}).render_as_string(hide_password=True)


def extra_of(url: URL) -> str:
    """The extra of this package that brings the driver."""
    return _EXTRAS.get(url.get_backend_name(), url.get_backend_name())


def in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def make_folder(url: URL) -> None:
    """Create the folder of a SQLite file. Raises OSError."""
    if url.get_backend_name() == "sqlite" and not in_memory(url) and not str(url.database).startswith("file:"):
        Path(str(url.database)).expanduser().parent.mkdir(parents=True, exist_ok=True)
