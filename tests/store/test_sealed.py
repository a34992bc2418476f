"""A memory that may be read and not changed: what only reads works, all else is refused in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memoir_engine import Memory

TEXT = "The tea harvest begins in May, when the first leaves are picked by hand. " * 20
READER = """
import json, sys
from memoir_engine import Memory, MemoirError
told = {}
with Memory(data_dir=sys.argv[1], model="offline", vector_store=sys.argv[2]) as memory:
    told["search"] = [(hit.text[:15], hit.mode) for hit in memory.search("tea harvest", top_k=1)]
    told["recall"] = [hit.content for hit in memory.recall("Where does she live?", "mia")]
    told["reads"] = [len(memory.tree.all()), len(memory.facts.list("mia")), memory.overview().chunks, memory.audit.verify().ok]
    told["history"] = len(memory.audit.actions())
    told["query"] = memory.query("When does the tea harvest begin?").error.code
    told["ingest"] = memory.ingest_text("Lamps are lit at dusk. " * 20, name="lamps.md").error.code
    changes = {"add": lambda: memory.facts.add("Likes tea", "mia"), "undo": lambda: memory.review.undo(sys.argv[3])}
    for name, change in changes.items():
        try:
            change()
        except MemoirError as refused:
            told[name] = str(refused), refused.remedy
print(json.dumps(told))
"""


def without_a_way_around() -> list[str]:
    """Return what takes from the owner of the machine the right to write where nobody may; nothing where it is not needed."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("this process may write everywhere, and no setpriv is there to take that away")
    return [setpriv, "--bounding-set=-dac_override,-dac_read_search"]


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files are those of POSIX here")
@pytest.mark.parametrize("vector_store", ["auto", "exact"])
@pytest.mark.parametrize("folder_too", [True, False], ids=["folder", "file"])
def test_on_a_memory_that_can_only_be_read_reading_works_and_all_else_is_refused(
    tmp_path: Path, vector_store: str, folder_too: bool
):
    place = tmp_path / "memory"
    with Memory(data_dir=place, model="offline", vector_store=vector_store) as memory:
        action = memory.ingest_text(TEXT, name="tea.md").raise_for_error().action_id
        memory.remember([{"role": "user", "content": "I live in Bern."}], user_id="mia", session_id="one")
        memory.search("tea harvest")
        actions, head = len(memory.audit.actions()), memory.audit.head()
    locked = [place, *place.rglob("*")] if folder_too else [place / "memory.db"]
    for each in locked:
        each.chmod(0o555 if each.is_dir() else 0o444)
    try:
        command = [*without_a_way_around(), sys.executable, "-c", READER, str(place), vector_store, str(action)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        for each in locked:
            each.chmod(0o755 if each.is_dir() else 0o644)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    ((text, mode),) = told["search"]
    assert text == TEXT[:15] and mode == ("hybrid" if vector_store == "exact" or not folder_too else "bm25_only")
    assert (told["recall"], told["reads"], told["history"]) == (["Lives in Bern"], [3, 1, 1, True], actions)
    assert told["query"] == told["ingest"] == "E509"
    for name in ("add", "undo"):
        message, remedy = told[name]
        assert message.startswith("[mem][E509] this memory can only be read") and "copy them to another place" in remedy
    with Memory(data_dir=place, model="offline") as memory:
        assert memory.audit.head() == head
        assert memory.ingest_text("Lamps are lit at dusk. " * 20, name="lamps.md").error is None, "it can be changed again"
