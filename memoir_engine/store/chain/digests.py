"""The rows that hold evidence, beside the digests that stand in the chain.

Invariant: every such row hashes to its own digest, and the digests, one by one or rolled up in their order, are those of an
event: a row edited, deleted, inserted or swapped by hand is found. Payloads are named by their digest and each is referred to.
A row that was erased is as its tombstone says, and the event of the erasure covers the tombstones.
Source: DESIGN §6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Table, select

from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import COVERED, OUTCOME, digest, roll_up, stamp, values_digest
from memoir_engine.store.chain.tombstones import Stone, Stones, remains
from memoir_engine.store.conversations.messages import id_key
from memoir_engine.store.db.text_rules import owner_key
from memoir_engine.store.db.types import FAR, Tx
from memoir_engine.store.events.projection import Closing, Conversation, Problem, Rows, Told, ToldFacts
from memoir_engine.store.facts.rows import FactState, ProposalState
from memoir_engine.store.ledger.run_end import outcome_digest
from memoir_engine.store.ledger.runs import ALIVE, RESUMABLE
from memoir_engine.text.messages import KINDS, base_kind

# === said_digests: Sessions and messages beside what their events cover.
#
# Invariant: every message that stands was appended by a turn, whose digest it and its neighbours give; of one that a
# limit dropped
# the event of the dropping kept the digest. Of a session that was cleared nothing stands that was said before. What its
# row counts
# is what stands.
# Source: DESIGN §6.

_MESSAGE = tuple(tables.message.c[name] for name in (*COVERED["message"], "salt", "digest"))


class _Kept(NamedTuple):
    n: int
    true: str
    stored: str
    is_human: bool
    chars: int


def session_problems(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    left = dict(told.sessions)
    for session in tx.execute(select(tables.session).order_by(tables.session.c.number)).all():
        said = left.pop(session.number, None)
        if said is None:
            yield Problem(None, f"session {session.number} stands in no event")
            continue
        yield from _session(session, said)
        yield from _messages(session, said, list(_kept(tx, session.number, stones)))
    for number, said in left.items():
        yield Problem(said.seq, f"session {number} of event {said.seq} is missing")
    known = select(tables.session.c.number)
    for number in tx.execute(
        select(tables.message.c.session_number).where(tables.message.c.session_number.not_in(known)).limit(1)
    ).scalars():
        yield Problem(None, f"messages of session {number} stand in no event")


def _session(session: Any, said: Conversation) -> Iterator[Problem]:
    number = session.number
    true = values_digest(session.salt, [getattr(session, name) for name in COVERED["session"]])
    keys = (owner_key(session.user_id), id_key(session.session_id))
    if not true == session.digest == said.digest or keys != (session.owner, session.id_key):
        yield Problem(said.seq, f"session {number} is not what event {said.seq} covers")
    now = (session.last_n, stamp(session.last_at), session.cleared_seq, session.max_messages, session.timeout_s)
    if now != (said.last_n, said.last_at, said.cleared_seq, *said.limits):
        yield Problem(said.seq, f"how session {number} stands is not what its events make it")


def _messages(session: Any, said: Conversation, kept: Sequence[_Kept]) -> Iterator[Problem]:
    number, at = session.number, {one.n: one for one in kept}
    expected = {n for turn in said.turns for n in range(max(turn.first, said.cleared + 1), turn.last + 1)} - said.gone.keys()
    for n in sorted(expected ^ at.keys()):
        seq = next((turn.seq for turn in said.turns if turn.first <= n <= turn.last), None)
        says = "is missing" if n in expected else "is none that its events leave"
        yield Problem(seq, f"message {n} of session {number} {says}")
        return
    for turn in said.turns:
        if turn.last <= said.cleared:
            continue
        rows = [at[n].true if n in at else said.gone[n] for n in range(turn.first, turn.last + 1)]
        if any(at[n].true != at[n].stored for n in range(turn.first, turn.last + 1) if n in at) or roll_up(rows) != turn.digest:
            yield Problem(turn.seq, f"the messages of session {number} are not those that event {turn.seq} covers")
    counted = (len(kept), sum(one.is_human for one in kept), sum(one.chars for one in kept))
    if counted != (session.messages, session.turns, session.chars):
        yield Problem(said.seq, f"what is counted in session {number} is not what stands in it")


def _kept(tx: Tx, number: int, stones: Stones) -> Iterator[_Kept]:
    """As they stand; one whose words were erased, and is as it was left, stands for what its digest covered."""
    wanted = select(*_MESSAGE).where(tables.message.c.session_number == number).order_by(tables.message.c.n)
    for row in tx.execute(wanted.execution_options(**_STREAM)):
        *values, salt, digest = row
        true = values_digest(salt, values)
        if true != digest and stones.fits("message", f"{number}/{row.n}", values, salt):
            true = digest
        is_human = row.kind in KINDS and base_kind(row.kind) == "human"
        yield _Kept(row.n, true, digest, is_human, len(row.content))


# === fact_problems: Facts, their origins, standings, relations, proposals and cuts, beside what their events say.
#
# Invariant: every row hashes to its own digest and stands in an event, alone or rolled up; every standing, open or
# closed, is
# exactly what replaying the events gives. One that was forgotten is as its tombstone says.
# Source: DESIGN §6.


def fact_digest_problems(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    """The rows that hold words or spans."""
    facts, left = told.facts, dict(told.facts.facts)
    for row, true in _sealed(tx, tables.fact, stones):
        seq, expected = left.pop(row.id, (None, ""))
        if seq is None:
            yield Problem(None, f"fact {row.id} stands in no event")
        elif not true == row.digest == expected or row.owner != owner_key(row.user_id):
            yield Problem(seq, f"fact {row.id} is not what event {seq} covers")
    yield from (Problem(seq, f"fact {number} of event {seq} is missing") for number, (seq, _) in left.items())
    yield from _origins(tx, facts, stones)
    yield from _cuts(tx, facts, stones)


def fact_replay_problems(tx: Tx, told: Told) -> Iterator[Problem]:
    """The rows that say how things stand."""
    facts = told.facts
    owners = dict(tx.execute(select(tables.fact.c.id, tables.fact.c.owner)).all())
    standings = {
        (row.fact_id, row.from_seq): (row.to_seq, tuple(FactState.of(row).told()), row.owner == owners.get(row.fact_id))
        for row in tx.execute(select(tables.fact_status))
    }
    yield from _differ("standing of fact", standings, {key: (*said, True) for key, said in facts.standings.items()})
    proposals = {
        (row.id, row.from_seq): (
            row.to_seq,
            (*_tuple(ProposalState.of(row).told()), row.run_id),
            row.owner == owners.get(row.new_id),
        )
        for row in tx.execute(select(tables.fact_proposal))
    }
    yield from _differ("proposal", proposals, {key: (*said, True) for key, said in facts.proposals.items()})
    relations = {
        (row.source_id, row.target_id, row.from_seq): (row.to_seq, row.kind, row.confidence, row.run_id, row.owner)
        for row in tx.execute(select(tables.fact_relation))
    }
    said = {key: (*value, owners.get(key[0])) for key, value in facts.relations.items()}
    yield from _differ("relation of fact", relations, said)


def _differ(what: str, rows: Mapping[Any, Any], said: Mapping[Any, Any]) -> Iterator[Problem]:
    for key in sorted(rows.keys() | said.keys()):
        if key not in said:
            yield Problem(None, f"a {what} {key[0]} stands in no event")
        elif rows.get(key) != said[key]:
            missing = "is missing" if key not in rows else "is not what the events make of it"
            yield Problem(key[-1], f"the {what} {key[0]} of event {key[-1]} {missing}")


def _origins(tx: Tx, facts: ToldFacts, stones: Stones) -> Iterator[Problem]:
    found: dict[int, list[tuple[int, str, str, int]]] = {}
    for row, true in _sealed(tx, tables.fact_origin, stones):
        found.setdefault(row.fact_id, []).append((row.n, true, row.digest, row.to_seq))
    for number in sorted(found.keys() | facts.origins.keys()):
        rows, events = found.get(number, []), facts.origins.get(number, [])
        yield from _covered(f"the origins of fact {number}", [row[:3] for row in rows], events)
        for n, _, _, to_seq in rows:
            if to_seq != facts.unseen.get((number, n), FAR):
                yield Problem(facts.unseen.get((number, n)), f"origin {n} of fact {number} is not as the events leave it")


def _cuts(tx: Tx, facts: ToldFacts, stones: Stones) -> Iterator[Problem]:
    rows = [(row.id, true, row.digest, row.to_seq) for row, true in _sealed(tx, tables.cut, stones)]
    yield from _covered("cuts of a conversation", [row[:3] for row in rows], facts.cuts)
    for number, _, _, to_seq in rows:
        if to_seq != facts.withdrawn.get(number, FAR):
            yield Problem(facts.withdrawn.get(number), f"cut {number} is not as the events leave it")


def _covered(what: str, rows: Sequence[tuple[int, str, str]], events: Sequence[Rows]) -> Iterator[Problem]:
    """rows: (number, true digest, stored digest), rising."""
    at = {number: (true, stored) for number, true, stored in rows}
    for event in events:
        mine = [at.pop(number, ("", "")) for number in range(event.first, event.first + event.total)]
        if any(true != stored for true, stored in mine) or roll_up(stored for _, stored in mine) != event.digest:
            yield Problem(event.seq, f"{what} are not those that event {event.seq} covers")
    if at:
        yield Problem(None, f"{what}: number {min(at)} stands in no event")


def _sealed(tx: Tx, table: Table, stones: Stones) -> Iterator[tuple[Any, str]]:
    """Every row with its true digest; one that was forgotten, and is as it was left, still stands for what it was."""
    for row in tx.execute(select(table).order_by(*table.primary_key.columns).execution_options(**_STREAM)):
        values = [getattr(row, name) for name in COVERED[table.name]]
        true = values_digest(row.salt, values)
        key = "/".join(str(getattr(row, column.name)) for column in table.primary_key.columns)
        yield row, row.digest if true != row.digest and stones.fits(table.name, key, values, row.salt) else true


def _tuple(row: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(one) if isinstance(one, list) else one for one in row)


# === digests


_STREAM = {"yield_per": 2000}


def digest_problems(tx: Tx, told: Told) -> Iterator[Problem]:
    named: dict[str, int | None] = {**told.payloads, **told.facts.papers}
    stones = Stones.read(tx)
    yield from (Problem(seq, says) for seq, says in stones.missing(told.erasures | told.facts.erasures))
    yield from _actions(tx, told, stones, named)
    yield from _each(tx, tables.source, stones, told.sources)
    yield from _parts(tx, told, stones)
    yield from _each(tx, tables.contextual_helper, stones, told.helpers)
    yield from _versions(tx, stones)
    yield from _chunks(tx, told, stones)
    yield from session_problems(tx, told, stones)
    yield from fact_digest_problems(tx, told, stones)
    yield from _runs(tx, told, stones, named)
    yield from _of_runs(tx, tables.model_call, told, stones, named)
    yield from _of_runs(tx, tables.decision, told, stones, named)
    yield from _payloads(tx, stones, named)


def _stream(tx: Tx, table: Table, stones: Stones, *more: str, order: tuple[str, ...] = ("id",)) -> Iterator[Any]:
    """Rows as (true digest, stored digest, *more), the digest worked out from the row itself.

    One that was erased, and is as it was left, still stands for what its digest covered.
    """
    covered = COVERED[table.name]
    columns = [table.c[name] for name in (*covered, "salt", "digest", *more)]
    wanted = select(*columns).order_by(*(table.c[name] for name in order))
    count = len(covered)
    places = [covered.index(column.name) for column in table.primary_key.columns]
    for row in tx.execute(wanted.execution_options(**_STREAM)):
        values, salt, stored = row[:count], row[count], row[count + 1]
        true = values_digest(salt, values)
        if true != stored and stones.fits(table.name, "/".join(str(row[place]) for place in places), values, salt):
            true = stored
        yield true, stored, *row[count + 2 :]


def _each(tx: Tx, table: Table, stones: Stones, said: dict[Any, tuple[int, str]]) -> Iterator[Problem]:
    """Rows that have an event each."""
    left = dict(said)
    for true, stored, number in _stream(tx, table, stones, "id"):
        seq, expected = left.pop(number, (None, ""))
        if seq is None:
            yield Problem(None, f"{table.name} {number} stands in no event")
        elif not true == stored == expected:
            yield Problem(seq, f"{table.name} {number} is not what event {seq} covers")
    for number, (seq, _) in left.items():
        yield Problem(seq, f"{table.name} {number} of event {seq} is missing")


def _actions(tx: Tx, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    for number, at, payload in tx.execute(select(tables.action.c.id, tables.action.c.at, tables.action.c.payload)):
        seq = told.actions.get(number, (None, ""))[0]
        if payload:
            named[payload] = seq
        if seq is not None and told.action_at[number] != at:
            yield Problem(seq, f"action {number} and event {seq} differ in time")
    yield from _each(tx, tables.action, stones, told.actions)


def _parts(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    """Texts and bytes beside the hashes in their source's row; an added part has no other place to show."""
    rows = {row.id: row for row in tx.execute(select(tables.source.c.id, tables.source.c.sha256, tables.source.c.text_sha256))}
    for table, column, hashed in ((tables.source_text, "text", "text_sha256"), (tables.source_file, "bytes", "sha256")):
        wanted = select(table.c.source_id, table.c.part, table.c[column]).order_by(table.c.source_id, table.c.part)
        parts = tx.execute(wanted.execution_options(yield_per=4))
        found: dict[int, str] = {}
        for number, group in groupby(parts, key=itemgetter(0)):
            whole, in_order = hashlib.sha256(), True
            for place, (_, at, part) in enumerate(group):
                in_order = in_order and at == place
                whole.update(part.encode() if isinstance(part, str) else part)
            found[number] = whole.hexdigest() if in_order else "parts not numbered from 0"
        for number in sorted(found.keys() - rows.keys()):
            yield Problem(None, f"the {column} of source {number} stands in no event")
        for number, row in rows.items():
            if found.get(number) != (None if stones.gone(table.name, number) else getattr(row, hashed)):
                seq = told.sources.get(number, (None, ""))[0]
                yield Problem(seq, f"the {column} of source {number} is not what event {seq} covers")


