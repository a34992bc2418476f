"""MemoirStore: what LangGraph's own store does, on each database, and what it owes to being a memory of facts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Item, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from memoir_engine import MemoirError, Memory
from memoir_engine.core.errors import DocIdExists, InvalidSetting, NotAllowed
from memoir_engine.langgraph import MemoirStore
from set_clock import SetClock

MINE = ("memories", "ana")


@pytest.fixture
def store(memory: Memory) -> MemoirStore:
    return MemoirStore(memory)


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


# --- as LangGraph's own store answers --------------------------------------------------------------------------------

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("docs",), "a", {"title": "Alpha", "rank": 1, "tags": ["x", "y"], "author": {"name": "Bo"}}),
    (("docs", "v1"), "b", {"title": "Beta", "rank": 2.5, "tags": []}),
    (("docs", "v2"), "a", {"title": "Gamma", "rank": None}),
    (("docsother",), "c", {"title": "Delta", "rank": 3}),
    (("users", "ana", "v1"), "d", {"text": 'She said "namespace":"docs" and left', "rank": -1}),
    (("users", "bo", "v1"), "it's %_\\ 50/50", {"text": "日本語のメモ", "ok": True}),
]
SEARCHES: list[tuple[tuple[str, ...], dict[str, Any] | None]] = [
    ((), None),
    (("docs",), None),
    (("docs", "v1"), None),
    (("nothing",), None),
    (("users",), {"ok": True}),
    ((), {"title": "Beta"}),
    ((), {"rank": {"$gte": 2}, "title": {"$ne": "Delta"}}),
    ((), {"title": {"$eq": "Alpha"}}),
    ((), {"tags": ["x", "y"]}),
    ((), {"author": {"name": "Bo"}}),
    ((), {"missing": None, "rank": {"$eq": 3}}),
]
LISTED: list[dict[str, Any]] = [
    {},
    {"prefix": ("docs",)},
    {"suffix": ("v1",)},
    {"prefix": ("users", "*"), "suffix": ("v1",)},
    {"prefix": ("users", "*", "v1", "deeper")},
    {"max_depth": 1},
    {"prefix": ("users",), "max_depth": 2},
    {"limit": 2, "offset": 1},
]


def filled(store: BaseStore) -> BaseStore:
    for namespace, key, value in ITEMS:
        store.put(namespace, key, value)
    return store


def seen(items: list[Any]) -> list[tuple[Any, ...]]:
    return sorted((item.namespace, item.key, item.value) for item in items)


def comparable(conditions: dict[str, Any] | None) -> bool:
    """LangGraph's own store fails on a comparison of nothing with a number."""
    return not conditions or "rank" not in conditions or "$gte" not in conditions["rank"]


def test_it_reads_as_langgraphs_own_store_does_on_each_database(database_url: str, tmp_path: Path) -> None:
    with Memory(database_url=database_url, data_dir=tmp_path / "data", model="offline") as memory:
        ours, theirs = filled(MemoirStore(memory)), filled(InMemoryStore())
        for namespace, key, value in ITEMS:
            found = ours.get(namespace, key)
            assert found is not None and (found.namespace, found.key, found.value) == (namespace, key, value)
        for prefix, conditions in SEARCHES:
            expected = theirs.search(prefix, filter=conditions) if comparable(conditions) else [theirs.get(("docs", "v1"), "b")]
            assert seen(ours.search(prefix, filter=conditions)) == seen(expected)
        for asked in LISTED:
            assert ours.list_namespaces(**asked) == theirs.list_namespaces(**asked)
        for store in (ours, theirs):
            store.put(("docs",), "a", {"title": "Alpha, anew"})
            store.delete(("docs", "v1"), "b")
            store.delete(("docs", "v1"), "never there")
        assert seen(ours.search((), limit=100)) == seen(theirs.search((), limit=100))
        assert ours.list_namespaces() == [path for path in theirs.list_namespaces() if path != ("docs", "v1")]
        assert memory.audit.verify().ok


def test_pages_follow_each_other_and_the_last_put_comes_first(store: MemoirStore) -> None:
    for number in range(5):
        store.put(MINE, str(number), {"content": f"Note {number}"})
    assert keys(store.search(MINE, limit=2)) == ["4", "3"]
    assert keys(store.search(MINE, limit=2, offset=2)) == ["2", "1"]
    assert keys(store.search(MINE, limit=2, offset=4)) == ["0"]
    assert store.search(MINE, limit=0) == []


