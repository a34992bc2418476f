"""Tokens: made, listed, limited, expired, revoked; kept as a digest. Source: issue "Every door, from one table of verbs"."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memoir_engine import FactsNotYours, InvalidSetting, Memory, NotAllowed, TokenNotFound, TokenRefused, UndoBlocked
from memoir_engine.api.cli import app
from set_clock import SetClock


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(model="offline", data_dir=tmp_path / "memory") as opened:
        yield opened


@pytest.fixture
def anywhere(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    """A memory on every database."""
    with Memory(model="offline", data_dir=tmp_path / "memory", database_url=database_url) as opened:
        yield opened


def test_a_token_acts_with_its_roles_for_its_user_and_is_listed_without_its_secret(anywhere: Memory):
    memory = anywhere
    memory.remember([{"role": "user", "content": "I live in Bern."}], user_id="ana")
    made = memory.acting_as("Ada", roles=("admin", "auditor", "viewer")).tokens.make(
        "Claude", ["viewer"], "ana", reason="her desk", expires_at="2999-01-01T00:00:00Z"
    )
    client = memory.acting_by(made.secret)
    assert (client.actor.name, client.actor.user, client.actor.roles) == ("token Claude", "ana", frozenset({"viewer"}))
    assert [fact.content for fact in client.facts.list()] == ["Lives in Bern"]
    assert client.facts.list("ben") == ()
    with pytest.raises(NotAllowed):
        client.facts.add("Likes tea")
    with pytest.raises(NotAllowed):
        client.tokens.list()
    (listed,) = memory.tokens.list()
    assert (listed, listed.state, listed.made_by, listed.roles) == (made.token, "valid", "Ada", ("viewer",))
    assert made.secret not in repr(memory.tokens.list())
    action = memory.audit.actions(1)[0]
    assert (action.verb, action.actor, action.reason) == ("make_token", "Ada", "her desk")
    assert memory.audit.verify().ok


def test_only_a_digest_of_the_secret_is_stored_and_nothing_else_in_the_folder_holds_it(memory: Memory, tmp_path: Path):
    secret = memory.tokens.make("Claude").secret
    memory.export(tmp_path / "memory" / "all.zip")
    files = [path for path in (tmp_path / "memory").rglob("*") if path.is_file()]
    assert len(files) > 1
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    assert len(secret) > 40


def test_a_revoked_token_opens_nothing_and_no_undo_brings_it_back(anywhere: Memory):
    memory = anywhere
    made = memory.tokens.make("Claude")
    client = memory.acting_by(made.secret)
    action = memory.tokens.revoke(made.token.id, reason="lost")
    for secret in (made.secret, made.secret[:-1], "mem_", "mem_\ud800", "", None, "x" * 500):
        with pytest.raises(TokenRefused, match="E753"):
            memory.acting_by(secret)  # type: ignore[arg-type]  # what comes over a wire
    assert memory.tokens.list()[0].state == "revoked"
    with pytest.raises(UndoBlocked):
        memory.review.undo(action.action_id)
    with pytest.raises(TokenNotFound):
        memory.tokens.revoke(999_999)
    assert client.actor.name == "token Claude"  # a view that was made before is the door's to make anew at each call
    assert memory.audit.verify().ok


def test_undoing_that_a_token_was_made_revokes_it(memory: Memory):
    made = memory.tokens.make("Claude")
    undone = memory.acting_as("Mia", roles=("auditor",)).review.undo(made.action_id)
    with pytest.raises(TokenRefused, match="revoked"):
        memory.acting_by(made.secret)
    with pytest.raises(UndoBlocked):
        memory.review.undo(undone.action_id)


def test_a_token_expires_by_the_clock(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    clock = SetClock(datetime(2026, 11, 1, tzinfo=UTC))
    monkeypatch.setattr(memory._engine, "clock", clock)
    made = memory.tokens.make("Claude", expires_at=clock.now() + timedelta(hours=1))
    assert memory.acting_by(made.secret).actor.user is None
    clock.moved = timedelta(hours=1)
    with pytest.raises(TokenRefused, match="it expired on"):
        memory.acting_by(made.secret)
    assert memory.tokens.list()[0].state == "expired"
    for wrong in ("yesterday", "2020-01-01T00:00:00Z", "2999-01-01", 5):
        with pytest.raises(InvalidSetting, match="expires_at"):
            memory.tokens.make("Claude", expires_at=wrong)  # type: ignore[arg-type]  # a mistake of a caller


def test_nobody_gives_out_a_role_or_a_user_that_is_not_theirs(memory: Memory):
    ada = memory.acting_as("Ada", user="ada", roles=("admin",))
    with pytest.raises(NotAllowed, match="give out the role auditor"):
        ada.tokens.make("Claude", ["auditor"])
    with pytest.raises(FactsNotYours):
        ada.tokens.make("Claude", ["admin"], "ben")
    assert memory.acting_by(ada.tokens.make("Claude", ["admin"]).secret).actor.user == "ada"
    with pytest.raises(InvalidSetting, match="there is no role"):
        memory.tokens.make("Claude", ["root"])  # type: ignore[list-item]  # a mistake of a caller


def test_the_erasure_of_a_person_takes_the_tokens_made_for_them(anywhere: Memory):
    memory = anywhere
    made = memory.tokens.make("Anas desk", ["viewer"], "ana")
    memory.people.erase("ana", "she asked")
    with pytest.raises(TokenRefused):
        memory.acting_by(made.secret)
    assert memory.tokens.list() == ()
    assert memory.audit.verify().ok


def test_a_digest_that_somebody_puts_into_the_database_is_found(memory: Memory, tmp_path: Path):
    memory.tokens.make("Claude", ["admin"])
    assert memory.audit.verify().ok
    (file,) = (tmp_path / "memory").glob("*.db")
    with sqlite3.connect(file) as connection:
        connection.execute(
            "UPDATE audit_event SET body = replace(body, '\"digest\":\"', '\"digest\":\"0') WHERE kind = 'token.made'"
        )
    assert not memory.audit.verify().ok


def test_tokens_are_made_and_revoked_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMOIR_MODEL", "offline")

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--json", "--data-dir", str(tmp_path / "memory")])
        assert done.exit_code == 0, done.output
        return done.stdout

    made = json.loads(run("tokens", "make", "Claude", "--roles", "viewer", "--roles", "auditor", "--user", "ana"))
    assert made["secret"].startswith("mem_")
    assert json.loads(run("tokens", "list"))[0]["roles"] == ["viewer", "auditor"]
    run("tokens", "revoke", str(made["token"]["id"]), "--reason", "lost")
    assert json.loads(run("tokens", "list"))[0]["state"] == "revoked"