def _versions(tx: Tx, stones: Stones) -> Iterator[Problem]:
    order = ("category_id", "from_seq")
    for true, stored, number, seq in _stream(tx, tables.category_version, stones, *order, order=order):
        if true != stored:
            yield Problem(seq, f"category {number} is not what event {seq} covers")


def _chunks(tx: Tx, told: Told, stones: Stones) -> Iterator[Problem]:
    left = dict(told.chunks)
    for source, group in groupby(_stream(tx, tables.chunk, stones, "source_id", "id"), key=itemgetter(2)):
        rows = list(group)
        said = left.pop(source, None)
        if said is None:
            yield Problem(None, f"chunks of source {source} stand in no event")
            continue
        edited = [number for true, stored, _, number in rows if true != stored]
        if edited:
            yield Problem(said.seq, f"chunk {edited[0]} is not what event {said.seq} covers")
        if [row[3] for row in rows] != list(range(said.first, said.first + said.total)):
            yield Problem(said.seq, f"source {source} has {len(rows)} chunks, event {said.seq} covers {said.total}")
        elif roll_up(row[0] for row in rows) != said.digest:
            yield Problem(said.seq, f"the chunks of source {source} are not what event {said.seq} covers")
    for source, said in left.items():
        if said.total:
            yield Problem(said.seq, f"the chunks of source {source} of event {said.seq} are missing")


