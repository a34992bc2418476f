"""Who looks at an item: seen by others for some seconds, across processes, with one row for each open tab."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from memoir_engine.store import tables
from memoir_engine.store.db.database import Database
from memoir_engine.store.review import presence
from memoir_engine.store.review.presence import LASTS_S, OPEN_S, RENEWED_S
from small_stores import Store

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def look(db: Database, tab: str, item: str, name: str, after_s: float) -> tuple[str, ...]:
    now = NOON + timedelta(seconds=after_s)
    db.write(lambda tx: presence.note(tx, tab, item, name, now=now))
    return db.read(lambda tx: presence.others(tx, tab, item, name, now=now))


def rows(db: Database) -> int:
    return db.read(lambda tx: tx.execute(select(func.count()).select_from(tables.presence)).scalar_one())


def test_two_processes_on_one_database_see_each_others_visitors_for_some_seconds(store: Store) -> None:
    head, other = store.state(), Database.open(store.url, clock=store.clock, depth=3)
    try:
        assert look(store.db, "a", "1-2", "Ada", 0) == ()
        assert look(other, "b", "1-2", "Ben", 1) == ("Ada",)
        assert look(store.db, "a", "1-2", "Ada", 2) == ("Ben",)
        assert look(other, "c", "1-2", "Ada", 3) == ("Ben",), "another tab of hers"
        assert look(other, "d", "9-9", "Cid", 4) == ()
        assert look(store.db, "b", "1-2", "Ben", 3 + LASTS_S + 0.1) == (), "whoever has gone is forgotten"
        assert rows(store.db) <= 2, "what is over is deleted by whoever writes"
        assert store.state() == head and store.problem() is None, "it is no part of the chain"
    finally:
        other.close()


def test_tabs_of_two_servers_are_listed_until_they_are_closed_or_unused_for_long(store: Store) -> None:
    head, other = store.state(), Database.open(store.url, clock=store.clock, depth=3)

    def note(db: Database, tab: str, page: str, name: str, after_s: float, closed: tuple[str, ...] = ()) -> None:
        now = NOON + timedelta(seconds=after_s)
        db.write(lambda tx: presence.note_open(tx, tab, page, name, now=now, closed=closed))

    def listed(after_s: float) -> list[tuple[str, str]]:
        now = NOON + timedelta(seconds=after_s)
        return [(tab.person, tab.page) for tab in store.db.read(lambda tx: presence.open_tabs(tx, now=now))]

    try:
        note(store.db, "a", "tree", "Ada", 0)
        note(other, "b", "ask", "Ben", 60)
        look(other, "b", "1-2", "Ben", 60)
        assert listed(61) == [("Ben", "ask"), ("Ada", "tree")]
        note(store.db, "a", "people", "Ada", 120)
        assert listed(121) == [("Ada", "people"), ("Ben", "ask")]
        assert store.db.read(lambda tx: presence.open_tabs(tx, now=NOON))[0].since == NOON
        note(other, "c", "ask", "Cid", 130, closed=("b",))
        assert listed(131) == [("Cid", "ask"), ("Ada", "people")]
        assert listed(125 + OPEN_S) == [("Cid", "ask")]
        assert store.state() == head and store.problem() is None, "it is no part of the chain"
    finally:
        other.close()


def test_hours_at_one_item_are_one_row_that_is_written_only_when_it_is_nearly_over(store: Store) -> None:
    written = 0
    for second in range(0, 3600, 4):
        now = NOON + timedelta(seconds=second)
        if not store.db.read(lambda tx, now=now: presence.is_noted(tx, "a", "1-2", "Ada", now=now)):
            store.db.write(lambda tx, now=now: presence.note(tx, "a", "1-2", "Ada", now=now))
            written += 1
    assert rows(store.db) == 1 and written <= 3600 / RENEWED_S
    assert not store.db.read(lambda tx: presence.is_noted(tx, "a", "5-6", "Ada", now=NOON))
