"""The Settings page."""

from __future__ import annotations

import pytest

from app_pages import opened, words
from memoir_engine import Memory


def test_each_setting_says_where_it_came_from(memory: Memory):
    table = opened("settings").dataframe[0].value.set_index("Setting")
    assert table.loc["data_dir", "From"] == "environment"
    assert table.loc["hierarchy_depth", "Value"] == "3"


def test_the_database_and_the_folder_are_named(memory: Memory):
    assert str(memory.config.data_dir) in words(opened("settings"))


def test_a_test_call_says_what_answered(memory: Memory):
    page = opened("settings")
    page.button(key="test-call").click().run()
    assert "offline answered in" in page.success[0].value


def test_verify_checks_the_chain(filled: Memory):
    page = opened("settings")
    page.button(key="verify").click().run()
    assert f"{filled.audit.head().seq} events checked" in page.success[0].value


def test_verify_against_a_head_that_never_was_fails(filled: Memory):
    page = opened("settings")
    page.text_input(key="expected-head").set_value("f" * 64)
    page.button(key="verify").click().run()
    assert "The chain is not what it was" in page.error[0].value


def test_keys_are_shown_only_as_set(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    from ui import engine

    engine.close()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("MEMOIR_MODEL", "offline")
    table = opened("settings").dataframe[0].value.set_index("Setting")
    assert table.loc["OPENAI_API_KEY", "Value"] == "set"
    assert "sk-very-secret" not in table.to_string()