def test_a_batch_reads_before_it_writes_and_writes_as_one_action(memory: Memory, store: MemoirStore) -> None:
    store.put(MINE, "kept", {"content": "Plays the cello"})
    before = len(memory.audit.events())
    results = store.batch(
        [
            PutOp(MINE, "first", {"content": "Rides a bike"}),
            GetOp(MINE, "first"),
            GetOp(MINE, "kept"),
            PutOp(MINE, "first", {"content": "Rides a horse"}),
            PutOp(MINE, "kept", None),
            SearchOp(MINE),
            ListNamespacesOp(),
        ]
    )
    assert results[0] is results[1] is results[3] is results[4] is None
    assert isinstance(results[2], Item) and results[2].value == {"content": "Plays the cello"}
    assert keys(results[5]) == ["kept"] and results[6] == [MINE]
    assert [item.value["content"] for item in store.search(MINE)] == ["Rides a horse"]
    assert len({event.action_id for event in memory.audit.events()[: len(memory.audit.events()) - before]}) == 1


def test_a_loop_is_not_kept_waiting(store: MemoirStore) -> None:
    async def use() -> tuple[Any, Any]:
        await store.aput(MINE, "1", {"content": "Sings in a choir"})
        await asyncio.gather(*(store.aput(MINE, f"n{number}", {"content": f"Note {number}"}) for number in range(4)))
        found = await store.asearch(MINE, query="choir singing", limit=1)
        await store.adelete(MINE, "1")
        return found, await store.aget(MINE, "1")

    found, gone = asyncio.run(use())
    assert keys(found) == ["1"] and gone is None
    assert len(store.search(MINE)) == 4


def test_words_find_an_item_and_what_is_not_indexed_comes_last(store: MemoirStore) -> None:
    store.put(MINE, "cat", {"memory": "Has a cat called Mia", "kind": "pet"})
    store.put(MINE, "work", {"memory": "Works as a nurse at the hospital", "kind": "job"})
    store.put(MINE, "hidden", {"memory": "Works as a nurse at night", "kind": "job"}, index=False)
    hits = store.search(MINE, query="nurse at the hospital")
    assert keys(hits) == ["work", "cat", "hidden"]
    assert hits[0].score is not None and hits[1].score is not None and hits[0].score > hits[1].score
    assert hits[2].score is None
    assert keys(store.search(MINE, query="nurse", filter={"kind": "pet"})) == ["cat"]
    assert keys(store.search(MINE, query="nurse at the hospital", limit=1, offset=1)) == ["cat"]


def test_only_the_named_fields_are_searched(memory: Memory) -> None:
    store = MemoirStore(memory, index={"fields": ["author.name", "parts[*].title"]})
    store.put(("books",), "1", {"author": {"name": "Miyazawa"}, "parts": [{"title": "Night train"}], "blurb": "gardens"})
    store.put(("books",), "2", {"author": {"name": "Soseki"}, "parts": [{"title": "Kokoro"}], "blurb": "night train"})
    store.put(("books",), "3", {"name": "Basho", "blurb": "night train"}, index=["name"])
    assert keys(store.search(("books",), query="night train"))[0] == "1"
    assert [fact.content for fact in memory.facts.list()] == ["Basho", "Soseki; Kokoro", "Miyazawa; Night train"]


# --- time to live ----------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(memory: Memory) -> Iterator[SetClock]:
    engine = memory._async._engine
    clock = SetClock(engine.clock.now() + timedelta(seconds=1))
    before, engine.clock, engine.db.clock = engine.clock, clock, clock
    yield clock
    engine.clock = engine.db.clock = before


