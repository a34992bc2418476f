"""Which store this is, so that an index kept beside it knows whether it is of this one.

Invariant: a store keeps its identity as long as it lives; another one at the same place has another. It says nothing else.
"""

from __future__ import annotations

import secrets

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from memoir_engine.store import tables as t
from memoir_engine.store.database import Database
from memoir_engine.store.types import Tx

_NAME = "store"


def identity(db: Database) -> str:
    """32 hex digits; given when first asked for."""
    return db.read(_known) or db.write(_given, operation="the identity of the store")


def _known(tx: Tx) -> str | None:
    return tx.execute(select(t.setting.c.value).where(t.setting.c.name == _NAME)).scalar()


def _given(tx: Tx) -> str:
    if (known := _known(tx)) is not None:
        return known
    try:
        with tx.begin_nested():
            tx.execute(insert(t.setting).values(name=_NAME, value=secrets.token_hex(16)))
    except IntegrityError:
        pass  # another process was faster
    return _known(tx) or ""
