"""The category tree, now or as of a seq.

Invariant: "now" and "then" are the same query with another number; siblings come in order of creation.
Source: DESIGN §2.7, §5; MEMOIR 3.3–3.8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, insert, select, update

from memoir_engine.core.errors import CategoryNotFound
from memoir_engine.core.results import Category
from memoir_engine.core.results.documents import Path
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.actions import OpenAction
from memoir_engine.store.chain.canonical_json import seal
from memoir_engine.store.db import schema
from memoir_engine.store.db.text_rules import name_key
from memoir_engine.store.db.types import FAR, ROOT, Tx, portions
from memoir_engine.text.names import SEPARATOR, fold


class CategoryRow(NamedTuple):
    """A category. `parent_id` is 0 at level 1; `chunks` counts what is filed in it or below."""

    id: int
    parent_id: int
    level: int
    name: str
    chunks: int
    created_seq: int


@dataclass(frozen=True)
class TreeRows:
    """The whole tree at one seq: parents before children, siblings by id."""

    seq: int
    categories: tuple[CategoryRow, ...]


class OpenCategory(NamedTuple):
    id: int
    level: int
    parent_id: int
    name: str
    name_key: str


def snapshot(tx: Tx, at_seq: int | None = None) -> TreeRows:
    """Read the whole tree in one go; 10,000 categories are quick."""
    seq = actions.seq(tx) if at_seq is None else at_seq
    v = tables.category_version.c
    query = (
        select(v.category_id, v.parent_key, tables.category.c.level, v.name, tables.category.c.created_seq)
        .join(tables.category, tables.category.c.id == v.category_id)
        .where(open_at(tables.category_version, at_seq))
        .order_by(tables.category.c.level, v.category_id)
    )
    rows = tx.execute(query).all()
    totals = _totals(tx, {row.category_id: row.parent_key for row in rows}, at_seq)
    return TreeRows(seq, tuple(CategoryRow(n, p, level, name, totals.get(n, 0), made) for n, p, level, name, made in rows))


def all_categories(tx: Tx, *, at_seq: int | None = None) -> tuple[Category, ...]:
    """Return every category, parents before children."""
    return tuple(_views(snapshot(tx, at_seq), schema.stored_depth(tx)).values())


def roots(tx: Tx, *, at_seq: int | None = None) -> tuple[Category, ...]:
    return children(tx, None, at_seq=at_seq)


def children(tx: Tx, category_id: int | None, *, at_seq: int | None = None) -> tuple[Category, ...]:
    """Return the children of a category, or of the root for None. Raises CategoryNotFound."""
    views = _views(snapshot(tx, at_seq), schema.stored_depth(tx))
    if category_id is not None and category_id not in views:
        raise CategoryNotFound(category_id=category_id)
    return tuple(category for category in views.values() if category.parent_id == category_id)


def node(tx: Tx, category_id: int, *, at_seq: int | None = None) -> Category:
    """Return one category. Raises CategoryNotFound, also if it is closed at that seq."""
    category = _views(snapshot(tx, at_seq), schema.stored_depth(tx)).get(category_id)
    if category is None:
        raise CategoryNotFound(category_id=category_id)
    return category


def path(tx: Tx, category_id: int, *, at_seq: int | None = None) -> tuple[Category, ...]:
    """Return the categories from level 1 down to this one. Raises CategoryNotFound."""
    views = _views(snapshot(tx, at_seq), schema.stored_depth(tx))
    steps: list[Category] = []
    below: int | None = category_id
    while below is not None:
        if below not in views:
            raise CategoryNotFound(category_id=category_id)
        steps.append(views[below])
        below = views[below].parent_id
    return tuple(reversed(steps))


def search(tx: Tx, needle: str, *, limit: int = 50, at_seq: int | None = None) -> tuple[Category, ...]:
    """Return categories whose name contains `needle`, ignoring case, the fullest first."""
    folded = needle.casefold().strip()
    views = _views(snapshot(tx, at_seq), schema.stored_depth(tx)).values()
    hits = sorted(
        (category for category in views if folded in category.name.casefold()),
        key=lambda category: (-category.chunks, category.id),
    )
    return tuple(hits[:limit])


def search_paths(
    tx: Tx, text: str, *, limit: int = 50, leaves_only: bool = False, at_seq: int | None = None
) -> tuple[Category, ...]:
    """Return categories whose path has a word beginning with each word of `text`; matches in their own name first."""
    words = fold(text.replace(SEPARATOR, " ")).split()
    hits: list[tuple[int, int, int, Category]] = []
    for category in _views(snapshot(tx, at_seq), schema.stored_depth(tx)).values():
        whole, own = _words(category.path), _words(category.path[-1:])
        if (category.is_leaf or not leaves_only) and all(_begins(word, whole) for word in words):
            hits.append((-sum(_begins(word, own) for word in words), -category.chunks, category.id, category))
    return tuple(category for *_, category in sorted(hits, key=lambda hit: hit[:3])[:limit])


def open_at(table: Any, at_seq: int | None) -> ColumnElement[bool]:
    """Return the condition for open rows of `filing` or `category_version`: now, or at that seq."""
    if at_seq is None:
        return table.c.to_seq == FAR  # type: ignore[no-any-return]  # Table.c is untyped
    return (table.c.from_seq <= at_seq) & (table.c.to_seq > at_seq)  # type: ignore[no-any-return]  # as above


def child_by_name(tx: Tx, parent_id: int | None, name: str) -> int | None:
    """Return the id of the open child whose folded name equals this one."""
    v = tables.category_version.c
    wanted = select(v.category_id).where(v.parent_key == (parent_id or ROOT), v.name_key == name_key(name), v.to_seq == FAR)
    return tx.execute(wanted).scalar()


def open_categories(tx: Tx, category_ids: Iterable[int], *, at_seq: int | None = None) -> dict[int, OpenCategory]:
    """Return those of these categories that are open."""
    return _open(tx, "category_id", category_ids, at_seq)


def open_children(tx: Tx, parent_ids: Iterable[int]) -> dict[int, OpenCategory]:
    """Return the open children of these parents (0 is the root), by id."""
    return _open(tx, "parent_key", parent_ids)


def open_tree(tx: Tx) -> dict[int, OpenCategory]:
    """Return all open categories by id, without counting what is filed in them."""
    v = tables.category_version.c
    wanted = select(v.category_id, tables.category.c.level, v.parent_key, v.name, v.name_key)
    wanted = wanted.join(tables.category, tables.category.c.id == v.category_id).where(v.to_seq == FAR).order_by(v.category_id)
    return {row.category_id: OpenCategory(*row) for row in tx.execute(wanted)}


def merged_into(tx: Tx, category_ids: Iterable[int], *, at_seq: int | None = None) -> dict[int, int]:
    """Map closed categories to the open category they were merged into, following chains of merges."""
    ends = {one: one for one in category_ids}
    while closed := set(ends.values()) - open_categories(tx, ends.values(), at_seq=at_seq).keys():
        known = _last_merges(tx, closed, at_seq)
        ends = {one: known.get(end, end) for one, end in ends.items() if end not in closed or end in known}
    return ends


def names(tx: Tx, *, at_seq: int | None = None) -> dict[int, str]:
    """Return the name of every category now or at that seq."""
    return {row.id: row.name for row in snapshot(tx, at_seq).categories}


def paths(tx: Tx, category_ids: Iterable[int], *, at_seq: int | None = None) -> dict[int, Path]:
    """Return the names from level 1 down, now or at that seq; a closed category has its last path."""
    steps: dict[int, tuple[int, str]] = {}
    pending = {category_id for category_id in category_ids if category_id}
    ids = set(pending)
    while pending:
        steps |= _last_names(tx, pending, at_seq)
        pending = {steps[category_id][0] for category_id in pending if category_id in steps} - steps.keys() - {ROOT}
    return {category_id: _path(category_id, steps) for category_id in ids if category_id in steps}


def _open(tx: Tx, column: str, values: Iterable[int], at_seq: int | None = None) -> dict[int, OpenCategory]:
    v = tables.category_version.c
    by_id: dict[int, OpenCategory] = {}
    for batch in portions(sorted(set(values))):
        query = select(v.category_id, tables.category.c.level, v.parent_key, v.name, v.name_key)
        query = query.join(tables.category, tables.category.c.id == v.category_id)
        query = query.where(open_at(tables.category_version, at_seq), v[column].in_(batch))
        by_id |= {row.category_id: OpenCategory(*row) for row in tx.execute(query.order_by(v.category_id))}
    return by_id


def _last_names(tx: Tx, category_ids: Iterable[int], at_seq: int | None) -> dict[int, tuple[int, str]]:
    v = tables.category_version.c
    name_of: dict[int, tuple[int, str]] = {}
    for batch in portions(sorted(category_ids)):
        query = select(v.category_id, v.parent_key, v.name).where(v.category_id.in_(batch)).order_by(v.from_seq)
        query = query if at_seq is None else query.where(v.from_seq <= at_seq)
        name_of |= {row.category_id: (row.parent_key, row.name) for row in tx.execute(query)}
    return name_of


def _last_merges(tx: Tx, category_ids: Iterable[int], at_seq: int | None) -> dict[int, int]:
    v = tables.category_version.c
    last: dict[int, int | None] = {}
    for some in portions(sorted(category_ids)):
        wanted = select(v.category_id, v.merged_into).where(v.category_id.in_(some)).order_by(v.from_seq)
        wanted = wanted if at_seq is None else wanted.where(v.from_seq <= at_seq)
        last |= {row.category_id: row.merged_into for row in tx.execute(wanted)}
    return {number: into for number, into in last.items() if into is not None}


def _path(category_id: int, steps: dict[int, tuple[int, str]]) -> Path:
    names: list[str] = []
    while category_id in steps:
        category_id, name = steps[category_id]
        names.append(name)
    return tuple(reversed(names))


def _words(path: Path) -> list[str]:
    return fold(" ".join(path)).split()


def _begins(word: str, words: list[str]) -> bool:
    """Return True if a word begins with this prefix, or contains it in scripts that do not separate words."""
    return any(one.startswith(word) or (not word.isascii() and word in one) for one in words)


def _totals(tx: Tx, parents: dict[int, int], at_seq: int | None) -> dict[int, int]:
    counted: Select[Any] = select(tables.filing.c.category_id, func.count()).where(open_at(tables.filing, at_seq))
    totals: dict[int, int] = {}
    for leaf, chunks in tx.execute(counted.group_by(tables.filing.c.category_id)):
        above = leaf
        while above != ROOT and above in parents:
            totals[above] = totals.get(above, 0) + chunks
            above = parents[above]
    return totals


def _views(rows: TreeRows, depth: int | None) -> dict[int, Category]:
    """Return the categories by id, parents before children."""
    offspring: dict[int, int] = {}
    for row in rows.categories:
        offspring[row.parent_id] = offspring.get(row.parent_id, 0) + 1
    views: dict[int, Category] = {}
    for row in rows.categories:
        above = views[row.parent_id].path if row.parent_id in views else ()
        is_leaf = row.level == depth if depth else row.id not in offspring
        views[row.id] = Category(
            id=row.id,
            name=row.name,
            level=row.level,
            parent_id=row.parent_id or None,
            path=(*above, row.name),
            chunks=row.chunks,
            children=offspring.get(row.id, 0),
            is_leaf=is_leaf,
            created_seq=row.created_seq,
        )
    return views


Row = dict[str, Any]


def row_of(category_id: int, parent: int, name: str, seq: int, *, merged_into: int | None = None) -> Row:
    return {
        "category_id": category_id,
        "from_seq": seq,
        "to_seq": FAR,
        "parent_id": None if parent == ROOT else parent,
        "parent_key": parent,
        "name": name,
        "name_key": name_key(name),
        "merged_into": merged_into,
    }


def make(tx: Tx, action: OpenAction, category_id: int, parent: int, level: int, name: str, *, payload: str | None = None) -> None:
    """Create a category with its first version."""
    seq = action.next_seq
    row = seal(tables.category_version, [row_of(category_id, parent, name, seq)])[0]
    action.add("category.created", payload=payload, category=category_id, level=level, parent=parent, digest=row["digest"])
    tx.execute(insert(tables.category), [{"id": category_id, "level": level, "created_seq": seq}])
    tx.execute(insert(tables.category_version), [row])


def change(
    tx: Tx,
    action: OpenAction,
    kind: str,
    category_id: int,
    parent: int,
    name: str,
    *,
    merged_into: int | None = None,
    payload: str | None = None,
) -> None:
    """Open a new version. kind: category.renamed, category.moved, category.merged, category.restored."""
    row = row_of(category_id, parent, name, action.next_seq, merged_into=merged_into)
    sealed = seal(tables.category_version, [row])[0]
    seq = action.add(kind, payload=payload, category=category_id, parent=parent, digest=sealed["digest"])
    _end(tx, category_id, seq)
    tx.execute(insert(tables.category_version), [sealed])


def close(tx: Tx, action: OpenAction, category_id: int, *, payload: str | None = None) -> int:
    """Close a category and return its parent."""
    c = tables.category_version.c
    parent = tx.execute(select(c.parent_key).where(c.category_id == category_id, c.to_seq == FAR)).scalar_one()
    _end(tx, category_id, action.add("category.closed", payload=payload, category=category_id))
    return int(parent)


def reopen(tx: Tx, action: OpenAction, category_id: int, closed_seq: int) -> None:
    """Reopen the version that was closed at that seq."""
    old = _ended_at(tx, category_id, closed_seq)
    row = seal(tables.category_version, [{**old._mapping, "from_seq": action.next_seq, "to_seq": FAR}])[0]
    numbers = {"category": category_id, "closed": closed_seq, "parent": row["parent_key"]}
    action.add("category.reopened", **numbers, digest=row["digest"])
    tx.execute(insert(tables.category_version), [row])


def restore(tx: Tx, action: OpenAction, category_id: int, changed_seq: int) -> int:
    """Restore the version that was replaced at that seq, and return the present parent."""
    c = tables.category_version.c
    parent = tx.execute(select(c.parent_key).where(c.category_id == category_id, c.to_seq == FAR)).scalar_one()
    old = _ended_at(tx, category_id, changed_seq)
    change(tx, action, "category.restored", category_id, old.parent_key, old.name, merged_into=old.merged_into)
    return int(parent)


def _ended_at(tx: Tx, category_id: int, seq: int) -> Any:
    c = tables.category_version.c
    return tx.execute(select(tables.category_version).where(c.category_id == category_id, c.to_seq == seq)).one()


def _end(tx: Tx, category_id: int, seq: int) -> None:
    c = tables.category_version.c
    tx.execute(update(tables.category_version).where(c.category_id == category_id, c.to_seq == FAR).values(to_seq=seq))