def test_an_item_lives_from_its_last_access(memory: Memory, clock: SetClock) -> None:
    store = MemoirStore(memory, ttl={"default_ttl": 60})
    store.put(MINE, "default", {"content": "Is in Rome"})
    store.put(MINE, "short", {"content": "Has a headache"}, ttl=10)
    store.put(MINE, "ever", {"content": "Is called Ana"}, ttl=None)
    clock.moved += timedelta(minutes=9)
    assert store.get(MINE, "short") is not None  # lives ten minutes more from here on
    assert store.get(MINE, "default", refresh_ttl=False) is not None
    clock.moved += timedelta(minutes=9)
    assert store.get(MINE, "short", refresh_ttl=False) is not None
    clock.moved += timedelta(minutes=2)
    assert store.get(MINE, "short") is None
    assert [fact.cause for fact in memory.facts.list(status="outdated")] == ["expired"]
    clock.moved += timedelta(minutes=41)
    assert keys(store.search(MINE)) == ["ever"]
    store.put(MINE, "short", {"content": "Has a headache"}, ttl=10)
    assert store.get(MINE, "short") is not None
    assert memory.audit.verify().ok


def test_what_was_just_read_is_not_refreshed_anew(memory: Memory, clock: SetClock) -> None:
    store = MemoirStore(memory)
    store.put(MINE, "1", {"content": "Is in Rome"}, ttl=100)
    head = memory.audit.head()
    clock.moved += timedelta(minutes=4)
    assert store.get(MINE, "1") is not None and memory.audit.head() == head
    clock.moved += timedelta(minutes=2)
    assert store.get(MINE, "1") is not None and memory.audit.head() != head


def test_reading_refreshes_nothing_where_it_is_configured_so(memory: Memory, clock: SetClock) -> None:
    store = MemoirStore(memory, ttl={"default_ttl": 10, "refresh_on_read": False})
    store.put(MINE, "1", {"content": "Is in Rome"})
    clock.moved += timedelta(minutes=9)
    assert keys(store.search(MINE)) == ["1"] and store.get(MINE, "1") is not None
    clock.moved += timedelta(minutes=2)
    assert store.get(MINE, "1") is None


# --- a memory of facts -----------------------------------------------------------------------------------------------


def test_items_are_facts_that_a_person_sees_corrects_and_ends(memory: Memory, store: MemoirStore) -> None:
    store.put(MINE, "cat", {"content": "Has a cat called Mia", "source": "chat"})
    store.put(MINE, "home", {"kind": "Memory", "content": {"content": "Lives in Basel"}})
    by_words = {fact.content: fact for fact in memory.facts.list()}
    assert set(by_words) == {"Has a cat called Mia", "Lives in Basel"}
    assert by_words["Has a cat called Mia"].metadata["namespace"] == "memories.ana"
    assert by_words["Has a cat called Mia"].origins[0].kind == "person"
    memory.facts.correct(by_words["Has a cat called Mia"].id, "Has a cat called Mimi", reason="misheard")
    memory.facts.correct(by_words["Lives in Basel"].id, "Lives in Bern")
    cat, home = store.get(MINE, "cat"), store.get(MINE, "home")
    assert cat is not None and cat.value == {"content": "Has a cat called Mimi", "source": "chat"}
    assert home is not None and home.value == {"kind": "Memory", "content": {"content": "Lives in Bern"}}
    action = memory.facts.retire(next(fact.id for fact in memory.facts.list(status="active") if "Bern" in fact.content))
    assert store.get(MINE, "home") is None
    memory.review.undo(action.action_id, reason="she stays")
    assert store.get(MINE, "home") is not None


def test_putting_again_supersedes_deleting_ends_and_both_are_undone(memory: Memory, store: MemoirStore) -> None:
    store.put(MINE, "home", {"content": "Lives in Basel"})
    first = store.get(MINE, "home")
    store.put(MINE, "home", {"content": "Lives in Bern"})
    changed = memory.audit.events()[0].action_id
    second = store.get(MINE, "home")
    assert first is not None and second is not None
    assert second.created_at == first.created_at and second.updated_at > first.updated_at
    old = next(fact for fact in memory.facts.list() if fact.content == "Lives in Basel")
    assert (old.status, old.cause) == ("outdated", "update")
    memory.review.undo(changed, reason="wrong person")
    assert store.get(MINE, "home") == first
    store.delete(MINE, "home")
    assert memory.facts.list(status="outdated")[0].cause == "retired"
    memory.review.undo(memory.audit.events()[0].action_id, reason="deleted by mistake")
    assert store.get(MINE, "home") == first


