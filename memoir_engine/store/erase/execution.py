"""Erase a source: shown first, done in one action, final.

Invariant: once per action id; the text is out of every place (`erasing.PLACES`) in the transaction that says so, and the event
covers what was left of each row. Its chunks leave the tree in the same action. While it happens nobody writes a call: runs that
may hold the text are refused from then on (`ids.erasures`).
A name that says words of no other source goes too: its category closes where nothing else is filed below it, else it is named
anew.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from sqlalchemy import select, update

from memoir_engine.core.errors import NameTaken, NothingChanges
from memoir_engine.core.results import Action, ErasedPlace, ErasurePreview, QuotingName, Tombstone
from memoir_engine.core.run import Clock
from memoir_engine.store import tables
from memoir_engine.store.chain import actions, tombstones
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import parse
from memoir_engine.store.db import compaction, ids
from memoir_engine.store.db.text_rules import check_name, name_key
from memoir_engine.store.db.types import FAR, ROOT, Tx, portions
from memoir_engine.store.erase import places as erase_places
from memoir_engine.store.erase.places import Keys, TextPlace
from memoir_engine.store.erase.usages import SourceUsages, trace
from memoir_engine.store.ledger import runs
from memoir_engine.store.search import passages
from memoir_engine.store.sources import sources
from memoir_engine.store.sources.sources import ERASED
from memoir_engine.store.tree import categories, filings

VERB = "erase"
Names = Mapping[int, str]


def preview(tx: Tx, source_id: int, *, keep: Collection[int] = (), rename: Names | None = None) -> ErasurePreview:
    """Raises SourceNotFound, NothingChanges, and what `rename` may be refused for."""
    _refuse_erased(tx, source_id)
    traced = trace(tx, source_id, keep=keep)
    others = tuple(one.id for one in sources.versions(tx, source_id) if one.id != source_id)
    return ErasurePreview(
        source_id=source_id,
        name=traced.source.name,
        filings=len(filings.filings_of(tx, source_id, to_seq=FAR)),
        places=_counted([(place, len(keys)) for place, keys in erase_places.found(tx, traced)]),
        names=_names(tx, traced, rename or {}),
        questions=traced.questions,
        versions=others,
    )


def erase(
    tx: Tx,
    source_id: int,
    *,
    actor: str,
    reason: str,
    clock: Clock,
    action_id: str | None = None,
    keep: Collection[int] = (),
    rename: Names | None = None,
) -> Action:
    """keep: categories whose names stay. rename: names for categories that quote it. Raises as the preview does."""
    ids.reserve(tx, "erasure", 1)
    ids.lock_tree(tx)
    ids.reserve(tx, "fact", 0)  # who feeds an index of facts waits here
    if action_id is not None and actions.exists(tx, action_id):
        return actions.get(tx, action_id)
    _refuse_erased(tx, source_id)
    traced = trace(tx, source_id, keep=keep)
    names = _names(tx, traced, rename or {})
    _cancel_waiting(tx, traced, clock)
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=reason)
    left = _clear(tx, action, traced)
    _rename_quoting(tx, action, names)
    filings.close_empty_categories(tx, action, left)
    action.seal()
    compaction.note(tx)
    return actions.get(tx, action.id)


def tombstone(tx: Tx, source_id: int) -> Tombstone | None:
    """Return the tombstone of an erased source; None where it was not erased. Raises SourceNotFound."""
    source = sources.get(tx, source_id)
    if source.status != ERASED:
        return None
    c = tables.audit_event.c
    seq = tx.execute(select(tables.source.c.status_seq).where(tables.source.c.id == source_id)).scalar_one()
    event = tx.execute(select(c.action_id, c.body).where(c.seq == seq)).one()
    action = actions.get(tx, event.action_id)
    counts = parse(event.body)["places"]
    said = {f"{place.table}:{place.stone or ''}": place for place in reversed(erase_places.PLACES)}
    places = _counted([(place, counts.get(name, 0)) for name, place in reversed(said.items())])
    return Tombstone(source_id, action.action_id, seq, action.actor, action.at, action.reason or "", places)


def _refuse_erased(tx: Tx, source_id: int) -> None:
    if sources.get(tx, source_id).status == ERASED:
        raise NothingChanges(problem=f"source {source_id} was erased already")


def _cancel_waiting(tx: Tx, traced: SourceUsages, clock: Clock) -> None:
    """Drafts over the same bytes, and whatever of its own is at work: it is closed, and refused if it goes on."""
    c = tables.run.c
    alive = select(c.id).where(c.id.in_(traced.runs), c.status.in_(runs.ALIVE)).order_by(c.id)
    for run_id in tx.execute(alive).scalars().all():
        runs.finish(tx, run_id, "cancelled", clock=clock, result={}, error="its source was erased")


def _clear(tx: Tx, action: OpenAction, traced: SourceUsages) -> set[int]:
    """All places, with the stones and the event that covers them; the leaves its chunks leave."""
    number, seq = traced.source.id, action.next_seq
    passages.follow(tx, number, live=False)  # before its vectors go: from here on none is written
    found = erase_places.found(tx, traced)
    for place, keys in found:
        place.clear(tx, traced, keys)
    gone, changed = _stones(found, "gone"), _stones(found, "changed")
    changed["outcome"] = changed["run"]
    digest = tombstones.set_over(tx, seq, gone, changed)
    here = filings.filings_of(tx, number, to_seq=FAR)
    counts: Counter[str] = Counter()
    for place, keys in found:
        counts[f"{place.table}:{place.stone or ''}"] += len(keys)
    action.add("source.erased", source=number, filings=len(here), places=dict(+counts), stones=digest)
    filings.close(tx, [(row.chunk_id, row.from_seq) for row in here], seq)
    tx.execute(update(tables.source).where(tables.source.c.id == number).values(status=ERASED, status_seq=seq))
    return {row.category_id for row in here}


def _stones(found: list[tuple[TextPlace, Keys]], kind: str) -> dict[str, list[str]]:
    by_table: dict[str, list[str]] = {}
    for place, keys in found:
        if place.stone == kind:
            by_table.setdefault(place.table, []).extend(keys)
    return by_table


def _rename_quoting(tx: Tx, action: OpenAction, names: tuple[QuotingName, ...]) -> None:
    """Close categories from below upwards, then rename the others."""
    for one in sorted(names, key=lambda one: -len(one.path)):
        if one.becomes is None:
            categories.close(tx, action, one.category_id)
    for one in names:
        if one.becomes is not None:
            parent = categories.open_categories(tx, [one.category_id])[one.category_id].parent_id
            categories.change(tx, action, "category.renamed", one.category_id, parent, one.becomes)


def _names(tx: Tx, traced: SourceUsages, rename: Names) -> tuple[QuotingName, ...]:
    """The open categories whose name quotes it now, or did before, and what becomes of those that do now."""
    current = _open(tx, traced.quoting["category_version"])
    now = categories.open_categories(tx, current)
    unknown = sorted(rename.keys() - current)
    if unknown:
        raise NothingChanges(problem=f"the name of category {unknown[0]} does not quote source {traced.source.id}")
    below = _below(tx, traced)
    closing = _closing(tx, current - rename.keys(), below) - rename.keys()
    now |= categories.open_categories(tx, closing)
    paths = categories.paths(tx, sorted(current | closing))
    found = []
    for number in sorted(current | closing):
        becomes = None if number in closing else check_name(rename.get(number, erase_places.blank_name(number)))
        found.append(QuotingName(number, tuple(paths[number]), below.get(number, 0), becomes))
    for one in found:
        _refuse_taken(tx, one, now[one.category_id].parent_id, found)
    return tuple(found)


def _open(tx: Tx, versions: Keys) -> set[int]:
    """The categories of those of the versions that are open."""
    c = tables.category_version.c
    found: set[int] = set()
    for some in portions(sorted({int(key.split("/")[0]) for key in versions})):
        rows = tx.execute(select(c.category_id, c.from_seq).where(c.category_id.in_(some), c.to_seq == FAR))
        found |= {row.category_id for row in rows if f"{row.category_id}/{row.from_seq}" in versions}
    return found


def _refuse_taken(tx: Tx, one: QuotingName, parent: int, found: list[QuotingName]) -> None:
    if one.becomes is None:
        return
    mine = {each.category_id for each in found}
    siblings = categories.open_children(tx, [parent]).values()
    taken = {each.name_key for each in siblings if each.id not in mine}
    taken |= {name_key(each.becomes) for each in found if each is not one and each.becomes and each.path[:-1] == one.path[:-1]}
    if name_key(one.becomes) in taken:
        raise NameTaken(name=one.becomes, parent=" › ".join(one.path[:-1]) or "the top")


def _below(tx: Tx, traced: SourceUsages) -> dict[int, int]:
    """Chunks of other sources, per category that has some below it."""
    f, v = tables.filing.c, tables.category_version.c
    mine = set(traced.chunks)
    parents = dict(tx.execute(select(v.category_id, v.parent_key).where(v.to_seq == FAR)).all())
    counts: dict[int, int] = {}
    for chunk, leaf in tx.execute(select(f.chunk_id, f.category_id).where(f.to_seq == FAR)):
        here = ROOT if chunk in mine else leaf
        while here != ROOT:
            counts[here] = counts.get(here, 0) + 1
            here = parents.get(here, ROOT)
    return counts


def _closing(tx: Tx, wanted: Collection[int], below: Mapping[int, int]) -> set[int]:
    """Return the categories with no chunk of another source below, and the empty ones below them."""
    v = tables.category_version.c
    new = {number for number in wanted if not below.get(number)}
    closing = set(new)
    while new:
        some = select(v.category_id).where(v.parent_key.in_(sorted(new)), v.to_seq == FAR)
        new = set(tx.execute(some).scalars()) - closing
        closing |= new
    return closing


def _counted(found: list[tuple[TextPlace, int]]) -> tuple[ErasedPlace, ...]:
    return tuple(ErasedPlace(place.table, place.says, count) for place, count in found if count)
