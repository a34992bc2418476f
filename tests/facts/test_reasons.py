"""Reasons for actions on a person's facts or conversations are visible to that person and to admins only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import Memory

WHY = "She told me of her divorce"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in which Ana's fact was restored, a conversation of hers cleared and a source withdrawn, each with a reason."""
    with Memory(data_dir=tmp_path / "m", model="offline") as opened:
        for text in ("I live in Lyon.", "I moved to Berlin last month."):
            opened.remember([{"role": "user", "content": text}], user_id="ana")
        old = next(fact for fact in opened.facts.list("ana") if fact.status == "outdated")
        opened.facts.restore(old.id, reason=WHY)
        ana = opened.acting_as("Ana", user="ana")
        ana.add_conversation("talk", "user", "Hello")
        ana.sessions.clear_session("talk", reason=f"{WHY}, too")
        source = opened.ingest_text("Tea is grown in Uji.").source_id
        opened.sources.withdraw(source, reason="A divorce of two companies")
        yield opened


def reasons(memory: Memory, **asked: str) -> list[str]:
    return [str(one.reason) for one in memory.audit.actions(**asked) if one.reason is not None]  # type: ignore[arg-type]


@pytest.mark.req("TIMEM isolation")
def test_another_reads_and_finds_no_reason_about_somebody_s_facts(memory: Memory) -> None:
    bob = memory.acting_as("Bob", user="bob", roles=("viewer", "auditor"))
    assert reasons(bob) == reasons(bob, text="divorce") == ["A divorce of two companies"]
    assert [one.reason for one in bob.overview().last_actions if one.reason] == ["A divorce of two companies"]
    restored = memory.audit.actions(verb="restore_fact")[0]
    assert bob.audit.action(restored.action_id).reason is None
    assert WHY not in bob.audit.export() + bob.audit.export("csv", text="divorce")
    assert WHY not in bob.reports.person("local").json
    assert len(bob.audit.actions()) == len(memory.audit.actions())  # what was done is everybody's to see
    assert bob.audit.verify().ok


def test_the_person_and_an_admin_read_them(memory: Memory) -> None:
    ana = memory.acting_as("Ana", user="ana", roles=("viewer",))
    for who in (ana, memory):
        assert reasons(who, text="divorce") == ["A divorce of two companies", f"{WHY}, too", WHY]
        assert len(json.loads(who.audit.export(text="divorce"))["actions"]) == 3


def test_who_is_nobody_reads_the_workspace_s_alone(memory: Memory) -> None:
    memory.remember([{"role": "user", "content": "I live in Lyon."}])
    memory.facts.forget(memory.facts.list()[0].id, reason="Nobody's")
    assert reasons(memory.acting_as("Eve", roles=("viewer",))) == ["Nobody's", "A divorce of two companies"]
