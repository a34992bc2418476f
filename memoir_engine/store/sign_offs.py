"""Signatures: who stands for a source or a branch, with which words, and whether it is still what was signed.

Invariant: a row is opened and closed by an event, and says what the event says; the digest it holds is salted, its salt and
the statement stand in its payload. A signature is void while the subject is not as it was signed: that is looked at anew each
time and nowhere written down, so nothing can forget to do it.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, insert, select, update

from memoir_engine.errors import CategoryNotFound, NothingChanges, SignedStateChanged, SourceNotFound
from memoir_engine.results import Action, SignOff, SignOffPreview
from memoir_engine.run import Clock
from memoir_engine.store import chain, ids, payloads, signed
from memoir_engine.store import tables as t
from memoir_engine.store.canon import digest, moment_of, salts
from memoir_engine.store.chain import OpenAction
from memoir_engine.store.signed import Standing, Subject
from memoir_engine.store.types import FAR, Tx

VERB = "sign_off"


def preview(tx: Tx, subject: Subject, number: int) -> SignOffPreview:
    """What a signature would stand for now. Raises SourceNotFound, CategoryNotFound."""
    now = _standing(tx, subject, number)
    return SignOffPreview(subject, number, now.title, now.digest, now.chunks, now.reviewed, now.categories)


def sign(
    tx: Tx,
    subject: Subject,
    number: int,
    *,
    actor: str,
    statement: str,
    clock: Clock,
    expected: str | None = None,
    action_id: str | None = None,
) -> Action:
    """With an `action_id` of the caller it happens once. `expected`: the digest of what the signer has seen.

    Raises SourceNotFound, CategoryNotFound, SignedStateChanged, NothingChanges.
    """
    ids.lock_tree(tx)
    if action_id is not None and chain.exists(tx, action_id):
        return chain.get(tx, action_id)
    now = _standing(tx, subject, number)
    if expected is not None and expected != now.digest:
        raise SignedStateChanged(title=now.title)
    if any(row.signer == actor and _is_valid(row, body, now) for row, body in _open_rows(tx, subject, number)):
        raise NothingChanges(problem=f"{actor!r} has signed {now.title!r} as it stands")
    told = {"statement": statement, "title": now.title, "chunks": now.chunks, "reviewed": now.reviewed}
    salt = salts(1)[0]
    paper = payloads.put(tx, [{**told, "categories": now.categories, "salt": salt}])[0]
    action = OpenAction(tx, verb=VERB, actor=actor, clock=clock, action_id=action_id)
    action.describe(reason=None)
    state = digest(salt, now.digest)
    seq = action.add("sign_off.made", payload=paper, subject=subject, number=number, state=state, statement=paper)
    row = {"from_seq": seq, "to_seq": FAR, "subject": subject, "subject_id": number}
    tx.execute(insert(t.sign_off), [{**row, "signer": actor, "state": state, "payload": paper}])
    action.seal()
    return chain.get(tx, action.id)


def withdraw(tx: Tx, action: OpenAction, signed_seq: int) -> None:
    """Close the signature that was opened at that seq, by one event."""
    row = tx.execute(select(t.sign_off).where(t.sign_off.c.from_seq == signed_seq)).one()
    seq = action.add("sign_off.withdrawn", signed=signed_seq, subject=row.subject, number=row.subject_id)
    tx.execute(update(t.sign_off).where(t.sign_off.c.from_seq == signed_seq).values(to_seq=seq))


def restore(tx: Tx, action: OpenAction, withdrawn_seq: int) -> None:
    """Open again the signature that was closed at that seq, by one event; it stays its signer's."""
    old = tx.execute(select(t.sign_off).where(t.sign_off.c.to_seq == withdrawn_seq)).one()
    numbers = {"signed": old.from_seq, "subject": old.subject, "number": old.subject_id}
    seq = action.add("sign_off.restored", payload=old.payload, **numbers)
    tx.execute(insert(t.sign_off), [{**old._mapping, "from_seq": seq, "to_seq": FAR}])


def listed(
    tx: Tx,
    *,
    subject: Subject | None = None,
    number: int | None = None,
    signer: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> tuple[SignOff, ...]:
    """Newest first, below the seq `before`."""
    c = t.sign_off.c
    wanted: list[ColumnElement[bool]] = []
    if subject is not None:
        wanted.append(c.subject == subject)
    if number is not None:
        wanted.append(c.subject_id == number)
    if signer is not None:
        wanted.append(c.signer == signer)
    if before is not None:
        wanted.append(c.from_seq < before)
    rows = tx.execute(select(t.sign_off).where(*wanted).order_by(c.from_seq.desc()).limit(limit)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    now: dict[tuple[Subject, int], Standing | None] = {}
    for row in rows:
        if row.to_seq == FAR and (row.subject, row.subject_id) not in now:
            now[row.subject, row.subject_id] = signed.standing(tx, row.subject, row.subject_id)
    return tuple(_view(tx, row, bodies.get(row.payload, {}), now.get((row.subject, row.subject_id))) for row in rows)


def _view(tx: Tx, row: Any, body: dict[str, Any], now: Standing | None) -> SignOff:
    event = tx.execute(select(t.audit_event.c.at, t.audit_event.c.action_id).where(t.audit_event.c.seq == row.from_seq)).one()
    ended = _ended_by(tx, row, body, now)
    return SignOff(
        seq=row.from_seq,
        action_id=event.action_id,
        subject=row.subject,
        subject_id=row.subject_id,
        title=body.get("title", ""),
        signer=row.signer,
        at=moment_of(event.at),
        statement=body.get("statement"),
        digest=row.state,
        chunks=body.get("chunks", 0),
        reviewed=body.get("reviewed", 0),
        categories=body.get("categories", 0),
        state="withdrawn" if row.to_seq != FAR else "valid" if _is_valid(row, body, now) else "void",
        ended_by=None if ended is None else chain.brief(tx, ended),
    )


def _ended_by(tx: Tx, row: Any, body: dict[str, Any], now: Standing | None) -> str | None:
    if row.to_seq != FAR:
        return chain.action_of(tx, row.to_seq)
    return None if _is_valid(row, body, now) else signed.changed_by(tx, row.subject, row.subject_id, row.from_seq)


def _is_valid(row: Any, body: dict[str, Any], now: Standing | None) -> bool:
    return now is not None and "salt" in body and digest(body["salt"], now.digest) == row.state


def _open_rows(tx: Tx, subject: Subject, number: int) -> Sequence[tuple[Any, dict[str, Any]]]:
    c = t.sign_off.c
    rows = tx.execute(select(t.sign_off).where(c.subject == subject, c.subject_id == number, c.to_seq == FAR)).all()
    bodies = payloads.get(tx, (row.payload for row in rows))
    return [(row, bodies.get(row.payload, {})) for row in rows]


def _standing(tx: Tx, subject: Subject, number: int) -> Standing:
    found = signed.standing(tx, subject, number)
    if found is None:
        raise SourceNotFound(source_id=number) if subject == "source" else CategoryNotFound(category_id=number)
    return found
