"""Whose data is kept, as a list, a report and a file: complete, and for those who may see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from fact_play import judge, remember
from memoir_engine import ExportFailed, Memory, PersonNotFound
from scripted_model import Script


@pytest.fixture
def two(memory: Memory, script: Script) -> Memory:
    """Open a memory that knows of two people; one fact of Mia's took the place of another."""
    remember(memory, "Mia lives in Berlin. Mia rows")
    script.always("consolidate", judge(Mia_lives_in_Bern=("update", "Mia lives in Berlin")))
    remember(memory, "Mia lives in Bern")
    remember(memory, "Ben likes <b>tea</b>", user="ben")
    return memory


def lines(path: Path, part: str) -> list[dict[str, Any]]:
    with ZipFile(path) as archive:
        return [json.loads(line) for line in archive.read(f"{part}.jsonl").splitlines()]


def test_people_are_listed_by_name_with_how_much_is_kept_of_each(two: Memory):
    ben, mia = two.people.list()
    assert (ben.user_id, ben.facts, ben.sessions, ben.messages, ben.cuts) == ("ben", 1, 1, 1, 1)
    assert (mia.user_id, mia.facts, mia.active, mia.sessions, mia.messages, mia.runs) == ("mia", 3, 2, 2, 2, 2)
    assert mia.first_at is not None and mia.last_at is not None and mia.first_at < mia.last_at
    assert (two.people.list(limit=1), two.people.list(after="ben")) == ((ben,), (mia,))


def test_the_workspace_is_nobody(memory: Memory, script: Script):
    remember(memory, "Tea is green", user=None)
    assert memory.people.list() == ()


def test_a_report_shows_facts_with_their_history_and_conversations_as_page_and_as_json(two: Memory):
    report = two.people.report("mia")
    record = json.loads(report.json)
    assert (report.kind, report.title, record["digest"]) == ("user", "mia", report.digest)
    (moved,) = [fact for fact in record["known"] if fact["content"] == "Mia lives in Berlin"]
    assert [(state["status"], state["cause"]) for state in moved["history"]] == [("active", None), ("outdated", "update")]
    assert moved["origins"][0]["quote"] == "Mia lives in Berlin"
    assert [len(talk["messages"]) for talk in record["conversations"]] == [1, 1]
    assert "Mia lives in Berlin" in report.html and "Mia lives in Bern" in report.html and "Ben" not in report.html


def test_a_report_writes_dates_as_they_were_stated_in_the_zone_of_the_memory(tmp_path: Path):
    with Memory(model="offline", db_path=tmp_path / "m.db", time_zone="Asia/Tokyo") as memory:
        memory.facts.add("Worked as a nurse", user_id="mia", valid_from="2010", valid_to="2015")
        memory.facts.add("Rents a garage", user_id="mia", expires_at="2099-04-01")
        page = memory.people.report("mia").html
    assert "from 2010 until 2015 ·" in page
    assert "<dt>Expires</dt><dd>2099-04-01T00:00</dd>" in page


def test_markup_in_what_was_said_does_not_come_alive(two: Memory):
    page = two.people.report("ben").html
    assert "<b>tea</b>" not in page
    assert "&lt;b&gt;tea&lt;/b&gt;" in page


