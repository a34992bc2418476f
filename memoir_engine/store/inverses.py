"""What takes each kind of event back, and what may stand in its way.

Invariant: pure reading. Events are looked at last first, so a category that an inverse will reopen counts as open for the
inverses after it.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import func, select

from memoir_engine.results import Action, AuditEvent
from memoir_engine.store import chain, sources, tree
from memoir_engine.store import tables as t
from memoir_engine.store.types import FAR, ROOT, Tx

Kind = Literal["withdraw", "restore", "reopen", "refile", "empty"]


@dataclass(frozen=True)
class Step:
    """`number` is a source, a category or a chunk; `seq` the event whose effect is taken back."""

    kind: Kind
    number: int
    seq: int
    says: str


@dataclass(frozen=True)
class Found:
    steps: tuple[Step, ...] = ()
    blocked_by: tuple[str, ...] = ()
    clash: str | None = None


@dataclass
class Inverse:
    """An undo being thought through; `reopened` are the categories that its steps so far will open."""

    tx: Tx
    done: Action
    limits: Callable[[int], int]
    reopened: dict[int, int] = field(default_factory=dict)  # category → its parent


def inverse_of(inverse: Inverse, event: AuditEvent) -> Found:
    """Nothing for events that need no inverse."""
    known: dict[str, Callable[[Inverse, AuditEvent], Found]] = {
        "source.added": _withdraw,
        "source.restored": _withdraw,
        "source.withdrawn": _restore,
        "category.created": _empty,
        "category.reopened": _empty,
        "category.closed": _reopen,
        "chunk.refiled": _refile,
    }
    return known[event.kind](inverse, event) if event.kind in known else Found()


def _withdraw(inverse: Inverse, event: AuditEvent) -> Found:
    number = event.body["source"]
    source = inverse.tx.execute(select(t.source.c.status, t.source.c.status_seq, t.source.c.name).where(_is(number))).one()
    if source.status_seq != event.seq:
        return Found(blocked_by=(chain.action_of(inverse.tx, source.status_seq),))
    moved = _moved_since(inverse, number, event)
    chunks = _count_open(inverse.tx, number)
    says = f"{source.name} is withdrawn; {chunks} chunks leave the tree"
    return Found((Step("withdraw", number, event.seq, says),), moved)


def _restore(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(t.source).where(_is(number))).one()
    if source.status_seq != event.seq:
        return Found(blocked_by=(chain.action_of(tx, source.status_seq),))
    stored = sources.find_by_digest(tx, source.owner, source.sha256)
    if stored is not None:
        return Found(clash=f"the same bytes are stored again as source {stored.id}")
    c = t.filing.c
    wanted = select(c.category_id).join(t.chunk, t.chunk.c.id == c.chunk_id)
    wanted = wanted.where(t.chunk.c.source_id == number, c.to_seq == event.seq).distinct()
    leaves = set(tx.execute(wanted).scalars())
    closed = leaves - tree.open_categories(tx, leaves).keys() - inverse.reopened.keys()
    says = f"{source.name} and its {event.body['filings']} chunks return to the tree"
    return Found((Step("restore", number, event.seq, says),), _closers(tx, closed))


def _empty(inverse: Inverse, event: AuditEvent) -> Found:
    number = event.body["category"]
    name = (tree.paths(inverse.tx, [number]).get(number) or ("",))[-1]
    return Found((Step("empty", number, event.seq, f"the category {name} closes once nothing is filed in it"),))


def _reopen(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["category"]
    c = t.category_version.c
    current = tx.execute(select(c.from_seq).where(c.category_id == number, c.to_seq == FAR)).scalar()
    if current is not None:
        return Found(blocked_by=(chain.action_of(tx, current),))
    old = tx.execute(select(t.category_version).where(c.category_id == number, c.to_seq == event.seq)).one()
    clash = _clash(inverse, old)
    if clash:
        return Found(clash=clash)
    parents = {old.parent_key} - {ROOT} - inverse.reopened.keys()
    closed = parents - tree.open_categories(tx, parents).keys()
    inverse.reopened[number] = old.parent_key
    return Found((Step("reopen", number, event.seq, f"the category {old.name} opens again"),), _closers(tx, closed))


def _refile(inverse: Inverse, event: AuditEvent) -> Found:
    tx, body = inverse.tx, event.body
    c = t.filing.c
    left = tx.execute(select(t.filing).where(c.chunk_id == body["chunk"], c.from_seq == event.seq)).one()
    if left.to_seq != FAR:
        return Found(blocked_by=(chain.action_of(tx, left.to_seq),))
    target = {body["was"]} - inverse.reopened.keys()
    closed = target - tree.open_categories(tx, target).keys()
    back = " › ".join(tree.paths(tx, [body["was"]]).get(body["was"], ()))
    says = f"chunk {body['chunk']} goes back to {back}"
    return Found((Step("refile", body["chunk"], event.seq, says),), _closers(tx, closed))


def _is(source_id: int) -> Any:
    return t.source.c.id == source_id


def _moved_since(inverse: Inverse, source_id: int, event: AuditEvent) -> tuple[str, ...]:
    """Later actions that changed a filing which this action made."""
    c = t.filing.c
    last = inverse.done.events[-1].seq
    wanted = select(c.to_seq).join(t.chunk, t.chunk.c.id == c.chunk_id).where(t.chunk.c.source_id == source_id)
    wanted = wanted.where(c.from_seq >= event.seq, c.from_seq <= last, c.to_seq != FAR).distinct().order_by(c.to_seq)
    return tuple(dict.fromkeys(chain.action_of(inverse.tx, seq) for seq in inverse.tx.execute(wanted).scalars()))


def _count_open(tx: Tx, source_id: int) -> int:
    wanted = select(func.count()).select_from(t.filing.join(t.chunk, t.chunk.c.id == t.filing.c.chunk_id))
    return int(tx.execute(wanted.where(t.chunk.c.source_id == source_id, t.filing.c.to_seq == FAR)).scalar_one())


def _clash(inverse: Inverse, old: Any) -> str | None:
    """Whether the name or the room of a category to reopen has been taken."""
    siblings = tree.open_children(inverse.tx, [old.parent_key]).values()
    if any(one.name_key == old.name_key for one in siblings):
        return f"the name {old.name!r} is taken by another category"
    level = inverse.tx.execute(select(t.category.c.level).where(t.category.c.id == old.category_id)).scalar_one()
    coming = sum(1 for parent in inverse.reopened.values() if parent == old.parent_key)
    if len(siblings) + coming >= inverse.limits(level):
        return f"the limit of level {level} is reached, {old.name!r} finds no room"
    return None


def _closers(tx: Tx, category_ids: set[int]) -> tuple[str, ...]:
    """The actions that closed these categories."""
    c = t.category_version.c
    wanted = select(func.max(c.to_seq)).where(c.category_id.in_(sorted(category_ids))).group_by(c.category_id)
    seqs = sorted(tx.execute(wanted).scalars()) if category_ids else ()
    return tuple(dict.fromkeys(chain.action_of(tx, seq) for seq in seqs))
