"""Database addresses: which driver, and what of them a person may read.

Invariant: no password leaves this module except inside a SQLAlchemy URL.
Source: DESIGN §12; MEMOIR 1.1, 1.5.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from memoir_engine.errors import InvalidSetting

_DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
_EXTRAS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}
_ADVICE = "Use sqlite:///memory.db, postgresql://user:password@host/name, or mysql:// or mariadb:// in the same way."


def address(url: str) -> URL:
    """The URL with its driver named. Raises InvalidSetting for what is no URL, or of a database that is not supported."""
    scheme, separator, rest = url.partition("://")
    try:
        target = make_url(f"{_DRIVERS.get(scheme, scheme)}://{rest}") if separator and "\x00" not in url else None
    except (ArgumentError, ValueError):
        target = None
    if target is None:
        raise refused(scheme if separator else "", "it is not a database URL")
    if target.get_backend_name() not in ("sqlite", *_EXTRAS):
        raise refused(scheme, "there is no support for this database")
    return target


def refused(scheme: str, problem: str) -> InvalidSetting:
    """The error that names the setting; of its value only the scheme, for the rest may hold a password."""
    shown = scheme if re.fullmatch(r"\w+(\+\w+)?", scheme) else "…"
    return InvalidSetting(name="database_url", value=f"{shown}://…", problem=problem, advice=_ADVICE)


def is_ours(url: URL) -> bool:
    """Whether the driver is one that an extra of this package brings."""
    return url.drivername in _DRIVERS.values()


def safe(url: URL) -> str:
    """Without password and query, for messages and pages."""
    return url.set(query={}).render_as_string(hide_password=True)


def extra_of(url: URL) -> str:
    """The extra of this package that brings the driver."""
    return _EXTRAS[url.get_backend_name()]


def in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def make_folder(url: URL) -> None:
    """Create the folder of a SQLite file. Raises OSError."""
    if url.get_backend_name() == "sqlite" and not in_memory(url) and not str(url.database).startswith("file:"):
        Path(str(url.database)).expanduser().parent.mkdir(parents=True, exist_ok=True)
