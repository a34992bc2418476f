"""What people are told: how reports of theirs were resolved; and how far they have read.

Invariant: a notice is worked out from remarks that stand, so one that was taken back is told to nobody. The mark says up to which
event a person has read; it only moves forward, is no evidence, and holds the key of a name, not the name.
Source: docs/decisions/0096.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select, update

from memoir_engine.core.results.feedback import Notice
from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.canonical_json import read_payloads
from memoir_engine.store.db.statements import FAR, Tx
from memoir_engine.store.db.text_rules import owner_key
from memoir_engine.store.ledger import runs
from memoir_engine.store.review import feedback, remarks
from memoir_engine.store.review.remarks import FEEDBACK, REPORT, SETTLEMENT

_R, _MARK = tables.remark.c, tables.notice_mark.c


def unread(tx: Tx, person: str, *, user: str | None, limit: int) -> tuple[Notice, ...]:
    """Return what a person has not read, newest first. user: whose runs they may see."""
    since = read_up_to(tx, person)
    own = select(tables.remark).join(tables.run, tables.run.c.id == _R.item)
    own = own.where(_R.kind == FEEDBACK, _R.author == person, _R.to_seq == FAR, *runs.seen_by(user))
    reports = {f"{REPORT}{row.number}": row for row in tx.execute(own).all()}
    settled = remarks.about(tx, reports, kind=SETTLEMENT)
    new = [row for row in settled if row.from_seq > since and row.author != person]
    new = sorted(new, key=lambda row: -row.from_seq)[:limit]
    causes, said = actions.causes(tx, (row.number for row in new)), read_payloads(tx, (row.payload for row in new))
    questions = feedback.questions_of(tx, (reports[row.item].item for row in new))

    def notice(row: Any) -> Notice:
        run_id, words = reports[row.item].item, said.get(row.payload, {}).get("words")
        at = causes[row.number].at
        return Notice(row.from_seq, row.verdict, row.author, at, row.item, run_id, questions.get(run_id, ""), words)

    return tuple(notice(row) for row in new)


def read_up_to(tx: Tx, person: str) -> int:
    """Return the seq up to which a person has read."""
    return tx.execute(select(_MARK.seq).where(_MARK.person == owner_key(person))).scalar() or 0


def mark_read(tx: Tx, person: str, seq: int) -> None:
    """Move a person's mark forward."""
    remarks.hold(tx)
    key, before = owner_key(person), read_up_to(tx, person)
    if seq <= before:
        return
    if before:
        tx.execute(update(tables.notice_mark).where(_MARK.person == key).values(seq=seq))
    else:
        tx.execute(insert(tables.notice_mark).values(person=key, seq=seq))
