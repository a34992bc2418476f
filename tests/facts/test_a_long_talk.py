"""What it takes to remember a conversation of 28 messages and 20 facts beside 200 known ones, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import long_talk
from fake_openai import FakeOpenAI, Seen, Vectors
from memoir_engine import Memory, RememberResult
from memoir_engine.text.similarity import DIM, hash_vectors


class Comparing(FakeOpenAI):
    """A server whose vectors are near where texts share words."""

    def take_vectors(self, seen: Seen) -> Vectors:
        super().take_vectors(seen)
        return Vectors(hash_vectors(seen.body["input"]).tolist())


@pytest.fixture(params=["words", "server"], scope="module")
def remembered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Memory, RememberResult, int]]:
    """A memory with 200 known facts and the conversation, its result, and the characters of the prompts' user parts.

    words: no embedder is at work but the one that compares words; server: an embedder behind a server is asked as well.
    """
    folder: Path = tmp_path_factory.mktemp("long")
    with Comparing() as server, pytest.MonkeyPatch().context() as env:
        if request.param == "server":
            env.setenv("EMBEDDING_MODEL", "openai:text-embedding-3-small")
            env.setenv("EMBEDDING_MODEL_DIMS", str(DIM))
        env.setenv("OPENAI_BASE_URL", server.url)
        env.setenv("OPENAI_API_KEY", "sk-not-a-real-key-000")
        server.otherwise(long_talk.answered)
        with Memory(db_path=folder / "long.db", model="openai-chat:gpt-4o-mini", max_retries=0) as memory:
            for first in range(0, len(long_talk.KNOWN), 50):
                memory.remember(long_talk.known(first, first + 50), user_id="ilka")
            before = len(server.seen)
            found = memory.remember(long_talk.messages(), user_id="ilka")
            yield memory, found, sum(len(seen.user_text) for seen in server.seen[before:] if "messages" in seen.body)


@pytest.mark.req("TIMEM consolidation.1")
def test_it_takes_four_calls_at_most_and_a_thousand_characters_for_each_fact(remembered):
    memory, found, characters = remembered
    calls = memory.runs.get(found.run_id).calls
    assert len(calls) <= 4, [call.purpose for call in calls]
    assert [call.purpose for call in calls].count("consolidate") == 1
    assert characters / len(long_talk.DRAWN) <= 1_000
    assert memory.audit.verify().ok


def test_a_date_that_moved_leaves_the_job(remembered):
    memory, _, _ = remembered
    active = {one.content for one in memory.facts.list("ilka", "active", limit=500)}
    assert {long_talk.DRAWN[0][0], long_talk.STILL} <= active
    assert not {long_talk.JOB, long_talk.HOME, long_talk.TUESDAYS} & active
    (kept,) = (one for one in memory.facts.list("ilka", limit=500) if one.content == long_talk.STILL)
    assert [origin.quote for origin in kept.origins] == [long_talk.JOB]
    true_then = memory.facts.list("ilka", valid_at="2026-05-10T00:00:00+00:00", limit=500)
    assert [one.content for one in true_then if "4 May" in one.content] == []


def test_what_is_put_right_in_the_conversation_is_right_with_every_detail_and_never_was_wrong(remembered):
    memory, found, _ = remembered
    (concert,) = (one for one in found.added if "13 June" in one.content)
    assert concert.content == long_talk.CONCERT
    assert [origin.quote for origin in concert.origins] == ["on the 13th", "Saturday the 13th", "on the 12th of June"]
    (wrong,) = (one for one in memory.facts.list("ilka", "outdated", limit=500) if "12 June" in one.content)
    assert (wrong.cause, wrong.superseded_by) == ("corrected", concert.id)
    for day in ("2026-05-01", "2026-06-12", "2026-06-13", "2026-07-01"):
        true_then = memory.facts.list("ilka", valid_at=f"{day}T12:00:00+00:00", limit=500)
        assert wrong.id not in {one.id for one in true_then}


def test_the_same_in_another_language_is_one_fact(remembered):
    memory, found, _ = remembered
    assert [one.content for one in found.duplicates] == [long_talk.NUTS]
    assert [origin.quote for origin in memory.facts.get(found.duplicates[0].id).origins] == [
        long_talk.NUTS,
        "Immer noch keine Haselnüsse",
    ]
