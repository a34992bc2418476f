"""What whoever owns a database can do to its history in SQL, so that all links and digests hold: rewrite, cut off, put back.

Each works on a closed memory's database and needs nothing but its address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, create_engine, delete, insert, select, update
from sqlalchemy.pool import NullPool

from memoir_engine.store import tables
from memoir_engine.store.chain import actions
from memoir_engine.store.chain.canonical_json import canonical, row_digest
from memoir_engine.store.db.engines import address
from memoir_engine.store.db.statements import FAR
from memoir_engine.store.tables.columns import metadata

GUARDS_OFF = {"postgresql": "SET session_replication_role = replica", "mysql": "SET foreign_key_checks = 0"}
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
_event, _action, _head = tables.audit_event, tables.action, tables.audit_head


@contextmanager
def owner_of(url: str) -> Iterator[Connection]:
    engine = create_engine(address(url), poolclass=NullPool)
    with engine.begin() as connection:
        if engine.dialect.name in GUARDS_OFF:
            connection.exec_driver_sql(GUARDS_OFF[engine.dialect.name])
        yield connection
    engine.dispose()


def change_the_actor(url: str, action_id: str, actor: str) -> None:
    """Make somebody else the actor of an action, with a new digest and new links from its first event on."""
    with owner_of(url) as tx:
        row = {**tx.execute(select(_action).where(_action.c.id == action_id)).one()._mapping, "actor": actor}
        digest = row_digest("action", row["salt"], row)
        tx.execute(update(_action).where(_action.c.id == action_id).values(actor=actor, digest=digest))
        events = tx.execute(select(_event).order_by(_event.c.seq)).all()
        first = next(event.seq for event in events if event.action_id == action_id)
        previous = actions.GENESIS
        for event in events:
            body = canonical({**json.loads(event.body), "action": digest}) if event.seq == first else event.body
            made = actions.link(event.seq, event.at, event.action_id, event.kind, body, event.payload, previous)
            if event.seq >= first:
                changed = update(_event).where(_event.c.seq == event.seq)
                tx.execute(changed.values(body=body, prev_hash=previous, hash=made))
            previous = made
        tx.execute(update(_head).values(hash=previous))


def cut_off_the_last_renaming(url: str) -> None:
    """Delete the last action, a renaming, with all it left: as if it had never been."""
    with owner_of(url) as tx:
        last = tx.execute(select(_event).order_by(_event.c.seq.desc()).limit(1)).one()
        papers = select(_event.c.payload).where(_event.c.action_id == last.action_id)
        held = [
            *tx.execute(papers).scalars(),
            tx.execute(select(_action.c.payload).where(_action.c.id == last.action_id)).scalar(),
        ]
        tx.execute(delete(tables.payload).where(tables.payload.c.digest.in_(filter(None, held))))
        tx.execute(delete(_event).where(_event.c.action_id == last.action_id))
        tx.execute(delete(_action).where(_action.c.id == last.action_id))
        version = tables.category_version.c
        tx.execute(delete(tables.category_version).where(version.from_seq == last.seq))
        tx.execute(update(tables.category_version).where(version.to_seq == last.seq).values(to_seq=FAR))
        end = tx.execute(select(_event).order_by(_event.c.seq.desc()).limit(1)).one()
        tx.execute(update(_head).values(seq=end.seq, hash=end.hash, at=end.at))


def copy_of(url: str) -> Rows:
    """Return all rows of all tables, as a backup has them."""
    with owner_of(url) as tx:
        return {table.name: [dict(row._mapping) for row in tx.execute(select(table))] for table in metadata.sorted_tables}


def put_back(url: str, rows: Rows) -> None:
    """Make the database what it was at the copy."""
    with owner_of(url) as tx:
        for table in reversed(metadata.sorted_tables):
            tx.execute(delete(table))
        for table in metadata.sorted_tables:
            if rows[table.name]:
                tx.execute(insert(table), [dict(row) for row in rows[table.name]])
