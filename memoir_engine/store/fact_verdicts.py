"""What reviewers said of facts, as the events tell it: the last verdict about each, and since when a standing is the same one.

Invariant: a verdict is about one standing of a fact, or one proposal. One that an undo brought back is the one that stood before,
so what was said of it holds again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from memoir_engine.results.fact_review import FactKey
from memoir_engine.results.review import ReviewState
from memoir_engine.store import tables as t
from memoir_engine.store.canon import parse
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.fact_actions import REVIEWED
from memoir_engine.store.types import Tx, portions


class Given(NamedTuple):
    """A verdict that an event holds."""

    state: ReviewState
    by: str
    seq: int


class Said(NamedTuple):
    seq: int
    verdict: ReviewState | None  # None: it was taken back


def given(tx: Tx) -> dict[FactKey, Given]:
    """The last verdict about each that has one."""
    found = {_key_of(body): Given(body["verdict"] or "unreviewed", actor, seq) for seq, body, actor in _said(tx)}
    return {key: one for key, one in found.items() if one.state != "unreviewed"}


def said_of(tx: Tx, body: dict[str, Any]) -> list[Said]:
    """Every verdict about what an event is about, and every one that took one back."""
    key = _key_of(body)
    return [Said(seq, one["verdict"]) for seq, one, _ in _said(tx) if _key_of(one) == key]


def say_again(tx: Tx, action: OpenAction, body: dict[str, Any]) -> None:
    """The verdict that was there before that of an event."""
    about = {name: body[name] for name in ("fact", "proposal") if name in body}
    action.add(REVIEWED, **about, since=body["since"], verdict=body["was"], was=body["verdict"])


def made(tx: Tx, rows: Sequence[Any]) -> dict[int, tuple[int, str, str]]:
    """By the seq since which each stands: since when it stood so for the first time, and by whose verb."""
    first = {row.from_seq: parse(row.body).get("again", row.from_seq) for row in rows if row.undoes}
    e, a = t.audit_event.c, t.action.c
    wanted = select(e.seq, a.verb, a.actor).join(t.action, a.id == e.action_id)
    parts = portions(sorted(set(first.values())))
    known = {seq: (verb, actor) for some in parts for seq, verb, actor in tx.execute(wanted.where(e.seq.in_(some)))}
    plain = {row.from_seq: (row.from_seq, row.verb, row.actor) for row in rows if not row.undoes}
    return plain | {seq: (root, *known[root]) for seq, root in first.items()}


def _said(tx: Tx) -> Iterator[tuple[int, dict[str, Any], str]]:
    e, a = t.audit_event.c, t.action.c
    wanted = select(e.seq, e.body, a.actor).join(t.action, a.id == e.action_id).where(e.kind == REVIEWED).order_by(e.seq)
    return ((row.seq, parse(row.body), row.actor) for row in tx.execute(wanted))


def _key_of(body: dict[str, Any]) -> FactKey:
    return (
        FactKey("fact", body["fact"], body["since"]) if "fact" in body else FactKey("proposal", body["proposal"], body["since"])
    )
