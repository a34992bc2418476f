"""Progress with the openings of the chunks it tells of: looked up by where the chunk stands, since no event keeps a text.

Invariant: what was never stored, or was erased, has no opening.
Source: DESIGN §5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import func, select

from memoir_engine.results import EventView
from memoir_engine.store import tables as t
from memoir_engine.store.types import Tx, portions
from memoir_engine.text.opening import READ_CHARS, opening

PLACED = "ChunkPlaced"


def with_openings(tx: Tx, events: Sequence[EventView], alive: Mapping[int, str]) -> tuple[EventView, ...]:
    """alive: openings by the event's number, of a run that is under way here; what it has stored is looked up."""
    missing = [one for one in events if one.kind == PLACED and one.n not in alive]
    stored = _stored(tx, missing[0].run_id, {int(one.body["position"]) for one in missing}) if missing else {}
    return tuple(
        replace(one, body=one.body | {"quote": alive.get(one.n) or stored.get(int(one.body["position"]))})
        if one.kind == PLACED
        else one
        for one in events
    )


def _stored(tx: Tx, run_id: str, positions: set[int]) -> dict[int, str]:
    c = t.chunk.c
    wanted = select(c.position, func.substr(c.text, 1, READ_CHARS)).join(t.source, t.source.c.id == c.source_id)
    found = {}
    for some in portions(sorted(positions)):
        for position, text in tx.execute(wanted.where(t.source.c.run_id == run_id, c.position.in_(some))):
            found[position] = opening(text)
    return {position: text for position, text in found.items() if text}
