"""Rows of facts as callers see them: with the words of their spans, who changed them, and what they took the place of.

Invariant: a quote is read from the message itself, each time; where the message is gone, or lost words, there is none.
Source: spec README 12 ("evidence removed"); CHUNK 7.3, 8.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, select

from memoir_engine.results.facts import FactOrigin, FactView
from memoir_engine.store import payloads
from memoir_engine.store import tables as t
from memoir_engine.store.canon import moment_of, parse
from memoir_engine.store.fact_rows import REMEMBERED
from memoir_engine.store.listed import Among, Listed
from memoir_engine.store.said import as_message, record
from memoir_engine.store.stones import NO_SALT
from memoir_engine.store.types import FAR, Tx

_E, _U, _O, _M, _S = t.audit_event.c, t.fact.c, t.fact_origin.c, t.message.c, t.fact_status.c
_EVENTS = Listed(lambda among: select(_E.seq, _E.at, _E.action_id).where(among(_E.seq)))
_BESIDE = Listed(
    lambda among: select(_U.id, _U.uid, REMEMBERED.label("remembered"), _U.valid_from, _U.from_precision).where(among(_U.id))
)
_TEXTS = Listed(lambda among: select(t.message).where(_M.session_number == bindparam("number"), among(_M.n), _M.salt != NO_SALT))
_NOW = {"since": FAR - 1, "until": FAR - 1}  # a row holds from one seq to another; FAR is the end of an open one


def _superseding(among: Among) -> Select[Any]:
    holds = _S.from_seq <= bindparam("since"), _S.to_seq > bindparam("until")
    return select(_S.fact_id, _S.superseded_by).where(among(_S.superseded_by), *holds).order_by(_S.fact_id)


def _said(among: Among) -> Select[Any]:
    holds = _O.from_seq <= bindparam("since"), _O.to_seq > bindparam("until")
    joined = select(t.fact_origin, t.cut.c.cut_id).outerjoin(t.cut, t.cut.c.id == _O.cut)
    return joined.where(among(_O.fact_id), *holds).order_by(_O.fact_id, _O.n)


_BEFORE, _ORIGINS = Listed(_superseding), Listed(_said)


def views(tx: Tx, rows: Sequence[Any], seq: int | None = None) -> tuple[FactView, ...]:
    """rows: of `fact` with how each stands, its seq as `since`."""
    numbers = [row.id for row in rows]
    told = events(tx, [one for row in rows for one in (row.recorded_seq, row.since)])
    before = _superseded(tx, numbers, seq)
    others = [row.superseded_by for row in rows if row.superseded_by]
    beside = _beside(tx, [*others, *(one for some in before.values() for one in some)])
    words = payloads.get(tx, (row.payload for row in rows))
    origins = _origins(tx, numbers, seq)
    uids = {number: one.uid for number, one in beside.items() if one.remembered}  # what was forgotten leads nowhere
    return tuple(
        FactView(
            id=row.uid,
            user_id=row.user_id,
            content=row.content,
            type=row.type,
            status=row.status,
            subject=row.subject,
            entities=tuple(parse(row.entities)),
            confidence=row.confidence,
            valid_from=row.valid_from,
            valid_from_precision=row.from_precision,
            **_until(row, beside.get(row.superseded_by)),
            said_at=row.said_at,
            recorded_at=row.recorded_at,
            updated_at=told[row.since][0] if row.since != row.recorded_seq else row.recorded_at,
            retired_at=told[row.since][0] if row.status == "outdated" else None,
            superseded_by=uids.get(row.superseded_by),
            supersedes=tuple(uids[one] for one in before.get(row.id, ()) if one in uids),
            cause=row.cause,
            reason=words.get(row.payload, {}).get("reason") if row.payload else None,
            recorded_by=told[row.recorded_seq][1],
            ended_by=told[row.since][1] if row.status == "outdated" else None,
            run_id=row.run_id,
            origins=tuple(origins.get(row.id, ())),
        )
        for row in rows
    )


def _until(row: Any, successor: Any | None) -> dict[str, Any]:
    """Whichever is earlier: what was said of its end, or that something took its place: as precisely as that says since when."""
    if row.ended_at is None or (row.valid_to is not None and row.valid_to <= row.ended_at):
        return {"valid_to": row.valid_to, "valid_to_precision": row.to_precision, "end_said": row.valid_to is not None}
    told = successor is not None and successor.valid_from == row.ended_at and successor.from_precision
    return {"valid_to": row.ended_at, "valid_to_precision": told or "instant"}


def events(tx: Tx, seqs: Iterable[int]) -> dict[int, tuple[datetime, str]]:
    """When an event was, and of which action."""
    return {row.seq: (moment_of(row.at), row.action_id) for row in _EVENTS.rows(tx, seqs)}


def _superseded(tx: Tx, numbers: Sequence[int], seq: int | None) -> dict[int, list[int]]:
    """What each took the place of, the oldest first."""
    found: dict[int, list[int]] = {}
    for row in _BEFORE.rows(tx, numbers, **_at(seq)):
        found.setdefault(row.superseded_by, []).append(row.fact_id)
    return found


def _beside(tx: Tx, numbers: Iterable[int]) -> dict[int | None, Any]:
    """Their ids, and since when they hold."""
    return {row.id: row for row in _BESIDE.rows(tx, numbers)}


def _origins(tx: Tx, numbers: Sequence[int], seq: int | None) -> dict[int, list[FactOrigin]]:
    rows = _ORIGINS.rows(tx, numbers, **_at(seq))
    texts = _texts(tx, {(row.session_number, row.message) for row in rows if row.session_number is not None})
    found: dict[int, list[FactOrigin]] = {}
    for row in rows:
        found.setdefault(row.fact_id, []).append(_origin(row, texts.get((row.session_number, row.message))))
    return found


def _at(seq: int | None) -> dict[str, int]:
    return _NOW if seq is None else {"since": seq, "until": seq}


def _origin(row: Any, said: tuple[str, str] | None) -> FactOrigin:
    """said: text and digest of the message as it stands; None where it does not."""
    is_there = said is not None and said[1] == row.said
    supported = row.start is not None
    return FactOrigin(
        conversation_id=row.conversation,
        message=row.message,
        message_id=row.message_id,
        role=row.role,
        speaker=row.speaker,
        at=row.said_at,
        start=row.start,
        end=row.end,
        quote=said[0][row.start : row.end] if said is not None and is_there and supported else None,
        supported=supported,
        removed=not is_there,
        digest=row.said,
        cut_id=row.cut_id,
    )


def _texts(tx: Tx, wanted: set[tuple[int, int]]) -> dict[tuple[int, int], tuple[str, str]]:
    """The texts of messages that are whole; of those that words were taken out of, nothing."""
    by_session: dict[int, list[int]] = {}
    for number, n in sorted(wanted):
        by_session.setdefault(number, []).append(n)
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for number, ns in by_session.items():
        for row in _TEXTS.rows(tx, ns, number=number):
            found[number, row.n] = as_message(record(row, "")).text, row.digest
    return found
