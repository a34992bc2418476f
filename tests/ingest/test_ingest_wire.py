"""An ingestion over HTTP: the exact prompt and reply formats of MEMOIR 2A, and a server's mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import fake_openai as fake
from memoir_engine import Memory
from scripted_model import SMALL, leaves, paper

fake_openai = pytest.fixture(fake.serving)
TWO = "Music says a good deal about strings and bows.\n\nArt says a good deal about oil and canvas."
SETTINGS = SMALL | {"model": "gpt-4o-mini", "hierarchy_depth": 1, "chunk_min_tokens": 4, "chunk_max_tokens": 14}


@pytest.fixture
def wired(fake_openai: fake.FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    with Memory(db_path=tmp_path / "memory.db", **SETTINGS) as memory:
        yield memory


def reply(**categories: str) -> dict[str, object]:
    """Build a reply from names: c1="Music", c2="Art" …"""
    return {"chunks": [{"id": int(key[1:]), "category": name} for key, name in categories.items()]}


@pytest.mark.req("MEMOIR 2A.2", "MEMOIR 2A.5")
def test_the_prompt_lists_the_chunks_in_the_exact_form(wired: Memory, fake_openai: fake.FakeOpenAI):
    fake_openai.say(reply(c1="Music", c2="Art"))
    fake_openai.otherwise(fake.offline)
    wired.ingest_text(TWO, contextual_helper="Mine.").raise_for_error()
    sent = fake_openai.seen[0].user_text
    assert (
        '\n\nChunk 1:\n"""\nMusic says a good deal about strings and bows.\n\n\n"""\n'
        'Chunk 2:\n"""\nArt says a good deal about oil and canvas.\n"""\n\nLevel: 1 of '
    ) in sent


@pytest.mark.req("MEMOIR 2A.3", "MEMOIR 2A.4", "MEMOIR 2A.8", "MEMOIR 5.1")
def test_the_reply_is_asked_for_as_ids_and_categories_and_nothing_else(wired: Memory, fake_openai: fake.FakeOpenAI):
    fake_openai.say(reply(c1="Music", c2="Art"))
    fake_openai.otherwise(fake.offline)
    wired.ingest_text(TWO, contextual_helper="Mine.").raise_for_error()
    schema = fake_openai.seen[0].schema
    assert fake_openai.seen[0].mode == "native"
    assert (schema["required"], schema["additionalProperties"], list(schema["properties"])) == (["chunks"], False, ["chunks"])
    assert schema["$defs"]["Placement"] == {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "category": {"type": "string"}},
        "required": ["id", "category"],
        "additionalProperties": False,
    }
    assert leaves(wired) == {"Music": [0], "Art": [1]}


@pytest.mark.req("MEMOIR 2.9")
def test_at_the_limit_the_wire_allows_exactly_the_existing_names(wired: Memory, fake_openai: fake.FakeOpenAI, tmp_path: Path):
    fake_openai.say(reply(c1="Music", c2="Art"))
    fake_openai.otherwise(lambda seen: reply(c1="Art") if "Placement" in str(seen.schema) else fake.offline(seen))
    with Memory(db_path=tmp_path / "full.db", category_limit=2, **SETTINGS) as full:
        full.ingest_text(TWO, contextual_helper="Mine.").raise_for_error()
        full.ingest_text("Trade says nothing.", contextual_helper="Mine.").raise_for_error()
    assert fake_openai.seen[-1].schema["$defs"]["Placement"]["properties"]["category"]["enum"] == ["Music", "Art"]


@pytest.mark.req("MEMOIR 2A.8", "MEMOIR 2A.9")
def test_a_reply_outside_the_schema_costs_only_its_own_chunk(wired: Memory, fake_openai: fake.FakeOpenAI):
    fake_openai.say({"chunks": [{"id": 1, "category": "Music"}, {"id": 2, "category": 7, "text": "Art says"}]}, reply(c2="Art"))
    wired.ingest_text(TWO, contextual_helper="Mine.").raise_for_error()
    classified = [seen for seen in fake_openai.seen if "Placement" in str(seen.schema)]
    assert ["Chunk 1:" in seen.user_text for seen in classified] == [True, False]
    assert leaves(wired) == {"Music": [0], "Art": [1]}


@pytest.mark.req("MEMOIR 7.4")
def test_an_unreachable_server_is_a_clear_error_with_nothing_stored(
    fake_openai: fake.FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    fake_openai.otherwise(lambda _: fake.Drop())
    with Memory(db_path=tmp_path / "memory.db", max_retries=0, **SETTINGS) as memory:
        result = memory.ingest_text(TWO)
        assert result.error is not None
        assert (result.error.code, result.error.retryable) == ("E401", True)
        assert memory.sources.list() == ()
        assert memory.runs.get(result.run_id).calls[0].error == result.error.message


def test_the_key_stands_in_no_row_and_no_event(wired: Memory, fake_openai: fake.FakeOpenAI):
    fake_openai.say(fake.Status(401, "Incorrect API key provided: sk-very-secret-0123456789"))
    result = wired.ingest_text(paper("Music"))
    told = repr((result, wired.runs.get(result.run_id), wired.settings(), wired.runs.call(1)))
    assert "E402" in told
    assert "very-secret" not in told
