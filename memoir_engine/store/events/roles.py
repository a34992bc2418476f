"""The event kind of roles: `roles.changed`. Its rows are the events themselves.

Invariant: no undo. What the settings say is changed there; an undo would only have the record say something else.
Source: docs/decisions/0118.
"""

from __future__ import annotations

from memoir_engine.store import roles
from memoir_engine.store.events.kind import EventKind, Names, family
from memoir_engine.store.events.projection import Body, Projection, ReplayedEvent


def _change(state: Projection, event: ReplayedEvent) -> None:
    state.payloads[event.body["words"]] = event.seq


def _before_after(body: Body, _names: Names, count: int) -> tuple[object, object]:
    before, after = (", ".join(map(str, body[name])) or None for name in ("before", "roles"))
    return (None, None) if count > 1 else (before, after)


KINDS = family(
    EventKind(
        roles.CHANGED,
        "roles before words",
        "the settings give somebody other roles",
        "the settings give {count} people other roles",
        apply=_change,
        inverse=None,
        digests=(),
        replays=(),
        before_after=_before_after,
    ),
)