def test_the_same_words_under_two_keys_are_two_items(store: MemoirStore) -> None:
    store.put(MINE, "1", {"content": "Loves tea"})
    store.put(MINE, "2", {"content": "Loves tea"})
    store.delete(MINE, "1")
    assert keys(store.search(MINE)) == ["2"]


def test_putting_what_is_there_changes_nothing(memory: Memory, store: MemoirStore) -> None:
    store.put(MINE, "1", {"content": "Loves tea"})
    head = memory.audit.head()
    store.put(MINE, "1", {"content": "Loves tea"})
    assert memory.audit.head() == head


def test_forgetting_an_item_leaves_none_of_its_words(memory: Memory, store: MemoirStore, tmp_path: Path) -> None:
    store.put(MINE, "secret", {"content": "Hides it under the floor", "place": "xylophone cupboard"})
    memory.facts.forget(memory.facts.list()[0].id, reason="asked to")
    assert store.get(MINE, "secret") is None and store.search(()) == []
    assert memory.audit.verify().ok
    memory.export(tmp_path / "all.zip")
    memory.close()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "memory").rglob("*") if path.is_file())
    assert b"xylophone" not in kept and b"under the floor" not in kept


def test_items_are_their_user_s(memory: Memory) -> None:
    ana, bo = (MemoirStore(memory.acting_as(name, user=name, roles=("auditor",))) for name in ("ana", "bo"))
    ana.put(MINE, "1", {"content": "Is afraid of heights"})
    assert bo.get(MINE, "1") is None and bo.search(()) == [] and bo.search((), query="heights") == []
    assert bo.list_namespaces() == []
    bo.delete(MINE, "1")
    assert ana.get(MINE, "1") is not None
    viewer = MemoirStore(memory.acting_as("ana", user="ana"))
    assert viewer.get(MINE, "1") is not None
    with pytest.raises(NotAllowed):
        viewer.put(MINE, "1", {"content": "Loves heights"})


def test_an_item_survives_an_export(memory: Memory, store: MemoirStore, tmp_path: Path) -> None:
    store.put(MINE, "1", {"content": "Loves tea", "when": [1, {"a": None}]}, ttl=10_000)
    memory.export(tmp_path / "all.zip")
    with Memory.import_(tmp_path / "all.zip", data_dir=tmp_path / "other", model="offline") as other:
        assert MemoirStore(other).get(MINE, "1") == store.get(MINE, "1")


# --- what the memory knows by itself ----------------------------------------------------------------------------------


def test_facts_of_the_memory_are_read_corrected_and_ended(memory: Memory, store: MemoirStore) -> None:
    store.put(MINE, "1", {"content": "Loves tea"})
    fact_id = memory.facts.add("Lives in Basel", type="personal").fact_id
    assert fact_id is not None
    facts = ("memoir", "facts")
    assert keys(store.search(facts)) == [fact_id]
    assert keys(store.search(facts, query="Where does she live?", filter={"type": "personal"})) == [fact_id]
    store.put(facts, fact_id, {"content": "Lives in Bern"})
    now = store.get(facts, fact_id)
    assert now is not None and now.value["content"] == "Lives in Bern" and now.value["type"] == "personal"
    assert (now.namespace, now.key) == (facts, fact_id) and keys(store.search(facts)) == [fact_id]
    assert [(fact.content, fact.cause) for fact in memory.facts.list(status="outdated")] == [("Lives in Basel", "corrected")]
    head = memory.audit.head()
    store.put(facts, fact_id, {"content": "Lives in Bern"})
    assert memory.audit.head() == head
    store.delete(facts, fact_id)
    assert store.get(facts, fact_id) is None and store.search(facts) == []
    assert memory.facts.list(status="outdated")[0].cause == "retired"


@pytest.mark.parametrize("value", [{"speed": "12 knots"}, 3], ids=["a dictionary", "a number"])
def test_metadata_with_the_names_of_an_item_is_no_item(memory: Memory, store: MemoirStore, value: Any) -> None:
    noted = {"namespace": "boats", "key": "sloop", "value": value}
    fact_id = memory.facts.add("Has a boat", metadata=noted).fact_id
    assert store.search(("boats",)) == [] and store.list_namespaces() == []
    (found,) = store.search(("memoir", "facts"), query="Has a boat")
    assert (found.key, found.value["content"], found.value["metadata"]) == (fact_id, "Has a boat", noted)
    store.put(("memoir", "facts"), str(fact_id), {"content": "Has a red boat"})
    assert [fact.content for fact in memory.facts.list(status="active")] == ["Has a red boat"]