def test_an_export_is_one_file_with_every_fact_message_and_run_and_says_what_is_what(two: Memory, tmp_path: Path):
    written = two.people.export("mia", tmp_path / "mia.zip")
    assert (written.rows["facts"], written.rows["messages"], written.rows["runs"]) == (3, 2, 2)
    facts = {fact["content"]: fact for fact in lines(tmp_path / "mia.zip", "facts")}
    assert facts.keys() == {"Mia lives in Berlin", "Mia rows", "Mia lives in Bern"}
    assert facts["Mia lives in Berlin"]["superseded_by"] == facts["Mia lives in Bern"]["id"]
    assert [message["content"] for message in lines(tmp_path / "mia.zip", "messages")] == [
        "Mia lives in Berlin. Mia rows",
        "Mia lives in Bern",
    ]
    assert all(call["prompt"] and call["reply"] for run in lines(tmp_path / "mia.zip", "runs") for call in run["calls"])
    with ZipFile(tmp_path / "mia.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert {part["file"] for part in manifest["parts"]} | {"manifest.json", "report.html"} == set(archive.namelist())
    assert (manifest["format"], manifest["user_id"], manifest["head"]["hash"]) == ("memoir-person/1", "mia", written.head.hash)


def test_what_an_undo_took_back_is_still_kept_and_exported_as_such(two: Memory, tmp_path: Path):
    two.review.undo(remember(two, "Mia sings").action_id)
    two.people.export("mia", tmp_path / "mia.zip")
    taken_back = {fact["content"]: fact["taken_back"] for fact in lines(tmp_path / "mia.zip", "facts")}
    assert taken_back["Mia sings"] and not taken_back["Mia rows"]


def test_an_export_to_where_nothing_can_be_written_leaves_nothing(two: Memory, tmp_path: Path):
    with pytest.raises(ExportFailed):
        two.people.export("mia", tmp_path / "no such folder" / "mia.zip")
    assert not (tmp_path / "no such folder").exists()


@pytest.mark.parametrize("roles", [("viewer",), ("viewer", "auditor")], ids=["viewer", "auditor"])
def test_everybody_sees_their_own_data_and_nobody_else_s(two: Memory, tmp_path: Path, roles: Any):
    mine = two.acting_as("Mia", user="mia", roles=roles)
    assert [person.user_id for person in mine.people.list()] == ["mia"]
    assert json.loads(mine.people.report("mia").json)["known"]
    assert mine.people.export("mia", tmp_path / "mia.zip").rows["facts"] == 3
    assert mine.people.preview_erase("mia").places
    for verb in (mine.people.report, mine.people.preview_erase, lambda name: mine.people.export(name, tmp_path / "ben.zip")):
        with pytest.raises(PersonNotFound):
            verb("ben")
    assert not (tmp_path / "ben.zip").exists()


def test_who_acts_for_nobody_and_is_no_admin_sees_nobody(two: Memory):
    assert two.acting_as("Ada", roles=("auditor",)).people.list() == ()
    with pytest.raises(PersonNotFound):
        two.acting_as("Ada", roles=("auditor",)).people.report("mia")


def test_states_of_graphs_are_exported_with_their_texts_and_erased(two: Memory, tmp_path: Path):
    pytest.importorskip("langgraph")
    from typing import TypedDict

    from langgraph.graph import END, START, StateGraph

    from memoir_engine.langgraph import MemoirCheckpointSaver

    class State(TypedDict):
        place: str

    graph = StateGraph(State)
    graph.add_node("go", lambda state: {"place": f"{state['place']} by the lake"})
    graph.add_edge(START, "go")
    graph.add_edge("go", END)
    mine = two.acting_as("Mia", user="mia")
    built = graph.compile(checkpointer=MemoirCheckpointSaver(mine))
    built.invoke({"place": "Krummhausen"}, {"configurable": {"thread_id": "t"}})
    assert two.people.export("mia", tmp_path / "mia.zip").rows["graph_states"] > 0
    assert any("Krummhausen by the lake" in row["texts"] for row in lines(tmp_path / "mia.zip", "graph_states"))
    (mia,) = mine.people.list()
    assert mia.graph_states == 1
    two.people.erase("mia", "she asked for it")
    assert built.get_state({"configurable": {"thread_id": "t"}}).values == {}
    assert two.audit.verify().ok


def test_a_report_shows_what_was_noted_with_a_fact_and_why_it_was_added_suggested_and_taken_back(memory: Memory):
    noted = {"agent_id": "support", "metadata": {"topic": "<i>allergies</i>", "seen": [1, "twice"]}, "entities": ["Peanut"]}
    memory.facts.add("Is allergic to nuts", "mia", reason="told <me>", expires_at="2199-05", **noted)
    dog = memory.facts.add("Has a dog", "mia", reason="she said so")
    memory.review.undo(dog.action_id, reason="it is a cat")
    memory.facts.suggest("add", "Plays the cello", reason="heard it", user_id="mia")
    memory.facts.approve(memory.facts.proposals("mia")[0].id, reason="so it is")
    report = memory.people.report("mia")
    for words in ("support", "&lt;i&gt;allergies&lt;/i&gt;", "twice", "Peanut", "2199-05-01", "told &lt;me&gt;", "she said so"):
        assert words in report.html
    for words in ("it is a cat", "heard it", "so it is", "stated by local", "Plays the cello"):
        assert words in report.html
    assert "<i>" not in report.html and "the words are gone" not in report.html
    (proposal,) = json.loads(report.json)["proposals"]
    assert [move["reason"] for move in proposal["history"]] == ["heard it", "so it is"]
    assert json.loads(report.json)["known"][1]["history"][-1]["until_by"]["reason"] == "it is a cat"
