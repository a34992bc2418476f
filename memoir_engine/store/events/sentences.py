"""English sentences for actions and their events: for reports and the command line. The app words it from kinds and fields.

Invariant: every verb that the store writes has its words here, every kind of event its own in the registry.
Source: DESIGN §6, §8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from memoir_engine.core.results import Change, SignOff
from memoir_engine.core.results.evidence import Tally
from memoir_engine.store.events.kind import Names
from memoir_engine.store.events.registry import KINDS

VERBS: dict[str, str] = {
    "ingest": "Ingested",
    "add_knowledge": "Added knowledge",
    "withdraw": "Withdrew a source",
    "erase": "Erased a source",
    "set_helper": "Wrote a contextual helper",
    "regenerate_helper": "Had a contextual helper drawn anew",
    "refile": "Re-filed a chunk",
    "refile_many": "Re-filed chunks",
    "create": "Made a category",
    "rename": "Renamed a category",
    "move": "Moved a category",
    "merge": "Merged categories",
    "split": "Split a category",
    "retire": "Retired a category",
    "approve": "Approved a filing",
    "reject": "Rejected a filing",
    "skip": "Skipped a filing",
    "sign_off": "Signed off",
    "converse": "Said something",
    "open_session": "Opened a conversation",
    "limit_session": "Set how much of a conversation is kept",
    "clear_session": "Cleared a conversation",
    "remove_graph_states": "Removed states of graphs",
    "undo": "Undid an action",
    "close": "Ended a run",
    "remember": "Remembered a conversation",
    "restore_fact": "Brought a fact back into force",
    "approve_fact": "Agreed that a fact gave way",
    "reject_fact": "Refused that a fact gives way",
    "forget_fact": "Forgot a fact",
    "erase_person": "Erased the data of a person",
    "confirm_fact": "Approved a fact",
    "withdraw_fact": "Rejected a fact",
    "skip_fact": "Skipped a fact",
    "correct_fact": "Set a fact right",
    "add_fact": "Added a fact",
    "retire_fact": "Ended a fact",
    "expire_fact": "Set when a fact expires",
}


def verb(name: str) -> str:
    """Return the words of a verb; an unknown one is returned readable."""
    return VERBS.get(name) or name.replace("_", " ").capitalize()


def changes(tallies: Iterable[Tally], names: Names, more: int = 0) -> tuple[Change, ...]:
    """Describe an action, one line for many events alike. `more` events are not among them."""
    lines = tuple(_change_of(tally, names) for tally in tallies)
    return (*lines, Change(kind="", says=f"and {more} more events", count=more)) if more else lines


def _change_of(tally: Tally, names: Names) -> Change:
    """Describe events alike in one line."""
    body, says = tally.event.body, _sentence(tally, names)
    before, after = (None if text and text in says else text for text in _before_after(tally, names))

    def number(key: str) -> int | None:
        value = body.get(key) or (body.get("number") if body.get("subject") == key else None)
        return value if isinstance(value, int) else None

    return Change(
        kind=tally.event.kind,
        says=says,
        before=before,
        after=after,
        count=tally.count,
        source_id=number("source"),
        category_id=number("category"),
        chunk_id=number("chunk") if tally.count == 1 else None,
    )


def _sentence(tally: Tally, names: Names) -> str:
    """Return the words of the kind, filled with what the body names."""
    kind, body = KINDS.get(tally.event.kind), tally.event.body
    if kind is None:
        return f"{tally.count} × {tally.event.kind}"
    if tally.count > 1:
        return kind.many.format(count=tally.count)
    subject = names.source if body.get("subject") == "source" else names.category
    plain = {name: value for name, value in body.items() if isinstance(value, str | int)}
    fields: defaultdict[str, Any] = defaultdict(lambda: "…", plain)
    fields |= {
        "parts": _counted(body.get("count"), "part"),
        "messages": _counted(body.get("count"), "message"),
        "chunks": _counted(body.get("count"), "chunk"),
        "filings": _counted(body.get("filings"), "filing"),
        "source": names.source(body.get("source")),
        "chunk": names.chunk(body.get("chunk")),
        "category": names.category(body.get("category")),
        "subject": subject(body.get("number")),
    }
    return kind.one.format_map(fields)


def _counted(number: object, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _before_after(tally: Tally, names: Names) -> tuple[str | None, str | None]:
    """Return the names before and after that the payload holds; else what the kind makes of the body."""
    payload = tally.event.payload or {}
    if "before" in payload or "after" in payload:
        return _text(payload.get("before")), _text(payload.get("after"))
    if "statement" in payload:
        return None, _text(payload["statement"])
    kind = KINDS.get(tally.event.kind)
    if kind is None or kind.before_after is None:
        return None, None
    before, after = kind.before_after(tally.event.body, names, tally.count)
    return _text(before), _text(after)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return " › ".join(str(name) for name in value) if isinstance(value, list | tuple) else str(value)


def sign_offs(signed: Iterable[SignOff]) -> tuple[SignOff, ...]:
    """Return the signatures with the verbs of what ended them in words."""
    return tuple(
        replace(sign, ended_by=sign.ended_by and replace(sign.ended_by, says=verb(sign.ended_by.verb))) for sign in signed
    )
