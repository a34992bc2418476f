"""Passages as a search shows them: whose they are, where they stand, and their words.

Invariant: only passages that stand, of the owner or the workspace; a passage whose messages are gone is gone.
Source: MEMOLLA F-03-01; DESIGN §5 (spans), §6 (who and whose).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memoir_engine.store import passages, said_passages
from memoir_engine.store.passages import Found
from memoir_engine.store.said_passages import Shown
from memoir_engine.store.sifting import CONVERSATION
from memoir_engine.store.types import Tx


@dataclass(frozen=True)
class Told:
    """Of a conversation `start` is in the first of `message_ids`, `end` in the last."""

    text: str
    start: int
    end: int
    kind: str
    dated: str | None
    doc_id: str | None = None
    source_id: int | None = None
    source_name: str | None = None
    session_id: str | None = None
    message_ids: tuple[int, ...] = ()


def told(tx: Tx, passage_ids: Iterable[int], *, owner: str) -> dict[int, Told]:
    found = passages.of(tx, passage_ids, owner=owner)
    shown = {number: _of_source(one) for number, one in found.items() if one.source_id is not None and one.text is not None}
    spoken = said_passages.shown(tx, [one for one in found.values() if one.session_number is not None])
    return shown | {number: _of_session(found[number], one) for number, one in spoken.items()}


def _of_source(one: Found) -> Told:
    return Told(one.text or "", one.start, one.end, one.source_kind or "", one.dated, one.doc_id, one.source_id, one.source_name)


def _of_session(one: Found, shown: Shown) -> Told:
    numbers = tuple(message.n for message in shown.messages)
    return Told(shown.text, one.start, one.end, CONVERSATION, one.dated, session_id=shown.session_id, message_ids=numbers)
