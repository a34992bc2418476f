"""Damage to Chroma's files, closed or open, costs speed only: no vector is lost and no answer wrong."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from index_owner import ROWS, alike, files, put_away
from memoir_engine.core.ports import VectorIndexUnavailable


def garbled(path: Path) -> None:
    """Overwrite the file with other bytes of the same size, which no library notices."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = random.Random(1).randbytes(len(content[middle : middle + 400]))
    path.write_bytes(content)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES = {"garbled": garbled, "emptied": emptied, "deleted": Path.unlink}
FILES = ("dense.json", "chroma.sqlite3", "data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle")


@pytest.fixture
def synced(monkeypatch):
    """Make Chroma write its graph after few vectors, with every kind of file it ever writes."""
    return {"sync_threshold": 50, "batch_size": 20}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("while_open", [False, True], ids=["closed", "open"])
def test_damage_to_any_file_costs_speed_and_nothing_else(opened, owner, tmp_path, synced, name, damage, while_open):
    index = opened(**synced)
    put_away(index, owner)
    if not while_open:
        index.close()
    assert {path.name for path in files(tmp_path)} == set(FILES)
    damage(next(tmp_path.rglob(name)))
    if not while_open:
        index = opened(**synced)
    assert alike(owner.ask(index), owner.expected())
    put_away(index, owner)
    assert alike(owner.ask(index), owner.expected())


def test_a_folder_removed_under_it_is_built_anew(opened, owner, tmp_path):
    index = opened()
    put_away(index, owner)
    for place in next(tmp_path.rglob("dense.json")).parent.iterdir():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert alike(owner.ask(index), owner.expected())
    put_away(index, owner)
    assert list(tmp_path.rglob("chroma.sqlite3"))


def test_what_was_damaged_is_not_answered_from_until_it_is_fed_anew(opened, owner, tmp_path):
    index = opened()
    put_away(index, owner)
    os.unlink(next(tmp_path.rglob("chroma.sqlite3")))
    with pytest.raises(VectorIndexUnavailable):
        index.top(ROWS[0], 3)
    assert (index.health.ok, index.high_water) == (True, 0)
