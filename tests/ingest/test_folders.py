"""A folder is ingested file by file, and again without storing anything twice."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import FolderUnreadable, Memory

LEASE = "The lease of the office may be ended by either side with three months' notice."
TEA = "Tea is grown in Uji. The first harvest of tea begins in May."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(data_dir=tmp_path / "kept", model="offline") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    (made / "office").mkdir(parents=True)
    (made / ".hidden").mkdir()
    (made / "office" / "lease.txt").write_text(LEASE)
    (made / "tea.md").write_text(TEA)
    (made / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (made / ".hidden" / "key.txt").write_text("A text that nobody meant to share.")
    return made


def test_each_file_is_a_source_by_its_path_and_a_bad_one_keeps_no_other_waiting(memory: Memory, folder: Path):
    results = memory.ingest_folder(folder)
    assert [(result.name, result.status) for result in results] == [
        ("office/lease.txt", "success"),
        ("picture.png", "error"),
        ("tea.md", "success"),
    ]
    assert results[1].error is not None
    assert results[1].error.code == "E204"
    assert sorted(source.name for source in memory.sources.list()) == ["office/lease.txt", "tea.md"]


def test_again_stores_nothing_but_a_newer_version_of_what_has_changed(memory: Memory, folder: Path):
    first = memory.ingest_folder(folder)
    (folder / "tea.md").write_text(TEA.replace("May", "April"))
    again = memory.ingest_folder(folder)
    assert again[0].source_id == first[0].source_id
    assert [(source.version, source.status) for source in memory.sources.versions(again[2].source_id)] == [
        (2, "filed"),
        (1, "replaced"),
    ]


def test_a_viewer_may_add_but_no_newer_version(memory: Memory, folder: Path):
    viewer = memory.acting_as("Eve", roles=("viewer",))
    assert viewer.ingest_folder(folder)[2].status == "success"
    (folder / "tea.md").write_text(TEA.replace("May", "April"))
    refused = viewer.ingest_folder(folder)[2]
    assert refused.error is not None
    assert refused.error.code == "E701"


@pytest.mark.skipif(sys.platform == "win32", reason="links take rights there")
def test_a_link_that_leads_out_is_left_out(memory: Memory, folder: Path, tmp_path: Path):
    (tmp_path / "secret.txt").write_text("Nobody meant to share this text.")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert "link.txt" not in [result.name for result in memory.ingest_folder(folder)]


@pytest.mark.parametrize("made", [False, True], ids=["not there", "empty"])
def test_a_folder_without_files_is_refused(memory: Memory, tmp_path: Path, made: bool):
    if made:
        (tmp_path / "nothing").mkdir()
    with pytest.raises(FolderUnreadable) as caught:
        memory.ingest_folder(tmp_path / "nothing")
    assert "E517" in str(caught.value)
