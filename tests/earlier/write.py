"""Write the memory of an earlier version, its export and what it answers, for test_earlier_memory.py.

How `7409c61/` was made, in a checkout of that commit with its own virtual environment:

    git worktree add ../then 7409c61 && cd ../then && make venv
    PYTHONPATH=../now/tests .venv/bin/python -m earlier.write ../now/tests/earlier/7409c61

It calls public verbs alone and asks nobody but the offline model. What it writes differs each time by times and ids, so it
is written once and kept: `memory.zip` (the SQLite file and the indexes of its data folder), `export.zip` and
`answers.zip`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint

from earlier.answers import SETTINGS, answers
from memoir_engine import Category, Memory, ReviewStep
from memoir_engine.langgraph import MemoirCheckpointSaver

LETTER = """\
# The lease of the workshop

The lease of the workshop ends in March, and the rent of the workshop is due on the third working day of the month.

The landlord keeps the keys of the workshop. The tenant pays the rent and the repairs of the lease to the landlord.
"""
CHOIR = """\
The choir sings on Tuesdays. The conductor chooses the songs of the choir, and the altos rehearse the songs first.

A concert of the choir is sung in the church. The conductor invites the singers and the organist to the concert.
"""
GARDEN = """\
The garden is watered from the rain barrels. Tomatoes in the garden need compost, water and sun.

Bees of the garden fly to the tomatoes in May. The hive of the bees stands behind the rain barrels of the garden.

