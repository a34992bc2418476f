"""A memory that may be read and not changed: what only reads works, all else is refused in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import machine
import servers
from memoir_engine import MemoirError, Memory

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


class Replica(servers.Postgresql):
    """A hot standby of another server: a copy of it that takes in what is written there, and refuses every change."""

    def __init__(self, primary: servers.Postgresql) -> None:
        self.primary = primary
        super().__init__(primary._bin, durable=False)

    def _init(self) -> None:
        source = ("-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "memoir")
        self._run(self._bin / "pg_basebackup", *source, "-D", self.root / "data", "-R", "-c", "fast", "--no-sync")

    def follow(self) -> None:
        """Wait until it has taken in what stands in the primary now."""
        with psycopg.connect(self.primary._dsn("postgres"), autocommit=True) as connection:
            (position,) = connection.execute("SELECT pg_current_wal_flush_lsn()").fetchone() or ()
        until = time.monotonic() + servers.BOOT_S
        with psycopg.connect(self._dsn("postgres"), autocommit=True) as connection:
            while connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [position]).fetchone() != (True,):
                assert time.monotonic() < until, "the replica does not follow"
                time.sleep(0.05)


@pytest.fixture
def primary() -> Iterator[servers.Postgresql]:
    server = servers.new_postgresql(durable=True)  # what is acknowledged is in its log, from which the replica reads
    yield server
    server.stop()


@pytest.fixture
def replica(primary: servers.Postgresql) -> Iterator[Replica]:
    if not (primary._bin / "pg_basebackup").exists():
        pytest.skip(machine.missing("pg_basebackup", "apt-get install postgresql-client"))
    server = Replica(primary)
    yield server
    server.stop()


@pytest.mark.full("boots two servers of its own")
def test_a_replica_of_postgresql_answers_whoever_reads_and_sees_what_came_since(
    tmp_path: Path, primary: servers.Postgresql, replica: Replica
):
    url = primary.fresh_url()
    settings = {"model": "offline", "embedder": "offline", "vector_store": "auto"}
    with Memory(database_url=url, data_dir=tmp_path / "there", **settings) as memory:
        memory.ingest_text(TEXT, name="tea.md").raise_for_error()
        memory.remember([{"role": "user", "content": "I live in Bern."}], user_id="mia", session_id="one")
        memory.search("tea harvest")
        replica.follow()
        copy = url.replace(str(primary.port), str(replica.port))
        with Memory(database_url=copy, data_dir=tmp_path / "here", **settings) as reader:
            assert [(hit.text[:15], hit.mode) for hit in reader.search("tea harvest", top_k=1)] == [(TEXT[:15], "hybrid")]
            assert [hit.content for hit in reader.recall("Where does she live?", "mia")] == ["Lives in Bern"]
            assert (len(reader.tree.all()), len(reader.facts.list("mia")), reader.audit.verify().ok) == (3, 1, True)
            asked = reader.query("When does the tea harvest begin?").error
            assert asked is not None and asked.code == "E509" and "open the primary" in asked.remedy
            with pytest.raises(MemoirError, match="E509"):
                reader.facts.add("Likes tea", "mia")
            memory.ingest_text("Lamps are lit at dusk by the keeper. " * 20, name="lamps.md").raise_for_error()
            memory.search("lamps")
            replica.follow()
            assert reader.search("lamps", top_k=1)[0].text.startswith("Lamps are lit")
            assert reader.audit.head() == memory.audit.head()
