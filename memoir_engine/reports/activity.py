"""The activity as a table for spreadsheets and as JSON.

Invariant: no cell can be taken for a formula. The JSON holds the same, with every event as the chain has it.
Source: API "The ledger and the audit".
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from memoir_engine.reports import words
from memoir_engine.results import Action, AuditEvent, Change
from memoir_engine.text.cells import safe_cell

FORMAT = "memoir-activity/1"
COLUMNS = (
    *("at", "actor", "action", "verb", "what", "before", "after", "count", "reason", "run", "undoes", "undone_by"),
    *("first_event", "last_event", "last_hash"),
)


def head_line() -> str:
    return _line(COLUMNS)


def lines(actions: Iterable[Action]) -> str:
    """One line per thing an action did; the action's own cells are repeated."""
    return "".join(_line(_cells(action, change)) for action in actions for change in action.changes or (None,))


def item(action: Action) -> dict[str, Any]:
    """An action as JSON has it."""
    return {
        "action": action.action_id,
        "at": stamp(action.at),
        "actor": action.actor,
        "verb": action.verb,
        "says": words.verb(action.verb),
        "reason": action.reason,
        "run": action.run_id,
        "undoes": action.undoes,
        "undone_by": action.undone_by,
        "changes": [change_item(one) for one in action.changes],
        "events": [_event(one) for one in action.events],
    }


def change_item(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "says": change.says,
        "before": change.before,
        "after": change.after,
        "count": change.count,
        "source": change.source_id,
        "category": change.category_id,
        "chunk": change.chunk_id,
    }


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _cells(action: Action, change: Change | None) -> tuple[object, ...]:
    did = (change.says, change.before, change.after, change.count) if change else (None, None, None, None)
    first, last = (action.events[0], action.events[-1]) if action.events else (None, None)
    ends = (first.seq if first else None, last.seq if last else None, last.hash if last else None)
    who = (stamp(action.at), action.actor, action.action_id, words.verb(action.verb))
    return (*who, *did, action.reason, action.run_id, action.undoes, action.undone_by, *ends)


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": stamp(event.at),
        "kind": event.kind,
        "body": event.body,
        "payload": event.payload,
        "hash": event.hash,
    }


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()
