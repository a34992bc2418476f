"""What takes back each kind of event about sources, helpers and chunks, and what may stand in its way.

Invariant: pure reading; the state of the undo so far is in `Inverse`.
Source: DESIGN §6 (Undo).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select

from memoir_engine.core.results import AuditEvent, Source
from memoir_engine.store import tables
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.chain.dependents import EDITS
from memoir_engine.store.db.types import FAR, Tx, portions
from memoir_engine.store.review import verdicts
from memoir_engine.store.sources import knowledge
from memoir_engine.store.sources import sources as sources_sources
from memoir_engine.store.tables import sources
from memoir_engine.store.tree import categories, filings
from memoir_engine.store.undo import fact_inverses
from memoir_engine.store.undo.planner import Found, Inverse, Place, Step

# === category_inverses: What takes back each kind of event about categories, and what may stand in its way.
#
# Invariant: what a person did is taken back exactly or not at all; a category that an ingestion made is left to
# `orphans.close`, since others may file in it and go on doing so.
# Source: DESIGN §6 (Undo).


@dataclass(frozen=True)
class _History:
    """A category's versions, oldest first."""

    rows: Sequence[Any]

    def opened_at(self, seq: int) -> Any:
        return next(row for row in self.rows if row.from_seq == seq)

    def ended_at(self, seq: int) -> Any:
        return next(row for row in self.rows if row.to_seq == seq)

    def since(self, seq: int) -> list[int]:
        """Whatever opened or closed a version after it."""
        ends = [row.to_seq for row in self.rows if seq < row.to_seq < FAR]
        return [*(row.from_seq for row in self.rows if row.from_seq > seq), *ends]


def opened(inverse: Inverse, event: AuditEvent) -> Found:
    """It closes: at once where a person made it, else as soon as nothing holds it open."""
    number = event.body["category"]
    history = _history(inverse, number)
    left = Place.of(history.opened_at(event.seq))
    if inverse.later.verb(inverse.later.root(inverse.done.action_id)) not in EDITS:
        edits = inverse.later.edits(history.since(event.seq))
        says = f"the category {left.name} closes once nothing is filed in it"
        return Found(blocked_by=edits) if edits else Found((Step("empty", number, event.seq, says),))
    in_the_way = _touched(inverse, number, history, event.seq, left) or _used(inverse, number, event.seq)
    if in_the_way:
        return in_the_way
    inverse.places[number] = None
    return Found((Step("close", number, event.seq, f"the category {left.name} closes"),))


def closed(inverse: Inverse, event: AuditEvent) -> Found:
    """Its last version opens again."""
    number = event.body["category"]
    history = _history(inverse, number)
    old = history.rows[-1]
    if old.to_seq == FAR:
        return inverse.changed(history.since(event.seq))
    standing = inverse.later.standing(history.since(event.seq))
    if standing:
        return Found(blocked_by=standing)
    place = Place.of(old)
    in_the_way = inverse.clash(number, place, event.seq) or inverse.closed({place.parent_key})
    if in_the_way:
        return in_the_way
    inverse.places[number] = place
    return Found((Step("reopen", number, old.to_seq, f"the category {old.name} opens again"),))


def changed(inverse: Inverse, event: AuditEvent) -> Found:
    """The version before it, again: another name, another parent."""
    number = event.body["category"]
    history = _history(inverse, number)
    left, before = Place.of(history.opened_at(event.seq)), Place.of(history.ended_at(event.seq))
    touched = _touched(inverse, number, history, event.seq, left)
    if touched:
        return touched
    in_the_way = inverse.clash(number, before, event.seq) or inverse.closed({before.parent_key})
    if in_the_way:
        return in_the_way
    inverse.places[number] = before
    return Found((Step("version", number, event.seq, _says(inverse, left, before)),))


