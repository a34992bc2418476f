"""Messages are searched like documents, within their owner's reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(db_path=tmp_path / "own.db", model="offline") as opened:
        yield opened


@pytest.mark.req("MEMOLLA F-03-01")
def test_what_was_said_is_found_at_once_by_the_one_who_said_it_alone(memory: Memory):
    mia, ben = (memory.acting_as(name, user=name) for name in ("mia", "ben"))
    memory.add_knowledge("manual", "The boiler is in the cellar.")
    mia.add_conversation("s", "user", "My piano is tuned by Zofia every October.")
    mia.add_conversation("s", "assistant", "I will remember the tuner.")
    best = mia.search("Who tunes the piano?")[0]
    assert (best.session_id, best.message_ids) == ("s", (1, 2))
    assert best.text == "My piano is tuned by Zofia every October.\nI will remember the tuner."
    assert all(one.session_id is None for who in (ben, memory) for one in who.search("Who tunes the piano?"))
    mia.add_conversation("s", "user", "The cello is repaired by Tomas.")
    assert "cello" in mia.search("cello repaired by whom")[0].text
    mia.sessions.clear_session("s")
    assert all(one.session_id is None for one in mia.search("Who tunes the piano?"))


@pytest.mark.req("SESSION 5.2")
def test_what_a_new_limit_keeps_is_still_found_and_what_it_drops_is_not(memory: Memory):
    mia = memory.acting_as("mia", user="mia")
    for fruit in ("apricot", "banana", "cherry", "damson", "elderberry"):
        mia.add_conversation("s", "user", f"I like {fruit}.")
    assert "elderberry" in mia.search("elderberry")[0].text
    mia.sessions.set_retention("s", max_messages=2)
    assert [one.text for one in mia.search("elderberry")] == ["I like damson.\nI like elderberry."]
    assert not any("apricot" in one.text for one in mia.search("apricot"))
