"""Successors in force of outdated facts, on each database."""

from __future__ import annotations

from pathlib import Path

import scripted_model
from fact_play import judge, remember, usual
from memoir_engine import Memory

HOMES = ("Oslo", "Berlin", "Munich", "Paris")


def moving(memory: Memory, script: scripted_model.Script) -> dict[str, int]:
    """Remember one home after the other; return the chain's head at each."""
    heads = {}
    for before, home in zip(("", *HOMES), HOMES, strict=False):
        script.always("consolidate", judge(**{f"Mia_lives_in_{home}": ("update", f"Mia lives in {before}")}))
        remember(memory, f"Mia lives in {home}")
        heads[home] = memory.audit.head().seq
    return heads


def test_what_is_in_force_is_found_behind_all_that_took_one_anothers_place(database_url: str, tmp_path: Path, monkeypatch):
    script = usual(scripted_model.script(monkeypatch))
    with Memory(database_url=database_url, data_dir=tmp_path / "data", model="offline") as memory:
        heads = moving(memory, script)
        remember(memory, *(f"Ben likes Oslo number {at}" for at in range(30)), user="ben")

        def told(**how: object) -> list[str]:
            return [one.content for one in memory.recall("Oslo Mia lives in Oslo", user_id="mia", limit=2, **how)]

        assert told() == ["Mia lives in Paris", "Mia lives in Oslo"]
        assert told(as_of=heads["Munich"]) == ["Mia lives in Munich", "Mia lives in Oslo"]
        assert told(as_of=heads["Oslo"]) == ["Mia lives in Oslo"]
        berlin = next(one for one in memory.facts.list("mia", status="outdated") if "Berlin" in one.content)
        memory.facts.restore(berlin.id, reason="She is there too")
        assert told() == ["Mia lives in Berlin", "Mia lives in Oslo"]
