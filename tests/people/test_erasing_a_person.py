"""All that is kept of a person goes at once, from every place, for good; what remains says that there was something."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import select

from fact_play import judge, remember, said, standing
from memoir_engine import InvalidSetting, MemoirError, Memory, NotAllowed, PersonNotFound
from memoir_engine.store import tables
from scripted_model import Opened, Script, paper

SECRET = "Mia has a secret garden in Krummhausen"
TRADES = paper("Crafts/Food/Bread")


def lived(memory: Memory, script: Script) -> None:
    """Fill every place with words of Mia: facts with their history, conversations, questions, reasons and a proposal."""
    remember(memory, f"Mia likes tea. {SECRET}. Mia rows")
    script.always("consolidate", judge(Mia_left_Krummhausen=("update", SECRET)))
    remember(memory, "Mia left Krummhausen")
    (gone,) = [fact for fact in memory.facts.list("mia") if fact.status == "outdated"]
    memory.facts.restore(gone.id, reason="Krummhausen is still hers")
    script.always("consolidate", judge(Mia_drinks_tea_in_Krummhausen=("update", "Mia likes tea", {"sure": False})))
    remember(memory, "Mia drinks tea in Krummhausen")
    mine = memory.acting_as("Mia", user="mia")
    mine.sessions.append("krummhausen", [{"role": "user", "content": "Where is Krummhausen?"}])
    mine.ingest_text(TRADES, name="trades.txt").raise_for_error()
    mine.query("Who bakes bread in Krummhausen?").raise_for_error()
    mine.recall("Krummhausen")


def words_in(path: Path, word: str) -> list[str]:
    """Name the members of an export that hold the word."""
    with ZipFile(path) as archive:
        return [name for name in archive.namelist() if word.encode() in archive.read(name)]


def test_no_table_of_any_database_holds_a_word_of_the_person(database_url: str, tmp_path: Path, script: Script):
    with Memory(database_url=database_url, data_dir=tmp_path / "data", model="offline", vector_store="exact") as memory:
        lived(memory, script)
        remember(memory, "Ben likes tea", user="ben")
        others = memory.people.report("ben").json
        memory.export(tmp_path / "before.zip")
        assert words_in(tmp_path / "before.zip", "Krummhausen")
        action = memory.people.erase("mia", "she asked for it")
        assert action.verb == "erase_person"
        assert memory.audit.verify().ok
        memory.export(tmp_path / "after.zip")
        assert words_in(tmp_path / "after.zip", "Krummhausen") == []
        assert words_in(tmp_path / "after.zip", '"mia"') == ["tables/source.jsonl"]  # whoever added a document
        assert [person.user_id for person in memory.people.list()] == ["ben"]
        assert standing(memory, "ben") == {"Ben likes tea": "active"}
        with Memory.import_(tmp_path / "after.zip", data_dir=tmp_path / "copy", model="offline") as copy:
            assert (copy.audit.head(), copy.audit.verify().ok) == (memory.audit.head(), True)
        known = others.partition('"known"')[2].partition('"digest"')[0]
        assert memory.people.report("ben").json.partition('"known"')[2].partition('"digest"')[0] == known


def test_no_file_of_the_memory_holds_a_word_of_the_person(opened: Opened, script: Script, tmp_path: Path):
    memory = opened()
    lived(memory, script)
    memory.search("Krummhausen")
    memory.people.erase("mia", "she asked for it")
    assert memory.audit.verify().ok
    assert memory.acting_as("Mia", user="mia").recall("Krummhausen") == ()
    memory.close()
    left = [path.name for path in tmp_path.rglob("*") if path.is_file() and b"Krummhausen" in path.read_bytes()]
    assert left == []


def test_what_was_stated_by_hand_goes_with_what_was_noted_and_who_said_so(memory: Memory):
    ada = memory.acting_as("Ada", roles=("viewer", "auditor", "admin"))
    ada.facts.add("Mia rows", "mia", entities=["Krummhausen"], agent_id="desk", metadata={"of": "Krummhausen"}, reason="Mia rows")
    memory.people.erase("mia", "she asked for it")
    f, o = tables.fact.c, tables.fact_origin.c
    stated = select(f.content, f.subject, f.entities, f.agent_id, f.meta, o.speaker).join(tables.fact_origin, o.fact_id == f.id)
    left = memory._async._engine.db.read(lambda tx: [tuple(row) for row in tx.execute(stated)])
    assert left == [("", "", "[]", None, None, None)]
    assert memory.audit.verify().ok


def test_the_preview_counts_what_goes_and_says_what_remains_and_changes_nothing(memory: Memory, script: Script):
    lived(memory, script)
    before = memory.audit.head()
    preview = memory.people.preview_erase("mia")
    assert memory.audit.head() == before
    goes = {place.place: place.count for place in preview.places}
    assert {name: goes[name] for name in ("fact", "session", "fact_proposal")} == {"fact": 5, "session": 4, "fact_proposal": 1}
    assert goes.keys() >= {"fact_origin", "message", "cut", "run", "model_call", "payload", "run_event", "embedding"}
    assert {left.place for left in preview.remains} == {"tombstone", "run", "source"}
    memory.people.erase("mia", "she asked for it")
    with pytest.raises(PersonNotFound, match=r"\[mem\]\[E620\]"):
        memory.people.preview_erase("mia")


def test_their_name_goes_from_what_others_said_and_the_words_of_these_stay(memory: Memory, tmp_path: Path):
    memory.ingest_text(TRADES, name="trades.txt").raise_for_error()
    key = memory.review.queue().items[0].key
    memory.acting_as("Mia", roles=("auditor",)).review.comment(key, "Look here, @Ben.")
    ben = memory.acting_as("Ben", roles=("auditor",))
    ben.review.comment(key, 'Seen, @mia and @"Ana Maria"; Mia was right.')
    ben.review.ask_second(key, to="Mia", words="Is it, @Mia?")
    preview = memory.people.preview_erase("Mia")
    assert [place.count for place in preview.places if place.says.startswith("their name in what others said")] == [1]
    assert [left.count for left in preview.remains if left.place == "remark"] == [1]
    memory.people.erase("Mia", "she asked for it")
    (mine, other) = memory.review.remarks(key).comments
    assert (mine.words, other.words) == (None, 'Seen, @[erased] and @"Ana Maria"; Mia was right.')
    assert other.mentions == ("Ana Maria",)
    assert memory.audit.verify().ok
    memory.export(tmp_path / "after.zip")
    with Memory.import_(tmp_path / "after.zip", data_dir=tmp_path / "copy", model="offline") as copy:
        assert copy.review.remarks(key) == memory.review.remarks(key)
    ben.review.comment(key, "Who was that, @Nora?")
    memory.people.erase("Nora", "only her name is kept")
    assert memory.review.remarks(key).comments[-1].words == "Who was that, @[erased]?"
    assert memory.audit.verify().ok


def test_documents_a_person_added_stay_in_the_tree_with_what_filed_them(memory: Memory, script: Script):
    lived(memory, script)
    memory.people.erase("mia", "she asked for it")
    (source,) = memory.sources.list()
    assert memory.reports.source(source.id).json.count("tells at some length of Bread") == 1
    assert [(run.verb, run.user) for run in memory.runs.list(verb="ingest_text")] == [("ingest_text", None)]
    assert memory.query("Who bakes bread?").raise_for_error().answer


def test_nothing_is_known_of_the_time_before_either(memory: Memory, script: Script):
    lived(memory, script)
    before = memory.audit.head()
    memory.people.erase("mia", "she asked for it")
    mine = memory.acting_as("Mia", user="mia")
    for moment in (before.seq, before.at):
        assert memory.facts.list("mia", as_of=moment) == ()
        assert memory.recall("Krummhausen", user_id="mia", as_of=moment) == ()
    assert (mine.sessions.list(expired=True), mine.runs.list(verb="query"), mine.facts.proposals()) == ((), (), ())


def test_what_was_erased_is_not_undone_and_not_brought_back(memory: Memory, script: Script):
    lived(memory, script)
    acts = [action.action_id for verb in ("remember", "restore_fact") for action in memory.audit.actions(verb=verb)]
    acts.append(memory.people.erase("mia", "she asked for it").action_id)
    for act in acts:
        assert not memory.review.preview_undo(act).possible
        with pytest.raises(MemoirError, match=r"\[mem\]\[E703\]"):
            memory.review.undo(act)
    assert memory.people.list() == ()


def test_who_comes_back_is_somebody_new(memory: Memory, script: Script):
    lived(memory, script)
    memory.people.erase("mia", "she asked for it")
    assert not remember(memory, "Mia likes tea").seen_again
    memory.acting_as("Mia", user="mia").sessions.append("krummhausen", [{"role": "user", "content": "Hello"}])
    (person,) = memory.people.list()
    assert (person.user_id, person.facts, person.sessions, person.messages) == ("mia", 1, 2, 2)
    memory.people.erase("mia", "and again")
    assert memory.audit.verify().ok


def test_what_still_runs_for_a_person_is_cancelled_and_writes_nothing_more(memory: Memory, script: Script):
    remember(memory, "Mia likes tea")
    gate = script.hold("facts")
    run = memory.start("remember", messages=said(SECRET), user_id="mia")
    script.wait_for("facts")
    memory.people.erase("mia", "she asked for it")
    gate.open()
    assert memory.jobs.wait(run, 60).status == "cancelled"
    assert (memory.people.list(), memory.audit.verify().ok) == ((), True)


def test_a_row_that_is_filled_again_by_hand_is_found(opened: Opened, script: Script, tmp_path: Path):
    memory = opened()
    remember(memory, "Mia likes tea")
    memory.people.erase("mia", "she asked for it")
    assert memory.audit.verify().ok
    with sqlite3.connect(next(tmp_path.rglob("*.db"))) as database:
        database.execute("UPDATE fact SET content = 'Mia likes gin'")
    assert not memory.audit.verify().ok


def test_a_conversation_that_is_missing_without_a_tombstone_is_found(opened: Opened, script: Script, tmp_path: Path):
    memory = opened()
    remember(memory, "Mia likes tea")
    memory.people.erase("mia", "she asked for it")
    with sqlite3.connect(next(tmp_path.rglob("*.db"))) as database:
        database.execute("DELETE FROM tombstone WHERE place = 'session'")
    assert not memory.audit.verify().ok


def test_only_an_admin_erases_and_only_with_a_reason(memory: Memory, script: Script):
    remember(memory, "Mia likes tea")
    for roles in (("viewer",), ("viewer", "auditor")):
        with pytest.raises(NotAllowed):
            memory.acting_as("Mia", user="mia", roles=roles).people.erase("mia", "please")
    with pytest.raises(PersonNotFound):
        memory.acting_as("Ben", user="ben", roles=("admin",)).people.erase("mia", "please")
    with pytest.raises(InvalidSetting, match="reason"):
        memory.people.erase("mia", " ")
    assert standing(memory) == {"Mia likes tea": "active"}


def test_who_is_only_spoken_of_is_no_user_and_stays_with_whoever_said_so(memory: Memory, script: Script):
    remember(memory, "Lena likes tea")
    before = memory.audit.head()
    for verb in (memory.people.report, memory.people.preview_erase):
        with pytest.raises(PersonNotFound, match="'Lena'"):
            verb("Lena")
    with pytest.raises(PersonNotFound, match="'Lena'"):
        memory.people.erase("Lena", "she asked for it")
    assert memory.audit.head() == before
    remember(memory, "Lena rows", user="Lena")
    remains = {left.place: left.count for left in memory.people.preview_erase("Lena").remains}
    assert remains["fact"] == 1
    memory.people.erase("Lena", "she asked for it")
    assert standing(memory) == {"Lena likes tea": "active"}


def test_why_somebody_was_erased_is_for_admins_to_read(memory: Memory, script: Script):
    remember(memory, "Mia likes tea")
    act = memory.people.erase("mia", "Mia asked for it").action_id
    assert memory.audit.action(act).reason == "Mia asked for it"
    seen = memory.acting_as("Vera", user="vera").audit.actions(verb="erase_person")
    assert [(action.action_id, action.reason) for action in seen] == [(act, None)]
    assert asdict(seen[0])["says"] == "Erased a person's data"
