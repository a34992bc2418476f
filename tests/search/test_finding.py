"""Things are found by name: each kind, the best first, whatever the case, on every database; and nobody sees more than before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import MemoirError, Memory

SOUP = "The soup of the day is made of leeks and potatoes. It is served at noon in the small hall. " * 8


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Memory]:
    """A source, its categories, facts of two people and of nobody, and a question of each of them."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(SOUP, name="Soup of the day.md").raise_for_error()
        memory.add_knowledge("k", "The tram runs every ten minutes.", {"title": "Übersicht der Trams"})
        memory.facts.add("Drinks soup on Sundays", "zoe")
        memory.facts.add("Cooks Soup in Kyoto", "ben")
        memory.acting_as("zoe", user="zoe").query("Who drinks soup?").raise_for_error()
        memory.query("What is soup made of?").raise_for_error()
        leaf = next(one for one in memory.tree.all() if one.is_leaf)
        memory.acting_as("Ada", roles=("auditor",)).review.rename(leaf.id, "Soupery", reason="Clearer for the Cooks")
        yield memory


def names(memory: Memory, text: str, *kinds: str, limit: int = 9) -> list[str]:
    return [match.name for match in memory.find(text, limit, kinds=kinds or None)]


def test_every_kind_is_found_by_its_name(kept: Memory):
    assert names(kept, "soup day", "source") == ["Soup of the day.md"]
    assert names(kept, "souper", "category") == ["Soupery"]
    assert names(kept, "drinks soup", "fact") == ["Drinks soup on Sundays"]
    assert names(kept, "zo", "person") == ["zoe"]
    assert names(kept, "ada", "actor") == ["Ada"]
    assert names(kept, "made of soup", "run") == ["What is soup made of?"]
    assert names(kept, "clearer for", "action") == ["Renamed a category"]
    assert names(kept, "renamed cat", "action") == ["Renamed a category"]
    assert names(kept, "max cost", "setting")[0] == "max_cost"


def test_an_id_is_found_by_its_beginning(kept: Memory):
    run, action = kept.runs.list(limit=1)[0], kept.audit.actions(limit=1, verb="rename")[0]
    assert [match.id for match in kept.find(run.id[:20], kinds=["run"])] == [run.id]
    assert action.action_id in [match.id for match in kept.find(action.action_id[:20].upper(), kinds=["action"])]
    assert kept.find("zzz", kinds=["run", "action"]) == ()


def test_the_best_come_first_and_a_kind_has_no_more_than_asked_for(kept: Memory):
    for name in ("a soup", "soup", "my soups", "soup bowl"):
        kept.add_knowledge(name, f"Of {name}.")
    assert names(kept, "soup", "source")[:3] == ["soup", "soup bowl", "Soup of the day.md"]
    assert names(kept, "SOUP", "source", limit=2) == ["soup", "soup bowl"]
    assert names(kept, "", "source") == names(kept, "   ") == []


def test_a_word_of_a_category_may_be_of_its_path(kept: Memory):
    path = next(one for one in kept.tree.all() if one.is_leaf).path
    assert [match.about for match in kept.find(f"{path[0]} soupery", kinds=["category"])] == [" › ".join(path[:-1])]


@pytest.mark.parametrize("word", ["Ärger 100%", "ärger", "ÄRGER", "ger 100%", "議事録"])
def test_case_and_signs_are_as_people_mean_them(database_url: str, tmp_path: Path, word: str):
    with Memory(database_url=database_url, data_dir=tmp_path / "caches", model="offline") as memory:
        for name in ("Ärger 100% vermeiden", "Ärger 1000 mal", "第3回の議事録"):
            memory.add_knowledge(name, f"Of {name}.")
        memory.facts.add("Hat Ärger mit 議事録", "zoe")
        memory.facts.add("Hat keinen Ärger mehr", "zoe", reason="wegen Ärger 100% und 議事録")
        found = {kind: names(memory, word, kind) for kind in ("source", "action")}
    expected = ["第3回の議事録"] if word == "議事録" else ["Ärger 100% vermeiden"]
    assert found["source"][-1:] == expected
    assert len(found["source"]) == (2 if word.lower() == "ärger" else 1)
    assert found["action"] == ["Added a fact"]


def test_a_fact_of_somebody_else_is_not_there(kept: Memory):
    ben = kept.acting_as("ben", user="ben")
    assert names(ben, "soup", "fact") == ["Cooks Soup in Kyoto"]
    assert names(ben, "o", "person") == []
    assert names(ben, "ben", "person") == ["ben"]
    assert names(ben, "drinks", "run") == []
    assert names(kept.acting_as("Vi"), "soup", "fact", "person") == []
    assert names(kept.acting_as("Rae", roles=("reader",)), "soup", "fact") == ["Cooks Soup in Kyoto", "Drinks soup on Sundays"]


def test_the_reason_of_an_action_on_somebody_s_fact_is_neither_shown_nor_searched(kept: Memory):
    fact = kept.facts.list("zoe")[0]
    kept.facts.retire(fact.id, reason="Allergic to leeks")
    assert [match.about for match in kept.find("allergic", kinds=["action"])] == ["Allergic to leeks"]
    ben = kept.acting_as("ben", user="ben")
    assert ben.find("allergic", kinds=["action"]) == ()
    assert [match.about for match in ben.find("ended a fact", kinds=["action"])] == [""]


def test_what_is_gone_is_not_found(kept: Memory):
    source = kept.sources.by_name("Soup of the day.md")[0]
    kept.sources.erase(source.id, reason="asked for")
    fact = kept.facts.list("zoe")[0]
    kept.facts.retire(fact.id)
    assert names(kept, "day", "source") == []
    assert [match.about for match in kept.find("drinks", kinds=["fact"])] == ["outdated"]
    kept.facts.forget(fact.id, reason="asked for")
    kept.people.erase("ben", reason="asked for")
    assert names(kept, "soup", "fact") == []
    assert names(kept, "ben", "person") == []


def test_finding_leaves_nothing_behind(kept: Memory):
    before = kept.audit.head(), kept.runs.list()
    kept.find("soup")
    assert (kept.audit.head(), kept.runs.list()) == before


def test_another_kind_is_refused_by_its_name(kept: Memory):
    with pytest.raises(MemoirError, match="chunk"):
        kept.find("soup", kinds=["chunk"])
