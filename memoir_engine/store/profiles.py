"""The cache of profiles: one blob per leaf, stamped with the seq it reflects.

Invariant: a cache; exempt from the chain, never trusted over the rows it was made from.
Source: DESIGN §5 (Profiles).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import delete, insert, select

from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx, portions


@dataclass(frozen=True)
class Profile:
    category_id: int
    seq: int
    tokenizer: str
    body: bytes


def get_all(tx: Tx, tokenizer: str, *, only: Sequence[int] | None = None) -> dict[int, Profile]:
    """Those that this tokenizer made, by leaf; of all leaves, or of `only` these."""
    wanted = select(t.profile).where(t.profile.c.tokenizer == tokenizer).order_by(t.profile.c.category_id)
    rows = tx.execute(wanted if only is None else wanted.where(t.profile.c.category_id.in_(only)))
    return {row.category_id: Profile(row.category_id, row.seq, row.tokenizer, row.body) for row in rows}


def put_many(tx: Tx, profiles: Iterable[Profile]) -> None:
    """Each in place of the leaf's old one."""
    new = {one.category_id: one for one in profiles}
    remove(tx, new)
    if new:
        tx.execute(insert(t.profile), [asdict(one) for one in new.values()])


def remove(tx: Tx, category_ids: Iterable[int]) -> None:
    for some in portions(sorted(set(category_ids))):
        tx.execute(delete(t.profile).where(t.profile.c.category_id.in_(some)))


def clear(tx: Tx) -> None:
    tx.execute(delete(t.profile))