Compost of the garden is turned in spring. Leaves, grass and straw become compost for the tomatoes.
"""
GONE = "The zephyrquartz is kept by the obliquamber. The zephyrquartz belongs to Ottilie Vanterpool and to nobody else."
RECIPE = "Soup of leeks: wash the leeks, cut the leeks, and boil the leeks with potatoes for half an hour. Add cream to the soup."
FERRY = (
    "The ferry to the island leaves at nine from the northern quay. On Sundays the ferry leaves at ten. Dogs ride the ferry free."
)
DRAFTED = "The minutes of the board: the budget of the club was approved. The treasurer of the club reports to the board in May."
TALK = (
    ("user", "I live in Berlin.", "2026-01-05T09:00:00+00:00"),
    ("user", "I like green tea. My sister Ada plays the violin.", "2026-01-05T09:01:00+00:00"),
    ("user", "I work as a baker.", "2026-01-05T09:02:00+00:00"),
)
LATER = (
    ("user", "I moved to Munich last week.", "2026-03-02T09:00:00+00:00"),
    ("user", "I like green tea with honey.", "2026-03-02T09:01:00+00:00"),
    ("user", "I no longer work as a baker. My secret number is 4711.", "2026-03-02T09:02:00+00:00"),
)
OTHER = (
    ("user", "I like jazz. I have a dog named Rex.", "2026-02-02T08:00:00+00:00"),
    ("user", "I live in Oslo. My sister Jette lives in Lisbon.", "2026-02-02T08:01:00+00:00"),
    ("user", "I plan to go to Lisbon with my sister Jette.", "2026-02-02T08:02:00+00:00"),
    ("user", "I work as a carpenter in Oslo.", "2026-02-02T08:03:00+00:00"),
)
DOUBTED = (
    ("user", "I live in Riga since 2019. I like jazz.", "2026-04-01T08:00:00+00:00"),
    ("user", "I work as a sailor since 2018.", "2026-04-01T08:01:00+00:00"),
    ("user", "I have a cat named Tiger.", "2026-04-01T08:02:00+00:00"),
)


def write(folder: Path) -> None:
    """Write all three files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / "memory"
        with Memory(data_dir=place, **SETTINGS) as memory:
            _documents(memory)
            _edits(memory)
            _questions(memory)
            _reviews(memory)
            _conversations(memory)
            _facts(memory)
            _checkpoints(memory)
        with Memory(data_dir=place, **SETTINGS, auto_source_identification=False) as memory:
            memory.ingest_text(DRAFTED, name="minutes")
        with Memory(data_dir=place, **SETTINGS) as memory:
            memory.search("key of the boat")
            memory.export(folder / "export.zip")
        _pack(place, folder / "memory.zip")
        with Memory(data_dir=place, **SETTINGS) as memory:
            told = answers(memory)
        with zipfile.ZipFile(folder / "answers.zip", "w", zipfile.ZIP_LZMA) as packed:
            packed.writestr("answers.json", json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _documents(memory: Memory) -> None:
    """Add two versions of one source, one withdrawn, erased, knowledge-only and failed; helpers of either origin."""
    letter = memory.ingest_file(LETTER.encode(), name="letter.md", metadata={"from": "Ö. Müller", "n": [1, 2.5, None]})
    memory.ingest_text(CHOIR, name="choir", contextual_helper="Rules of a choir, written by its conductor.").raise_for_error()
    garden = memory.ingest_text(GARDEN, name="garden").raise_for_error()
    gone = memory.ingest_text(GONE, name="gone").raise_for_error()
    recipe = memory.ingest_text(RECIPE, name="recipe").raise_for_error()
    memory.jobs.wait(memory.start("ingest_text", text=FERRY, name="ferry"))
    memory.add_knowledge("handbook", FERRY + " " + RECIPE, {"shelf": 3})
    memory.ingest_text("", name="nothing")
    newer = memory.ingest_file(LETTER.replace("March", "May").encode(), name="letter.md", replaces=letter.source_id)
    newer.raise_for_error()
    helped = memory.helpers.set(_id(garden), "Notes on a garden with bees.", reason="shorter")
    memory.review.undo(helped.action_id)
    memory.helpers.regenerate(_id(garden), force=True)
    withdrawn = memory.sources.withdraw(_id(recipe), reason="copied from a book")
    back = memory.review.undo(withdrawn.action_id)
    memory.review.undo(back.action_id)
    memory.sources.erase(_id(gone), reason="asked for", rename=_names(memory, _id(gone)))


def _names(memory: Memory, source_id: int) -> dict[int, str]:
    """Return names for the categories whose names quoted the erased words."""
    preview = memory.sources.preview_erase(source_id)
    return {quoting.category_id: f"Erased {quoting.category_id}" for quoting in preview.names}


def _edits(memory: Memory) -> None:
    """Make, rename, move, merge, split and retire categories, refile chunks, and undo some of it."""
    ada = memory.acting_as("Ada", roles=("viewer", "auditor"))
    roots = memory.tree.roots()
    ada.review.create(None, "Archive", reason="for what is old")
    archive = _named(memory, "Archive")
    ada.review.rename(roots[0].id, "Household", reason="plainer")
    leaf = _leaves(memory)[0]
    ada.review.move(leaf.id, archive, reason="it is old")
    one, other, *_ = [each for each in _leaves(memory) if each.id != leaf.id]
    merged = ada.review.merge(one.id, other.id, reason="the same")
    memory.review.undo(merged.action_id, reason="not the same")
    chunk = memory.tree.chunks(one.id).chunks[0]
    moved = memory.review.refile(chunk.id, other.id, reason="it fits better")
    undone = memory.review.undo(moved.action_id)
    memory.review.undo(undone.action_id, reason="after all")
    largest = max(_leaves(memory), key=lambda each: each.chunks)
    chunks = memory.tree.chunks(largest.id).chunks
    ada.review.split(largest.id, [chunks[0].id], "Set apart", reason="too wide")
    memory.review.create(archive, "Empty")
    memory.review.retire(_named(memory, "Empty"), reason="never filled")


def _questions(memory: Memory) -> None:
    """Ask with every strategy, dropping paths, summarising, of another moment, failing, and as a what-if."""
    past = memory.tree.moments()[-2].seq
    wide = memory.query("When is the rent of the workshop due?", safety_net=2).raise_for_error()
    memory.query("What do the tomatoes of the garden need?", strategy="zoom_in").raise_for_error()
    memory.query("Who chooses the songs?", strategy="branch_out", per_path_limit=1).raise_for_error()
    memory.query("When does the ferry leave?", strategy="one_shot").raise_for_error()
    memory.query("garden choir workshop ferry soup", n=6, max_token_budget=420).raise_for_error()
    memory.query("garden choir workshop ferry soup", n=6, max_token_budget=420, prompt_limiting_strategy="SUMMARIZE")
    memory.query("Who keeps the keys?", as_of=past).raise_for_error()
    memory.query("")
    decision = next(each for each in memory.runs.decisions(wide.run_id) if len(each.options) > 1)
    other = next(option.category_id for option in decision.options if option.category_id not in decision.chosen)
    memory.what_if(wide.run_id, decision.id, [other]).raise_for_error()


def _reviews(memory: Memory) -> None:
    first, second, third, *_ = memory.review.queue().items
    mia = memory.acting_as("Mia", roles=("auditor",))
    mia.review.approve(first.key, reason="read it")
    rejected = mia.review.reject(second.key, reason="not here")
    again = memory.review.undo(rejected.action_id)
    memory.review.undo(again.action_id)
    mia.review.skip(third.key)
    filed = [one for one in memory.sources.list() if one.status == "filed"]
    mia.review.sign_off(filed[0].id, "I have read all of it.")
    signed = mia.review.sign_off_category(memory.tree.roots()[0].id, "The branch is in order.")
    memory.review.undo(signed.action_id, reason="too early")
    mia.review.apply(
        [
            ReviewStep(f"{n:026x}", one.key, "approve", reason="a batch")
            for n, one in enumerate(memory.review.queue(limit=2).items)
        ]
    )


def _conversations(memory: Memory) -> None:
    """Keep, trim, clear and import conversations; one for a user."""
    memory.add_conversation("desk", "user", "Where is the key of the boat?", {"by": "phone"}, ts="2026-02-01T10:00:00+00:00")
    memory.add_conversation("desk", "assistant", "The key of the boat hangs in the shed.", ts="2026-02-01T10:01:00+00:00")
    memory.sessions.create("tools", metadata={"topic": "weather"}, max_messages=4)
    call = {"name": "weather", "args": {"place": "Bern"}, "id": "call-1", "type": "tool_call"}
    asked = [HumanMessage("Will it rain?"), AIMessage("", tool_calls=[call]), ToolMessage("rain", tool_call_id="call-1")]
    memory.sessions.append("tools", [*asked, AIMessage("It will rain in Bern."), HumanMessage("Thanks.")])
    memory.sessions.set_retention("desk", max_messages=50, session_timeout=3_000_000_000.0)
    memory.sessions.add("old", "user", "Forget all of this.")
    memory.sessions.clear_session("old", reason="done with")
    memory.sessions.import_session("Ada: Are we rowing on Sunday?\nBob: Yes, at nine.\n", "rowing")
    memory.acting_as("mia", user="mia", roles=("viewer", "auditor")).sessions.add("own", "user", "Mine alone.")
    memory.create_summary(session_id="desk")


def _facts(memory: Memory) -> None:
    """Add, outdate, merge, forget and restore facts, with relations; of two users and of nobody."""
    memory.remember(_said(TALK), user_id="mia")
    memory.remember(_said(LATER), user_id="mia")
    memory.remember(_said(OTHER), user_id="tom")
    memory.remember(_said(DOUBTED), user_id="tom")
    proposals = memory.facts.proposals("tom")
    memory.facts.approve(proposals[0].id, reason="asked him")
    rejected = memory.facts.reject(proposals[1].id)
    memory.review.undo(rejected.action_id, reason="not sure of it")
    taken_back = memory.remember(_said(TALK[1:2]), user_id="zoe")
    memory.review.undo(taken_back.action_id or "", reason="somebody else's")
    memory.remember(session_id="desk")
    secret = next(one for one in memory.facts.list("mia") if "4711" in one.content)
    memory.facts.forget(secret.id, reason="asked for")
    outdated = memory.facts.list("mia", status="outdated")
    memory.facts.restore(outdated[-1].id, reason="still true")
    items = memory.review.facts("mia").items
    memory.review.approve(items[0].key, reason="said so herself")
    memory.review.reject(items[-1].key, reason="misheard")


def _said(lines: tuple[tuple[str, str, str], ...]) -> list[dict[str, Any]]:
    return [{"role": role, "content": content, "at": at} for role, content, at in lines]


def _checkpoints(memory: Memory) -> None:
    saver = MemoirCheckpointSaver(memory)
    place: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    for number, words in enumerate((["one"], ["one", "two"]), 1):
        checkpoint = empty_checkpoint() | {"id": f"1f0b0000-0000-6000-8000-{number:012d}"}
        checkpoint |= {"channel_values": {"words": words}, "channel_versions": {"words": number}}
        place = saver.put(place, checkpoint, {"source": "loop", "step": number, "parents": {}}, {"words": number})
    saver.put_writes(place, [("words", ["three"])], "task-1")
    gone: Any = {"configurable": {"thread_id": "gone", "checkpoint_ns": ""}}
    saver.put(gone, empty_checkpoint() | {"id": f"1f0b0000-0000-6000-8000-{3:012d}"}, {"source": "input", "step": -1}, {})
    saver.delete_thread("gone")


def _leaves(memory: Memory) -> list[Category]:
    return [one for one in memory.tree.all() if one.is_leaf and one.chunks]


def _named(memory: Memory, name: str) -> int:
    return next(category.id for category in memory.tree.all() if category.name == name)


def _id(result: Any) -> int:
    assert result.source_id is not None
    return int(result.source_id)


def _pack(place: Path, file: Path) -> None:
    """Zip the database as one file without its journal, and everything beside it."""
    database = next(place.glob("*.db"))
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
    connection.close()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as packed:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.name.endswith(("-wal", "-shm")):
                packed.write(path, path.relative_to(place))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