def _runs(tx: Tx, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    left = dict(told.closings)
    more = ("id", "closed_seq", "request", "salt", *OUTCOME)
    for true, stored, number, closed_seq, request, salt, *outcome in _stream(tx, tables.run, stones, *more):
        status = outcome[0]
        closings = left.pop(number, [])
        last = closings[-1] if closings else None
        named[request] = last.seq if last else None
        if true != stored or (last and last.digest != true):
            yield Problem(last.seq if last else None, f"run {number} is not what was written")
        elif closed_seq is None and status in ALIVE:
            if last and last.status not in RESUMABLE:  # else whoever opens it again could add answers to it
                yield Problem(last.seq, f"run {number} ended as event {last.seq} says and is open again")
        elif last is None:
            yield Problem(None, f"run {number} ended and stands in no event")
        elif (closed_seq, status) != (last.seq, last.status):
            yield Problem(last.seq, f"run {number} did not end as event {last.seq} says")
        elif not _came_to(last, salt, outcome, stones.over("outcome", number)):
            yield Problem(last.seq, f"what run {number} came to is not what event {last.seq} covers")
    for number, closings in left.items():
        yield Problem(closings[-1].seq, f"run {number} of event {closings[-1].seq} is missing")


def _came_to(last: Closing, salt: str, outcome: Sequence[Any], stone: Stone | None) -> bool:
    """Whether a run came to what its last event covers, or to what an erasure since has left of it."""
    if stone is not None and stone.seq > last.seq:
        return stone.remains == remains(outcome)
    return last.outcome in (None, outcome_digest(salt, outcome))


def _of_runs(tx: Tx, table: Table, told: Told, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    """Calls and decisions: every closing of a run covers the first n of them."""
    is_call = table is tables.model_call
    what, text = ("calls", "payload") if is_call else ("decisions", "offer")
    alive = set(
        tx.execute(select(tables.run.c.id).where(tables.run.c.status.in_(ALIVE), tables.run.c.closed_seq.is_(None))).scalars()
    )
    left = {run for run, closings in told.closings.items() if getattr(closings[-1], what)[0]}
    for run, group in groupby(_stream(tx, table, stones, "run_id", "id", text, order=("run_id", "id")), key=itemgetter(2)):
        rows = list(group)
        left.discard(run)
        closings = told.closings.get(run, [])
        seq = closings[-1].seq if closings else None
        named |= {row[4]: seq for row in rows}
        edited = [row[3] for row in rows if row[0] != row[1]]
        if edited:
            yield Problem(seq, f"{table.name} {edited[0]} is not what was written")
        for closing in closings:
            count, expected = getattr(closing, what)
            if len(rows) < count or roll_up(row[0] for row in rows[:count]) != expected:
                yield Problem(closing.seq, f"the {what} of run {run} are not those that event {closing.seq} covers")
        if run not in alive and len(rows) > (getattr(closings[-1], what)[0] if closings else 0):
            yield Problem(seq, f"run {run} has {what} that stand in no event")
    for run in sorted(left):
        yield Problem(told.closings[run][-1].seq, f"the {what} of run {run} are missing")


def _payloads(tx: Tx, stones: Stones, named: dict[str, int | None]) -> Iterator[Problem]:
    left = dict(named)
    for name, salt, body in tx.execute(
        select(tables.payload.c.digest, tables.payload.c.salt, tables.payload.c.body).execution_options(**_STREAM)
    ):
        seq = left.pop(name, -1)
        if seq == -1:
            yield Problem(None, f"payload {name[:12]} belongs to nothing")
        elif digest(salt, body) != name and not stones.fits("payload", name, [body], salt):
            yield Problem(seq, f"payload {name[:12]} is not what was written")
    for name, seq in left.items():
        if not stones.gone("payload", name):
            yield Problem(seq, f"payload {name[:12]} is missing")
