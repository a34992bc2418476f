"""What takes back each kind of event about sources, helpers and chunks, and what may stand in its way.

Invariant: pure reading; the state of the undo so far is in `Inverse`.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Select, select

from memoir_engine.results import AuditEvent, Source
from memoir_engine.store import category_inverses as categories
from memoir_engine.store import fact_inverses as facts
from memoir_engine.store import knowledge, sources, tree
from memoir_engine.store import review_inverses as reviews
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.types import FAR, Tx, portions
from memoir_engine.store.undoing import Found, Inverse, Step


def inverse_of(inverse: Inverse, kind: str, events: Sequence[AuditEvent]) -> Found:
    """Of events of one kind, one after another, the last first; nothing for events that need no inverse."""
    if kind == "chunk.refiled":
        return _refile(inverse, events)
    known: dict[str, Callable[[Inverse, AuditEvent], Found]] = {
        "source.added": _withdraw,
        "source.restored": _withdraw,
        "source.withdrawn": _restore,
        "source.replaced": _restore,
        "filing.reviewed": reviews.reviewed,
        "chunk.rejected": reviews.rejected,
        "chunk.returned": reviews.returned,
        "helper.set": _helper,
        "helper.chosen": _helper,
        "category.created": categories.opened,
        "category.reopened": categories.opened,
        "category.closed": categories.closed,
        "category.renamed": categories.changed,
        "category.moved": categories.changed,
        "category.merged": categories.changed,
        "category.restored": categories.changed,
        "sign_off.made": _unsign,
        "sign_off.restored": _unsign,
        "sign_off.withdrawn": _resign,
        **dict.fromkeys(facts.KINDS, facts.inverse),
    }
    found = [known[kind](inverse, event) for event in events] if kind in known else []
    steps = tuple(step for one in found for step in one.steps)
    blocked_by = tuple(dict.fromkeys(action for one in found for action in one.blocked_by))
    return Found(steps, blocked_by, next((one.clash for one in found if one.clash), None))


def _withdraw(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(t.source.c.status, t.source.c.status_seq, t.source.c.name).where(_is(number))).one()
    if source.status not in sources.LIVE:
        return inverse.changed([source.status_seq])
    left = tx.execute(_filings_of(number, event.seq, inverse.done.events[-1].seq)).all()
    moved = inverse.moved(left)
    if moved:
        return moved
    by = event.body.get("by")
    says = f"{source.name} is {'withdrawn' if by is None else 'replaced again'}; {len(left)} chunks leave the tree"
    return Found((Step("withdraw", number, event.seq, says, by),))


def _restore(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(t.source).where(_is(number))).one()
    if source.status not in ("withdrawn", "replaced"):
        return inverse.changed([source.status_seq])
    taken = _taken(tx, source)
    if taken is not None:
        return Found(clash=taken)
    c = t.filing.c
    wanted = select(c.category_id).join(t.chunk, t.chunk.c.id == c.chunk_id)
    wanted = wanted.where(t.chunk.c.source_id == number, c.to_seq == source.status_seq).distinct()
    closed = inverse.closed(set(tx.execute(wanted).scalars()))
    says = f"{source.name} and its {event.body['filings']} chunks return to the tree"
    return closed or Found((Step("restore", number, source.status_seq, says, event.body.get("by")),))


def _taken(tx: Tx, source: Any) -> str | None:
    """What stands where it stood. Versions of one another do not: one goes as the other comes."""
    named = knowledge.find(tx, source.doc_id) if source.doc_id else None
    if named is not None and not _versions_of(named, source):
        return f"its doc_id is that of source {named.id} now"
    stored = sources.find_by_digest(tx, source.owner, source.sha256) if source.chunks else None
    if stored is None or _versions_of(stored, source) or stored.status != "filed":
        return None  # knowledge that is not filed may stand beside the same text that is
    return f"the same bytes are stored again as source {stored.id}"


def _versions_of(one: Source, other: Any) -> bool:
    return bool(one.replaces == other.id or other.replaces == one.id)


def _helper(inverse: Inverse, event: AuditEvent) -> Found:
    """Back to the version in force before; nothing for the first one, and for one that never was in force."""
    tx, body = inverse.tx, event.body
    if not body.get("in_force", True) or body.get("was") is None:
        return Found()
    now = tx.execute(select(t.source.c.helper_version, t.source.c.name).where(_is(body["source"]))).one()
    if now.helper_version != body["version"]:
        return inverse.changed(_helper_changes(tx, body["source"], event.seq))
    says = f"version {body['was']} of the helper of {now.name} is in force again"
    return Found((Step("helper", body["source"], event.seq, says, body["was"]),))


def _helper_changes(tx: Tx, source_id: int, seq: int) -> list[int]:
    """Later events that put another version of the source's helper in force."""
    c = t.audit_event.c
    later = tx.execute(select(c.seq, c.body).where(c.kind.in_(("helper.set", "helper.chosen")), c.seq > seq)).all()
    bodies = [(row.seq, parse(row.body)) for row in later]
    return [seq for seq, body in bodies if body["source"] == source_id and body.get("in_force", True)]


def _unsign(inverse: Inverse, event: AuditEvent) -> Found:
    row = inverse.tx.execute(select(t.sign_off).where(t.sign_off.c.from_seq == event.seq)).one()
    if row.to_seq != FAR:
        return inverse.changed([row.to_seq])
    says = f"the signature of {row.signer} under {row.subject} {row.subject_id} is withdrawn"
    return Found((Step("unsign", row.subject_id, event.seq, says),))


def _resign(inverse: Inverse, event: AuditEvent) -> Found:
    row = inverse.tx.execute(select(t.sign_off).where(t.sign_off.c.to_seq == event.seq)).one()
    says = f"the signature of {row.signer} under {row.subject} {row.subject_id} stands again"
    return Found((Step("resign", row.subject_id, event.seq, says),))


def _refile(inverse: Inverse, events: Sequence[AuditEvent]) -> Found:
    tx, was = inverse.tx, {event.body["chunk"]: event.body["was"] for event in events}
    seqs = {event.body["chunk"]: event.seq for event in events}
    c = t.filing.c
    left: list[Any] = []
    for some in portions(seqs.values()):
        left += tx.execute(select(t.filing).where(c.from_seq.in_(some))).all()
    left = [row for row in left if seqs.get(row.chunk_id) == row.from_seq]
    in_the_way = inverse.moved(left) or inverse.closed(set(was.values()))
    if in_the_way:
        return in_the_way
    inverse.leaving |= was.keys()
    back = {leaf: " › ".join(path) for leaf, path in tree.paths(tx, was.values()).items()}
    return Found(
        tuple(
            Step("refile", chunk, seqs[chunk], f"chunk {chunk} goes back to {back.get(leaf, '')}", leaf)
            for chunk, leaf in was.items()
        )
    )


def _is(source_id: int) -> Any:
    return t.source.c.id == source_id


def _filings_of(source_id: int, first_seq: int, last_seq: int) -> Select[Any]:
    c = t.filing.c
    wanted = select(t.filing).join(t.chunk, t.chunk.c.id == c.chunk_id).where(t.chunk.c.source_id == source_id)
    return wanted.where(c.from_seq >= first_seq, c.from_seq <= last_seq).order_by(c.chunk_id)