def _says(inverse: Inverse, left: Place, before: Place) -> str:
    if left.parent_key != before.parent_key:
        above = " › ".join(categories.paths(inverse.tx, [before.parent_key]).get(before.parent_key, ())) or "level 1"
        return f"the category {before.name} goes back to {above}"
    if left.name != before.name:
        return f"the category {left.name} is called {before.name} again"
    return f"the category {before.name} stands for itself again"


def _history(inverse: Inverse, category_id: int) -> _History:
    c = tables.category_version.c
    return _History(
        inverse.tx.execute(select(tables.category_version).where(c.category_id == category_id).order_by(c.from_seq)).all()
    )


def _touched(inverse: Inverse, number: int, history: _History, seq: int, left: Place) -> Found | None:
    """Blocked when others who stand have changed it since, or it is not as it was left."""
    since = history.since(seq)
    standing = inverse.later.standing(since)
    if standing:
        return Found(blocked_by=standing)
    return None if inverse.place(number) == left else inverse.changed(since)


def _used(inverse: Inverse, number: int, since: int) -> Found | None:
    """Blocked by who filed in it or put categories below it, and by who took them away again: undone, they bring them back."""
    f, v = tables.filing.c, tables.category_version.c
    filed = inverse.tx.execute(select(f.chunk_id, f.from_seq, f.to_seq).where(f.category_id == number, f.to_seq > since)).all()
    below = inverse.tx.execute(select(v.category_id, v.from_seq, v.to_seq).where(v.parent_key == number, v.to_seq > since)).all()
    seqs = [seq for row in (*filed, *below) for seq in (row.from_seq, row.to_seq) if since < seq < FAR]
    standing = inverse.later.standing(seqs)
    if standing:
        return Found(blocked_by=standing)
    users = [row.from_seq for row in filed if row.to_seq == FAR and row.chunk_id not in inverse.leaving]
    users += [row.from_seq for row in below if row.to_seq == FAR and row.category_id not in inverse.places]
    return inverse.changed(users) if users else None


# === review_inverses: What takes back a reviewer's verdict, and what may stand in its way.
#
# Invariant: a verdict can be taken back while the filing that it is about still carries it, or carries it again; a chunk
# that was
# rejected goes back to the leaf from which that verdict took it.
# Source: DESIGN §6 (Undo).


def reviewed(inverse: Inverse, event: AuditEvent) -> Found:
    """The verdict before it, again."""
    body = event.body
    chunk, was = body["chunk"], _was(event)
    in_the_way = inverse.moved([_filing(inverse.tx, chunk, body["filing"])])
    if in_the_way:
        return in_the_way
    row = filings.open_filing(inverse.tx, chunk)
    if row is None or (row.verdict, row.reviewed_seq) != (body["verdict"], body["reviewed"]):
        return inverse.changed(_since(inverse.tx, chunk, event.seq))
    says = f"chunk {chunk} is {was[0] or 'unreviewed'} again" if was[1] is None or was[0] else f"chunk {chunk} is re-filed again"
    return Found((Step("review", chunk, event.seq, says, review=was),))


def rejected(inverse: Inverse, event: AuditEvent) -> Found:
    """It is filed again where it was."""
    tx, body = inverse.tx, event.body
    chunk = body["chunk"]
    row = verdicts.last_filing(tx, chunk)
    if row is None or row.to_seq == FAR or (row.verdict, row.reviewed_seq) != (verdicts.REJECTED, body["reviewed"]):
        return inverse.changed(_since(tx, chunk, event.seq))
    wanted = select(tables.source.c.status, tables.source.c.status_seq).join(
        tables.chunk, tables.chunk.c.source_id == tables.source.c.id
    )
    source = tx.execute(wanted.where(tables.chunk.c.id == chunk)).one()
    if source.status not in sources.LIVE:
        return inverse.changed([source.status_seq])
    leaf = _filing(tx, chunk, body["filing"]).category_id
    back = " › ".join(categories.paths(tx, [leaf]).get(leaf, ()))
    step = Step("return", chunk, event.seq, f"chunk {chunk} goes back to {back}", body["filing"], _was(event))
    return inverse.closed({leaf}) or Found((step,))


