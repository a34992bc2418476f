"""What an edit starts from: the open tree, what is filed in it, and what would close with its last filing.

Invariant: one reading of one moment; under `ids.lock_tree` it holds until the commit.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select

from memoir_engine.results import Path
from memoir_engine.store import chunks, orphans, schema, tree
from memoir_engine.store import tables as t
from memoir_engine.store.edits.asked import Edit
from memoir_engine.store.tree import OpenCategory
from memoir_engine.store.types import FAR, Tx, portions


@dataclass(frozen=True)
class Standing:
    """`filed` are the chunks the edit may move, with their leaves; `counts` all that is filed, by leaf."""

    depth: int
    nodes: Mapping[int, OpenCategory]
    counts: Mapping[int, int]
    filed: Mapping[int, int]
    loose: frozenset[int] = frozenset()

    def path(self, category_id: int) -> Path:
        names: list[str] = []
        while category_id in self.nodes:
            names.append(self.nodes[category_id].name)
            category_id = self.nodes[category_id].parent_id
        return tuple(reversed(names))

    def below(self, category_id: int) -> frozenset[int]:
        """The category itself and all that stands below it."""
        return below(self.nodes.values(), category_id)


def below(nodes: Iterable[OpenCategory], category_id: int) -> frozenset[int]:
    offspring: dict[int, list[int]] = {}
    for node in nodes:
        offspring.setdefault(node.parent_id, []).append(node.id)
    found, new = {category_id}, [category_id]
    while new:
        new = [child for one in new for child in offspring.get(one, ())]
        found |= set(new)
    return frozenset(found)


def load(tx: Tx, edit: Edit) -> Standing:
    nodes = tree.every_open(tx)
    depth = schema.stored_depth(tx) or max((one.level for one in nodes.values()), default=1)
    counts = chunks.counts(tx, [one.id for one in nodes.values() if one.level == depth])
    return Standing(depth, nodes, counts, _filed(tx, edit, nodes), orphans.loose(tx))


def _filed(tx: Tx, edit: Edit, nodes: Mapping[int, OpenCategory]) -> dict[int, int]:
    c = t.filing.c
    column, wanted = c.category_id, below(nodes.values(), edit.category)
    if edit.verb == "refile_many":
        column, wanted = c.chunk_id, frozenset(edit.chosen)
    elif edit.verb not in ("merge", "split"):
        return {}
    found: dict[int, int] = {}
    for some in portions(sorted(wanted)):
        rows = tx.execute(select(c.chunk_id, c.category_id).where(c.to_seq == FAR, column.in_(some)))
        found |= {row.chunk_id: row.category_id for row in rows}
    return dict(sorted(found.items()))
