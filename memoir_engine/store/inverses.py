"""What takes each kind of event back, and what may stand in its way.

Invariant: pure reading. Events are looked at last first, so a category that an inverse will reopen counts as open for the
inverses after it.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Select, func, select

from memoir_engine.results import Action, AuditEvent
from memoir_engine.store import chain, sources, tree
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.types import FAR, ROOT, Tx, portions

Kind = Literal["withdraw", "restore", "reopen", "refile", "empty", "helper"]


@dataclass(frozen=True)
class Step:
    """`number` is a source, a category or a chunk; `seq` the event whose effect is taken back.

    `other`: the newer version of a source that took its place, or takes it again; the version of a helper to go back to.
    """

    kind: Kind
    number: int
    seq: int
    says: str
    other: int | None = None


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
        "source.replaced": _restore,
        "helper.set": _helper,
        "helper.chosen": _helper,
        "category.created": _empty,
        "category.reopened": _empty,
        "category.closed": _reopen,
        "chunk.refiled": _refile,
    }
    return known[event.kind](inverse, event) if event.kind in known else Found()


def _withdraw(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(t.source.c.status, t.source.c.status_seq, t.source.c.name).where(_is(number))).one()
    if source.status not in sources.LIVE:
        return _changed_by(tx, [source.status_seq])
    left = tx.execute(_filings_of(number, event.seq, inverse.done.events[-1].seq)).all()
    moved = _moved(tx, left)
    if moved:
        return moved
    by = event.body.get("by")
    says = f"{source.name} is {'withdrawn' if by is None else 'replaced again'}; {len(left)} chunks leave the tree"
    return Found((Step("withdraw", number, event.seq, says, by),))


def _restore(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(t.source).where(_is(number))).one()
    if source.status not in ("withdrawn", "replaced"):
        return _changed_by(tx, [source.status_seq])
    stored = sources.find_by_digest(tx, source.owner, source.sha256)
    if stored is not None:
        return Found(clash=f"the same bytes are stored again as source {stored.id}")
    c = t.filing.c
    wanted = select(c.category_id).join(t.chunk, t.chunk.c.id == c.chunk_id)
    wanted = wanted.where(t.chunk.c.source_id == number, c.to_seq == source.status_seq).distinct()
    closed = _closed(inverse, set(tx.execute(wanted).scalars()))
    says = f"{source.name} and its {event.body['filings']} chunks return to the tree"
    return closed or Found((Step("restore", number, source.status_seq, says, event.body.get("by")),))


def _helper(inverse: Inverse, event: AuditEvent) -> Found:
    """Back to the version in force before; nothing for the first one, and for one that never was in force."""
    tx, body = inverse.tx, event.body
    if not body.get("in_force", True) or body.get("was") is None:
        return Found()
    now = tx.execute(select(t.source.c.helper_version, t.source.c.name).where(_is(body["source"]))).one()
    if now.helper_version != body["version"]:
        return _changed_by(tx, _helper_changes(tx, body["source"], event.seq))
    says = f"version {body['was']} of the helper of {now.name} is in force again"
    return Found((Step("helper", body["source"], event.seq, says, body["was"]),))


def _helper_changes(tx: Tx, source_id: int, seq: int) -> list[int]:
    """Later events that put another version of the source's helper in force."""
    c = t.audit_event.c
    later = tx.execute(select(c.seq, c.body).where(c.kind.in_(("helper.set", "helper.chosen")), c.seq > seq)).all()
    bodies = [(row.seq, parse(row.body)) for row in later]
    return [seq for seq, body in bodies if body["source"] == source_id and body.get("in_force", True)]


def _empty(inverse: Inverse, event: AuditEvent) -> Found:
    number = event.body["category"]
    name = (tree.paths(inverse.tx, [number]).get(number) or ("",))[-1]
    return Found((Step("empty", number, event.seq, f"the category {name} closes once nothing is filed in it"),))


def _reopen(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["category"]
    c = t.category_version.c
    old = tx.execute(select(t.category_version).where(c.category_id == number).order_by(c.from_seq.desc()).limit(1)).one()
    if old.to_seq == FAR:
        return _changed_by(tx, [old.from_seq])
    clash = _clash(inverse, old)
    if clash:
        return Found(clash=clash)
    closed = _closed(inverse, {old.parent_key} - {ROOT})
    inverse.reopened[number] = old.parent_key
    return closed or Found((Step("reopen", number, old.to_seq, f"the category {old.name} opens again"),))


def _refile(inverse: Inverse, event: AuditEvent) -> Found:
    tx, body = inverse.tx, event.body
    c = t.filing.c
    left = tx.execute(select(t.filing).where(c.chunk_id == body["chunk"], c.from_seq == event.seq)).all()
    moved = _moved(tx, left)
    if moved:
        return moved
    back = " › ".join(tree.paths(tx, [body["was"]]).get(body["was"], ()))
    step = Step("refile", body["chunk"], event.seq, f"chunk {body['chunk']} goes back to {back}")
    return _closed(inverse, {body["was"]}) or Found((step,))


def _is(source_id: int) -> Any:
    return t.source.c.id == source_id


def _filings_of(source_id: int, first_seq: int, last_seq: int) -> Select[Any]:
    c = t.filing.c
    wanted = select(t.filing).join(t.chunk, t.chunk.c.id == c.chunk_id).where(t.chunk.c.source_id == source_id)
    return wanted.where(c.from_seq >= first_seq, c.from_seq <= last_seq).order_by(c.chunk_id)


def _moved(tx: Tx, left: Sequence[Any]) -> Found | None:
    """Chunks that are not filed any more as these rows left them; one that was moved and put back counts as left alone."""
    ended = {row.chunk_id: row for row in left if row.to_seq != FAR}
    later: list[Any] = []
    c = t.filing.c
    for some in portions(sorted(ended)):
        later += tx.execute(select(t.filing).where(c.chunk_id.in_(some)).order_by(c.from_seq)).all()
    same = {row.chunk_id for row in later if row.to_seq == FAR and _content(row) == _content(ended[row.chunk_id])}
    since = [row.from_seq for row in later if row.chunk_id not in same and row.from_seq > ended[row.chunk_id].from_seq]
    since += [row.to_seq for number, row in ended.items() if number not in same]
    return _changed_by(tx, since) if ended.keys() - same else None


def _content(row: Any) -> tuple[Any, ...]:
    return row.category_id, row.decision_id, row.reviewed_by, row.reviewed_seq


def _changed_by(tx: Tx, seqs: Iterable[int]) -> Found:
    """Blocked by the actions behind these seqs that still stand; an undo counts for what it undid."""
    roots = dict.fromkeys(_root(tx, chain.action_of(tx, seq)) for seq in sorted(set(seqs)))
    standing = tuple(one for one in roots if chain.undone_by(tx, one) is None)
    return Found(blocked_by=standing) if standing else Found(clash="what it left has changed since")


def _root(tx: Tx, action_id: str) -> str:
    while undone := tx.execute(select(t.action.c.undoes).where(t.action.c.id == action_id)).scalar():
        action_id = undone
    return action_id


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


def _closed(inverse: Inverse, category_ids: set[int]) -> Found | None:
    """Blocked when one of these is closed and no step before opens it."""
    tx, c = inverse.tx, t.category_version.c
    needed = category_ids - inverse.reopened.keys()
    closed = sorted(needed - tree.open_categories(tx, needed).keys())
    if not closed:
        return None
    ends = select(func.max(c.to_seq)).where(c.category_id.in_(closed)).group_by(c.category_id)
    return _changed_by(tx, tx.execute(ends).scalars())