def returned(inverse: Inverse, event: AuditEvent) -> Found:
    """It is rejected again, by whom it was."""
    chunk = event.body["chunk"]
    in_the_way = inverse.moved([_filing(inverse.tx, chunk, event.seq)])
    if in_the_way:
        return in_the_way
    inverse.leaving.add(chunk)
    return Found((Step("reject", chunk, event.seq, f"chunk {chunk} is rejected again", review=_was(event)),))


def take(tx: Tx, action: OpenAction, step: Step) -> set[int]:
    """Do one of these steps; the leaf it may have emptied."""
    review, row = verdicts.review_of(tx, step.review), verdicts.last_filing(tx, step.number)
    assert row is not None
    if step.kind == "review":
        verdicts.stamp(tx, action, row, review)
    elif step.kind == "return":
        before = _filing(tx, step.number, step.other or 0)
        verdicts.refile_rejected(tx, action, row, before.category_id, before.decision_id, review)
    else:
        verdicts.reject_filing(tx, action, row, review)
        return {row.category_id}
    return set()


def _was(event: AuditEvent) -> tuple[str | None, int | None]:
    verdict, seq = event.body["before"]
    return verdict, seq


def _filing(tx: Tx, chunk_id: int, from_seq: int) -> Any:
    return tx.execute(
        select(tables.filing).where(tables.filing.c.chunk_id == chunk_id, tables.filing.c.from_seq == from_seq)
    ).one()


def _since(tx: Tx, chunk_id: int, seq: int) -> list[int]:
    """Whatever opened, closed or judged a filing of the chunk after it."""
    rows = tx.execute(select(tables.filing).where(tables.filing.c.chunk_id == chunk_id)).all()
    found = {one for row in rows for one in (row.from_seq, row.to_seq, row.reviewed_seq or 0)}
    return sorted(one for one in found if seq < one < FAR)


# === inverses


def inverse_of(inverse: Inverse, kind: str, events: Sequence[AuditEvent]) -> Found:
    """Of events of one kind, one after another, the last first; nothing for events that need no inverse."""
    if kind == "chunk.refiled":
        return _refile(inverse, events)
    known: dict[str, Callable[[Inverse, AuditEvent], Found]] = {
        "source.added": _withdraw,
        "source.restored": _withdraw,
        "source.withdrawn": _restore,
        "source.replaced": _restore,
        "filing.reviewed": reviewed,
        "chunk.rejected": rejected,
        "chunk.returned": returned,
        "helper.set": _helper,
        "helper.chosen": _helper,
        "category.created": opened,
        "category.reopened": opened,
        "category.closed": closed,
        "category.renamed": changed,
        "category.moved": changed,
        "category.merged": changed,
        "category.restored": changed,
        "sign_off.made": _unsign,
        "sign_off.restored": _unsign,
        "sign_off.withdrawn": _resign,
        **dict.fromkeys(fact_inverses.KINDS, fact_inverses.inverse),
    }
    found = [known[kind](inverse, event) for event in events] if kind in known else []
    steps = tuple(step for one in found for step in one.steps)
    blocked_by = tuple(dict.fromkeys(action for one in found for action in one.blocked_by))
    return Found(steps, blocked_by, next((one.clash for one in found if one.clash), None))


def _withdraw(inverse: Inverse, event: AuditEvent) -> Found:
    tx, number = inverse.tx, event.body["source"]
    source = tx.execute(select(tables.source.c.status, tables.source.c.status_seq, tables.source.c.name).where(_is(number))).one()
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
    source = tx.execute(select(tables.source).where(_is(number))).one()
    if source.status not in ("withdrawn", "replaced"):
        return inverse.changed([source.status_seq])
    taken = _taken(tx, source)
    if taken is not None:
        return Found(clash=taken)
    c = tables.filing.c
    wanted = select(c.category_id).join(tables.chunk, tables.chunk.c.id == c.chunk_id)
    wanted = wanted.where(tables.chunk.c.source_id == number, c.to_seq == source.status_seq).distinct()
    closed = inverse.closed(set(tx.execute(wanted).scalars()))
    says = f"{source.name} and its {event.body['filings']} chunks return to the tree"
    return closed or Found((Step("restore", number, source.status_seq, says, event.body.get("by")),))


