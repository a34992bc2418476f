"""Tokens of programs on the People page: made, shown once, listed and revoked, by admins alone."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app_pages import opened, words
from memoir_engine import Memory, TokenRefused


def made(page: AppTest, name: str, user: str) -> AppTest:
    page.session_state["token-make"] = True
    page.run()
    page.text_input(key="token-name").set_value(name)
    page.text_input(key="token-user").set_value(user)
    return page.button(key="token-go").click().run()


def test_a_token_is_made_shown_once_and_opens_the_memory_for_its_user(memory: Memory):
    page = made(opened("people", show="accounts"), "Ana’s *desk*", "ana")
    assert not page.exception
    (secret,) = [code.value for code in page.code if code.value.startswith("mem_")]
    actor = memory.acting_by(secret).actor
    assert (actor.name, actor.user, actor.roles) == ("token Ana’s *desk*", "ana", frozenset(("viewer",)))
    assert "Ana’s \\*desk\\*" in words(page) and "for ana" in words(page)
    page.button(key="token-copied").click().run()
    assert "mem_" not in words(page)
    assert "mem_" not in words(opened("people", show="accounts"))


def test_a_revoked_token_opens_nothing_and_stays_listed(memory: Memory):
    token = memory.tokens.make("desk", ["viewer"], "ana")
    page = opened("people", show="accounts")
    page.button(key=f"token-revoke-go-{token.token.id}").click().run()
    assert "revoked" in words(page)
    with pytest.raises(TokenRefused):
        memory.acting_by(token.secret)


def test_what_cannot_be_made_is_said_on_the_page(memory: Memory):
    page = made(opened("people", show="accounts"), "", "")
    assert [error.value for error in page.error] and memory.tokens.list() == ()


@pytest.fixture
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMOIR_REVIEWER")


def test_who_has_given_no_name_sees_no_tokens(unnamed: None, memory: Memory):
    memory.tokens.make("quillwort", ["viewer"], "ana")
    assert "quillwort" not in words(opened("people", show="accounts"))
