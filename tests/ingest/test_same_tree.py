"""The same model gives the same tree, however many calls are in flight and whichever answers first."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest

from memoir_engine import Memory
from scripted_model import Asked, Gate, Opened, Script, paper, place

LEAVES = ("Music/Strings/Violin", "Music/Wind/Flute", "Art/Oil/Dutch", "Music/Strings/Cello", "Trade/Tea/Green", "Art/Oil/French")
MANY = paper(*(LEAVES[(i * i + i // 3) % 6] for i in range(40)))


def grown(memory: Memory) -> list[Any]:
    """Return everything the ingestion decided, with ids, but without calls, which are numbered by arrival."""
    chunks = memory.sources.chunks(1)
    decided = [[(d.level, d.parent_path, d.options, d.chosen, d.attempts) for d in memory.tree.decisions(c.id)] for c in chunks]
    return [[(c.id, c.path) for c in memory.tree.all()], [(c.start, c.end, c.category_id) for c in chunks], decided]


def prompts(script: Script) -> list[str]:
    return sorted(asked.text for asked in script.asked("classify"))


async def unevenly(asked: Asked) -> dict[str, Any]:
    """Answer after as many turns of the loop as the text says, so that answers overtake each other."""
    for _ in range(hashlib.sha256(asked.text.encode()).digest()[0]):
        await asyncio.sleep(0)
    return place(asked)


def test_one_call_at_a_time_and_eight_at_once_grow_the_same_tree(opened: Opened, script: Script):
    grew, asked = [], []
    for lanes in (1, 8):
        script.requests.clear()
        script.always("classify", unevenly if lanes == 8 else place)
        memory = opened(f"{lanes}.db", max_concurrency=lanes, batch_size=2)
        memory.ingest_text(MANY).raise_for_error()
        grew.append(grown(memory))
        asked.append(prompts(script))
    assert grew[0] == grew[1]
    assert asked[0] == asked[1]


def test_the_same_input_grows_the_same_tree_twice(opened: Opened):
    grew = []
    for name in ("one.db", "two.db"):
        memory = opened(name, batch_size=3)
        memory.ingest_text(MANY).raise_for_error()
        grew.append(grown(memory))
    assert grew[0] == grew[1]


@pytest.mark.parametrize("first", ["upper level", "lower level"])
def test_what_a_batch_sees_does_not_depend_on_which_level_answers_first(opened: Opened, script: Script, first: str):
    """Compare both orders with the prompts of a run in which nothing overtakes."""
    text = paper(*("Music/Strings/Violin",) * 8)
    quiet = opened("quiet.db", batch_size=2, max_concurrency=1)
    quiet.ingest_text(text).raise_for_error()
    expected = prompts(script)
    script.requests.clear()
    upper, lower = Gate(), Gate()

    async def answer(asked: Asked) -> dict[str, Any]:
        level, filed = asked.batch.options.level, asked.batch.options.filed
        if first == "upper level" and level == 2 and filed == 0:
            await upper.passed()  # until level 1 has nothing left to ask
        if first == "lower level" and level == 1 and filed >= 2:
            await lower.passed()  # until the first batch of level 2 has been answered
        if level == 1 and filed >= 2 and asked.batch.chunks[-1][1].split()[2] == "8":
            upper.open()
        if level == 2:
            lower.open()
        return place(asked)

    script.always("classify", answer)
    memory = opened(f"{first}.db", batch_size=2)
    memory.ingest_text(text).raise_for_error()
    assert prompts(script) == expected
    assert grown(memory) == grown(quiet)


def test_the_offline_model_files_the_same_text_alike_at_any_concurrency(tmp_path: Path):
    text = "\n\n".join(
        f"{subject} {detail}"
        for subject in ("The orchestra tunes its violins.", "A baker kneads the dough.", "The court heard the appeal.")
        for detail in ("It takes an hour every single day of the week.", "Everybody in the town knows about it by now.")
        for _ in range(2)
    )
    grew = []
    for lanes in (1, 8):
        settings = {"chunk_min_tokens": 8, "chunk_max_tokens": 24, "batch_size": 2, "max_concurrency": lanes}
        with Memory(db_path=tmp_path / f"{lanes}.db", model="offline", **settings) as memory:
            memory.ingest_text(text).raise_for_error()
            grew.append(grown(memory))
    assert len(grew[0][1]) == 12
    assert grew[0] == grew[1]