def test_what_is_put_among_the_facts_is_a_fact_under_its_key(memory: Memory, store: MemoirStore) -> None:
    facts = ("memoir", "facts")
    value = {"content": "Is allergic to nuts", "type": "health", "valid_from": "2026-03", "told": {"by": "Bo"}}
    store.put(facts, "nuts", value)
    found = store.get(facts, "nuts")
    assert found is not None and (found.namespace, found.key, found.value) == (facts, "nuts", value)
    assert [(item.key, item.value) for item in store.search(facts, query="What is she allergic to?")] == [("nuts", value)]
    assert keys(store.search(facts, filter={"subject": "nobody"})) == []
    assert keys(store.search(facts, filter={"type": "health"})) == keys(store.search(())) == ["nuts"]
    (fact,) = memory.facts.list()
    assert (fact.content, fact.type, fact.valid_from_precision) == ("Is allergic to nuts", "health", "month")
    store.put(facts, "nuts", {"content": "Is allergic to peanuts"})
    again = store.get(facts, "nuts")
    assert again is not None and again.value == {"content": "Is allergic to peanuts"}
    assert again.created_at == found.created_at and again.updated_at > found.updated_at
    assert [(old.content, old.cause) for old in memory.facts.list(status="outdated")] == [("Is allergic to nuts", "update")]
    store.delete(facts, "nuts")
    assert store.get(facts, "nuts") is None and store.search(facts) == []
    store.put(facts, "nuts", {"content": "Eats nuts again"})
    assert keys(store.search(facts)) == ["nuts"]
    assert memory.audit.verify().ok


def test_what_happens_to_a_fact_elsewhere_is_seen_under_its_key(memory: Memory, store: MemoirStore) -> None:
    facts, learned = ("memoir", "facts"), memory.facts.add("Lives in Basel").fact_id
    assert learned is not None
    store.put(facts, "cat", {"content": "Has a cat", "type": "personal"})
    put = next(fact.id for fact in memory.facts.list() if fact.content == "Has a cat")
    actions = [memory.facts.correct(put, "Has two cats", type="preference"), memory.facts.correct(learned, "Lives in Bern")]

    def read() -> list[Any]:
        both = [store.get(facts, "cat"), store.get(facts, learned)]
        return [item and (item.value["content"], item.value["type"]) for item in both]

    assert read() == [("Has two cats", "preference"), ("Lives in Bern", "miscellaneous")]
    assert set(keys(store.search(facts))) == {"cat", learned}
    for action in actions:
        memory.review.undo(action.action_id, reason="it was right")
    assert read() == [("Has a cat", "personal"), ("Lives in Basel", "miscellaneous")]
    memory.facts.forget([put, learned], reason="asked to")
    assert read() == [None, None] and store.search(facts) == []


def test_a_batch_among_the_facts_reads_first_and_is_undone_as_one(memory: Memory, store: MemoirStore) -> None:
    facts = ("memoir", "facts")
    results = store.batch([PutOp(facts, "a", {"content": "Sings"}), GetOp(facts, "a"), PutOp(MINE, "b", {"content": "Rows"})])
    assert results == [None, None, None] and keys(store.search(())) == ["b", "a"]
    memory.review.undo(memory.audit.events()[0].action_id, reason="not so")
    assert store.get(facts, "a") is None and store.get(MINE, "b") is None


def test_facts_put_under_the_same_key_or_id_are_each_user_s_own(memory: Memory) -> None:
    facts = ("memoir", "facts")
    ana, bo = (memory.acting_as(name, user=name, roles=("auditor",)) for name in ("ana", "bo"))
    known = ana.facts.add("Is afraid of heights", "ana").fact_id
    assert known is not None
    for key in ("1", known):
        MemoirStore(bo).put(facts, key, {"content": "Loves tea"})
        MemoirStore(bo).put(facts, key, {"content": "Loves coffee"})
    MemoirStore(ana).put(facts, "1", {"content": "Sings"})
    MemoirStore(bo).delete(facts, "1")
    assert {item.key: item.value["content"] for item in MemoirStore(ana).search(facts)} == {
        "1": "Sings",
        known: "Is afraid of heights",
    }
    assert [(item.key, item.value["content"]) for item in MemoirStore(bo).search(facts)] == [(known, "Loves coffee")]
    viewer = MemoirStore(memory.acting_as("ana", user="ana"))
    with pytest.raises(NotAllowed):
        viewer.put(facts, "2", {"content": "Loves heights"})
    with pytest.raises(NotAllowed):
        viewer.put(facts, known, {"content": "Loves heights"})