def _taken(tx: Tx, source: Any) -> str | None:
    """What stands where it stood. Versions of one another do not: one goes as the other comes."""
    named = knowledge.find(tx, source.doc_id) if source.doc_id else None
    if named is not None and not _versions_of(named, source):
        return f"its doc_id is that of source {named.id} now"
    stored = sources_sources.find_by_digest(tx, source.owner, source.sha256) if source.chunks else None
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
    now = tx.execute(select(tables.source.c.helper_version, tables.source.c.name).where(_is(body["source"]))).one()
    if now.helper_version != body["version"]:
        return inverse.changed(_helper_changes(tx, body["source"], event.seq))
    says = f"version {body['was']} of the helper of {now.name} is in force again"
    return Found((Step("helper", body["source"], event.seq, says, body["was"]),))


def _helper_changes(tx: Tx, source_id: int, seq: int) -> list[int]:
    """Later events that put another version of the source's helper in force."""
    c = tables.audit_event.c
    later = tx.execute(select(c.seq, c.body).where(c.kind.in_(("helper.set", "helper.chosen")), c.seq > seq)).all()
    bodies = [(row.seq, parse(row.body)) for row in later]
    return [seq for seq, body in bodies if body["source"] == source_id and body.get("in_force", True)]


def _unsign(inverse: Inverse, event: AuditEvent) -> Found:
    row = inverse.tx.execute(select(tables.sign_off).where(tables.sign_off.c.from_seq == event.seq)).one()
    if row.to_seq != FAR:
        return inverse.changed([row.to_seq])
    says = f"the signature of {row.signer} under {row.subject} {row.subject_id} is withdrawn"
    return Found((Step("unsign", row.subject_id, event.seq, says),))


def _resign(inverse: Inverse, event: AuditEvent) -> Found:
    row = inverse.tx.execute(select(tables.sign_off).where(tables.sign_off.c.to_seq == event.seq)).one()
    says = f"the signature of {row.signer} under {row.subject} {row.subject_id} stands again"
    return Found((Step("resign", row.subject_id, event.seq, says),))


def _refile(inverse: Inverse, events: Sequence[AuditEvent]) -> Found:
    tx, was = inverse.tx, {event.body["chunk"]: event.body["was"] for event in events}
    seqs = {event.body["chunk"]: event.seq for event in events}
    c = tables.filing.c
    left: list[Any] = []
    for some in portions(seqs.values()):
        left += tx.execute(select(tables.filing).where(c.from_seq.in_(some))).all()
    left = [row for row in left if seqs.get(row.chunk_id) == row.from_seq]
    in_the_way = inverse.moved(left) or inverse.closed(set(was.values()))
    if in_the_way:
        return in_the_way
    inverse.leaving |= was.keys()
    back = {leaf: " › ".join(path) for leaf, path in categories.paths(tx, was.values()).items()}
    return Found(
        tuple(
            Step("refile", chunk, seqs[chunk], f"chunk {chunk} goes back to {back.get(leaf, '')}", leaf)
            for chunk, leaf in was.items()
        )
    )


def _is(source_id: int) -> Any:
    return tables.source.c.id == source_id


def _filings_of(source_id: int, first_seq: int, last_seq: int) -> Select[Any]:
    c = tables.filing.c
    wanted = (
        select(tables.filing).join(tables.chunk, tables.chunk.c.id == c.chunk_id).where(tables.chunk.c.source_id == source_id)
    )
    return wanted.where(c.from_seq >= first_seq, c.from_seq <= last_seq).order_by(c.chunk_id)
