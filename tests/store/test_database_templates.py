"""Databases of the test set-up equal those of the product: prepared ones, and emptied ones given back."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine

import database_templates
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.engines import address
from servers import Server
from small_plans import SteadyClock
from small_stores import Store

JAZZ = ("Music", "Jazz", "Bebop")


@pytest.fixture(params=[pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("postgresql", "mariadb")])
def server(request: pytest.FixtureRequest) -> Server:
    return request.getfixturevalue(f"{request.param}_server")


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        return list(connection.iterdump())


def test_a_copied_file_is_what_the_product_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database_templates._prepared()
    copied, made = tmp_path / "copied.db", tmp_path / "made.db"
    used: list[Path] = []
    real = database_templates._copy
    monkeypatch.setattr(database_templates, "_copy", lambda path: (used.append(path), real(path)))
    Database.open(f"sqlite:///{copied}", clock=SteadyClock(), depth=3).close()
    assert used == [copied]
    monkeypatch.setattr(database_templates, "_off", True)
    Database.open(f"sqlite:///{made}", clock=SteadyClock(), depth=3).close()
    assert used == [copied]
    assert dump(copied) == dump(made)


def test_a_database_given_back_is_as_if_new(server: Server, clock: SteadyClock) -> None:
    url = server.lend()
    for _ in range(2):
        db = Database.open(url, clock=clock, depth=3)
        store = Store(db, clock, url)
        store.ingest("alpha", JAZZ)
        assert store.problem() is None
        db.close()
        server.give_back(url)
        assert server.lend() == url
    db = Database.open(url, clock=clock, depth=4)  # it has forgotten its depth
    db.close()
    server.give_back(url)


def test_a_database_whose_tables_were_altered_is_not_lent_again(server: Server) -> None:
    url = server.lend()
    engine = create_engine(address(url))
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE source ADD COLUMN odd INTEGER")
    engine.dispose()
    server.give_back(url)
    assert server.lend() != url