def test_knowledge_is_read_searched_and_added(store: MemoirStore) -> None:
    knowledge = ("memoir", "knowledge")
    store.put(knowledge, "hours", {"text": "The office opens at nine and closes at six.", "metadata": {"team": "front"}})
    store.put(knowledge, "parking", {"text": "Visitors leave their cars behind the mill."})
    found = store.get(knowledge, "hours")
    assert found is not None and found.value["metadata"] == {"team": "front"}
    assert keys(store.search(knowledge, query="where do visitors leave a car", limit=1)) == ["parking"]
    assert keys(store.search(knowledge)) == ["parking", "hours"]
    with pytest.raises(DocIdExists):
        store.put(knowledge, "hours", {"text": "Closed."})
    with pytest.raises(InvalidSetting, match="is not deleted as an item"):
        store.delete(knowledge, "hours")


# --- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.put((), "k", {"a": 1}), id="no namespace"),
        pytest.param(lambda store: store.put(("langgraph",), "k", {"a": 1}), id="reserved namespace"),
        pytest.param(lambda store: store.put(("a.b",), "k", {"a": 1}), id="a period"),
        pytest.param(lambda store: store.batch([PutOp((), "k", {"a": 1})]), id="no namespace in a batch"),
        pytest.param(lambda store: store.batch([SearchOp(("a.b",))]), id="a period in a batch"),
    ],
)
def test_a_namespace_that_langgraph_refuses_is_refused_as_there(store: MemoirStore, call: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        call(store)


def test_an_item_among_the_facts_says_something(memory: Memory, store: MemoirStore) -> None:
    with pytest.raises(MemoirError, match=r"\[mem\]\[E608\]"):
        store.put(("memoir", "facts"), "k", {"content": " "})
    assert memory.facts.list() == ()


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        pytest.param(lambda store: store.put(MINE, "k", {"a": object()}), "not JSON", id="a value that is no JSON"),
        pytest.param(lambda store: store.put(MINE, "k", ["a"]), "must be a dictionary", id="a value that is a list"),
        pytest.param(lambda store: store.put(MINE, "k" * 1001, {"a": 1}), "1001 characters long", id="a long key"),
        pytest.param(lambda store: store.put(MINE, "k", {"a": 1}, ttl=-1), "minutes above 0", id="a time that is past"),
        pytest.param(lambda store: store.search((), filter={"a": {"$in": [1]}}), "no operator '\\$in'", id="an operator"),
        pytest.param(lambda store: store.search((), filter="a"), "expected a dictionary", id="a filter that is a text"),
        pytest.param(lambda store: store.search((), limit=-1), "whole number of 0 or more", id="a negative limit"),
        pytest.param(
            lambda store: store.put(("memoir", "facts"), "k", {"text": "a", "type": "x"}), "type", id="no type of a fact"
        ),
        pytest.param(lambda store: store.put(("memoir", "mine"), "k", {"a": 1}), "the memory's own", id="below memoir"),
    ],
)
def test_what_cannot_be_stored_or_asked_is_refused_by_name(memory: Memory, store: MemoirStore, call: Any, problem: str) -> None:
    head = memory.audit.head()
    with pytest.raises(InvalidSetting, match=problem):
        call(store)
    assert memory.audit.head() == head


@pytest.mark.parametrize(
    "settings",
    [{"index": {"dims": 3, "embed": "x"}}, {"index": ["text"]}, {"ttl": {"default_ttl": 0}}, {"ttl": {"minutes": 3}}],
    ids=["another embedder", "a list", "no time", "an unknown name"],
)
def test_a_store_is_not_opened_with_what_it_has_not(memory: Memory, settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting):
        MemoirStore(memory, **settings)
