"""What a signature stands for: the state of a source or of a branch as one digest, and what has changed it since.

Invariant: equal states give equal digests whatever led there, so what was changed and taken back counts as left alone. The
digest covers where each chunk is filed, by which decision, who reviewed it and how, the names above it, and the digests that
cover the texts; counters and times are left out.
Source: DESIGN §6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Select, select

from memoir_engine.store import chain, tree
from memoir_engine.store import tables as t
from memoir_engine.store.canon import canonical, parse
from memoir_engine.store.later import Later
from memoir_engine.store.types import FAR, Tx, portions

Subject = Literal["source", "category"]
_SCANNED = 5_000  # events at a time


@dataclass(frozen=True)
class Standing:
    """What there is to sign: `chunks` filed now, `reviewed` of them by a person who did not skip them."""

    title: str
    digest: str
    chunks: int
    reviewed: int
    categories: int


def standing(tx: Tx, subject: Subject, number: int) -> Standing | None:
    """None for a source that there is not, and for a category that is closed."""
    return _of_source(tx, number) if subject == "source" else _of_branch(tx, number)


def changed_by(tx: Tx, subject: Subject, number: int, since: int) -> str | None:
    """The first action after the event `since` that touched the subject and still stands; None when no event did."""
    scope = _scope(tx, subject, number, since)
    first: str | None = None
    later: dict[str, bool] = {}
    for seq, action_id, kind, body in _events_after(tx, since):
        if action_id not in later and scope.touched(kind, body):
            first = first or action_id
            later[action_id] = _stands(tx, action_id, since, seq)
            if later[action_id]:
                return action_id
    return first


# --- the state --------------------------------------------------------------------------------------------------------------


@dataclass
class _Digest:
    """Grows line by line; counts on the way."""

    chunks: int = 0
    reviewed: int = 0
    leaves: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._hash = hashlib.sha256()

    def take(self, *values: Any) -> None:
        self._hash.update(canonical(values).encode() + b"\n")

    def take_filings(self, rows: Iterable[Any]) -> None:
        for row in rows:
            filed = row.category_id is not None
            self.take(row.id, row.digest, row.category_id, row.decision_id, row.reviewed_by, row.verdict)
            self.chunks += filed
            self.reviewed += filed and row.reviewed_by is not None and row.verdict != "skipped"
            self.leaves |= {row.category_id} if filed else set()

    def done(self, title: str, categories: int) -> Standing:
        return Standing(title, self._hash.hexdigest(), self.chunks, self.reviewed, categories)


def _of_source(tx: Tx, number: int) -> Standing | None:
    c = t.source.c
    row = tx.execute(select(c.name, c.digest, c.status, c.replaces, c.helper_version).where(c.id == number)).one_or_none()
    if row is None:
        return None
    made = _Digest()
    made.take("source", number, row.digest, row.status, row.replaces, _helper(tx, number, row.helper_version))
    made.take_filings(tx.execute(_filings(outer=True).where(t.chunk.c.source_id == number).order_by(t.chunk.c.id)))
    for leaf, path in sorted(tree.paths(tx, made.leaves).items()):
        made.take(leaf, *path)
    return made.done(row.name, len(made.leaves))


def _of_branch(tx: Tx, number: int) -> Standing | None:
    nodes = tree.every_open(tx)
    if number not in nodes:
        return None
    path = tree.paths(tx, [number])[number]
    below: dict[int, list[int]] = {}
    for node in nodes.values():
        below.setdefault(node.parent_id, []).append(node.id)
    inside = sorted(_closure([number], below))
    made = _Digest()
    made.take("category", *path)
    for one in inside:
        made.take(one, nodes[one].parent_id, nodes[one].name)
    c = t.filing.c
    for some in portions(inside):
        made.take_filings(tx.execute(_filings().where(c.category_id.in_(some)).order_by(c.category_id, c.chunk_id)))
    return made.done(" › ".join(path), len(inside))


def _filings(*, outer: bool = False) -> Select[Any]:
    f, c = t.filing.c, t.chunk.c
    wanted = select(c.id, c.digest, f.category_id, f.decision_id, f.reviewed_by, f.verdict)
    return wanted.join_from(t.chunk, t.filing, (f.chunk_id == c.id) & (f.to_seq == FAR), isouter=outer)


def _helper(tx: Tx, source_id: int, version: int | None) -> str | None:
    c = t.contextual_helper.c
    return tx.execute(select(c.digest).where(c.source_id == source_id, c.version == version)).scalar()


# --- what has changed it ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scope:
    """Whatever the subject has held since it was signed. `above` are the categories whose names are part of it."""

    is_branch: bool
    sources: set[int]
    chunks: set[int]
    inside: set[int]
    above: set[int]

    def touched(self, kind: str, body: dict[str, Any]) -> bool:
        about = kind.partition(".")[0]
        if about in ("run", "sign_off") or (about == "helper" and self.is_branch):
            return False
        if "chunk" in body:
            return body["chunk"] in self.chunks or body.get("category") in self.inside
        if about == "category":
            return body["category"] in self.inside | self.above or body.get("parent") in self.inside
        return body.get("source") in self.sources


def _scope(tx: Tx, subject: Subject, number: int, since: int) -> _Scope:
    v, f, c = t.category_version.c, t.filing.c, t.chunk.c
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for child, parent in tx.execute(select(v.category_id, v.parent_key).where(v.to_seq > since)):
        above.setdefault(child, []).append(parent)
        below.setdefault(parent, []).append(child)
    filed = select(f.chunk_id, c.source_id, f.category_id).join(t.chunk, c.id == f.chunk_id).where(f.to_seq > since)
    if subject == "source":
        leaves = {row.category_id for row in tx.execute(filed.where(c.source_id == number))}
        chunks = set(tx.execute(select(c.id).where(c.source_id == number)).scalars())
        return _Scope(False, {number}, chunks, set(), _closure(leaves, above))
    inside = _closure([number], below)
    rows = [row for some in portions(sorted(inside)) for row in tx.execute(filed.where(f.category_id.in_(some)))]
    chunks, sources = {row.chunk_id for row in rows}, {row.source_id for row in rows}
    return _Scope(True, sources, chunks, inside, _closure([number], above))


def _closure(begin: Iterable[int], steps: dict[int, list[int]]) -> set[int]:
    found, new = set(begin), list(begin)
    while new:
        new = [far for near in new for far in steps.get(near, ()) if far not in found]
        found |= set(new)
    return found


def _events_after(tx: Tx, since: int) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    e = t.audit_event.c
    wanted = select(e.seq, e.action_id, e.kind, e.body).order_by(e.seq).limit(_SCANNED)
    while rows := tx.execute(wanted.where(e.seq > since)).all():
        for row in rows:
            yield row.seq, row.action_id, row.kind, parse(row.body)
        since = rows[-1].seq


def _stands(tx: Tx, action_id: str, since: int, seq: int) -> bool:
    """Not when what it did, or what it took back, came after the signature and has been taken back since."""
    root = Later(tx, action_id).root(action_id)
    e = t.audit_event.c
    began = seq if root == action_id else tx.execute(select(e.seq).where(e.action_id == root).order_by(e.seq)).scalars().first()
    return began is None or began <= since or chain.undone_by(tx, root) is None
