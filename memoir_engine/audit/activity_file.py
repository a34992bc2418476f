"""Write audit actions as CSV rows for spreadsheets and as JSON records.

Invariant: no CSV cell can be taken for a formula; the JSON holds the same, with every event as the chain has it.
Source: API "The ledger and the audit"; OWASP, CSV injection (what spreadsheets take for a formula).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from memoir_engine.core.results import Action, Change
from memoir_engine.store.chain.canonical_json import stamp
from memoir_engine.store.events import sentences

ACTIVITY_FORMAT = "memoir-activity/1"
COLUMNS = (
    *("at", "actor", "action", "verb", "what", "before", "after", "count", "reason", "run", "undoes", "undone_by"),
    *("first_event", "last_event", "last_hash"),
)
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")  # full-width forms count, too
_BLANKS = " \t\r\n\v\f\u00a0\u200b\u2060\ufeff"


def safe_cell(value: object) -> str:
    """Return the value as a spreadsheet cell: without control characters, and with an apostrophe before a formula."""
    text = "" if value is None else str(value)
    text = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return f"'{text}" if text.lstrip(_BLANKS).startswith(_FORMULA) else text


def csv_row(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()


def csv_rows(actions: Iterable[Action]) -> str:
    """Return one row per change; the action's own cells are repeated."""
    return "".join(csv_row(_cells(action, change)) for action in actions for change in action.changes or (None,))


def _cells(action: Action, change: Change | None) -> tuple[object, ...]:
    what = (change.says, change.before, change.after, change.count) if change else (None, None, None, None)
    first, last = (action.events[0], action.events[-1]) if action.events else (None, None)
    ends = (first.seq if first else None, last.seq if last else None, last.hash if last else None)
    who = (stamp(action.at), action.actor, action.action_id, sentences.verb(action.verb))
    return (*who, *what, action.reason, action.run_id, action.undoes, action.undone_by, *ends)


def action_record(action: Action) -> dict[str, Any]:
    return {
        "action": action.action_id,
        "at": stamp(action.at),
        "actor": action.actor,
        "verb": action.verb,
        "says": sentences.verb(action.verb),
        "reason": action.reason,
        "run": action.run_id,
        "undoes": action.undoes,
        "undone_by": action.undone_by,
        "changes": [
            {
                "kind": change.kind,
                "says": change.says,
                "before": change.before,
                "after": change.after,
                "count": change.count,
                "source": change.source_id,
                "category": change.category_id,
                "chunk": change.chunk_id,
            }
            for change in action.changes
        ],
        "events": [
            {
                "seq": event.seq,
                "at": stamp(event.at),
                "kind": event.kind,
                "body": event.body,
                "payload": event.payload,
                "hash": event.hash,
            }
            for event in action.events
        ],
    }


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
