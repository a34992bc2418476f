"""What is refused when facts are put right by hand: coded, with what to do next, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import pytest

import facts_by_hand
from memoir_engine import Memory
from memoir_engine.core import errors

clock = pytest.fixture(facts_by_hand.clock)
memory = pytest.fixture(facts_by_hand.memory)


def refusals() -> list[Any]:
    long, at = "a" * 1001, "2026-01-01"
    rows: list[tuple[str, type[errors.MemoirError], Callable[[Any, str], Any]]] = [
        ("correct an unknown id", errors.FactNotFound, lambda facts, _: facts.correct("nobody", "Likes figs")),
        ("retire an unknown id", errors.FactNotFound, lambda facts, known: facts.retire([known, "nobody"])),
        ("expire an unknown id", errors.FactNotFound, lambda facts, _: facts.expire("nobody", "2030")),
        ("forget an unknown id", errors.FactNotFound, lambda facts, known: facts.forget([known, "nobody"], "please")),
        ("correct to nothing", errors.FactContentInvalid, lambda facts, known: facts.correct(known, " \n")),
        ("add nothing", errors.FactContentInvalid, lambda facts, _: facts.add("", "mia")),
        ("correct to too much", errors.FactContentInvalid, lambda facts, known: facts.correct(known, long)),
        ("add too much", errors.FactContentInvalid, lambda facts, _: facts.add(long, "mia")),
        ("end before it begins", errors.FactDatesInvalid, lambda facts, known: facts.retire(known, ended_at="2024")),
        ("correct to such dates", errors.FactDatesInvalid, lambda facts, known: facts.correct(known, valid_to="2024")),
        ("add such dates", errors.FactDatesInvalid, lambda facts, _: facts.add("x", "mia", valid_from="2026", valid_to="2025")),
        ("an expiry that is past", errors.FactDatesInvalid, lambda facts, known: facts.expire(known, at)),
        ("an added expiry that is past", errors.FactDatesInvalid, lambda facts, _: facts.add("x", "mia", expires_at=at)),
        ("an end to come", errors.FactDatesInvalid, lambda facts, known: facts.retire(known, ended_at="2030")),
        ("a malformed beginning", errors.InvalidSetting, lambda facts, known: facts.correct(known, valid_from="soon")),
        ("a malformed end", errors.InvalidSetting, lambda facts, known: facts.retire(known, ended_at="2026-13")),
        ("a malformed expiry", errors.InvalidSetting, lambda facts, known: facts.expire(known, "")),
        ("a naive time", errors.InvalidSetting, lambda facts, known: facts.expire(known, datetime(2030, 1, 1))),
        ("a naive time in words", errors.InvalidSetting, lambda facts, known: facts.expire(known, "2030-01-02T10:00:00")),
        ("the end of the calendar", errors.InvalidSetting, lambda facts, known: facts.expire(known, at="9999-12-31")),
        ("a naive minute", errors.InvalidSetting, lambda facts, known: facts.retire(known, ended_at="2026-01-02 10:00")),
        ("a naive beginning", errors.InvalidSetting, lambda facts, _: facts.add("x", "mia", valid_from="2026-01-02T10:00")),
        ("a naive end", errors.InvalidSetting, lambda facts, known: facts.correct(known, valid_to="2026-01-02T10:00:00.5")),
        ("a reason like a book", errors.InvalidSetting, lambda facts, known: facts.retire(known, "a" * 4001)),
        ("an erasure with such a reason", errors.InvalidSetting, lambda facts, known: facts.forget(known, "a" * 4001)),
        ("an unknown type", errors.InvalidSetting, lambda facts, known: facts.correct(known, type="banana")),
        ("an empty subject", errors.InvalidSetting, lambda facts, known: facts.correct(known, subject=" ")),
        ("metadata that is no JSON", errors.InvalidSetting, lambda facts, _: facts.add("x", "mia", metadata={"a": {1}})),
        ("no id at all", errors.InvalidSetting, lambda facts, _: facts.retire([])),
        ("the same words", errors.NothingChanges, lambda facts, known: facts.correct(known, "Likes tea")),
        ("no expiry to take back", errors.NothingChanges, lambda facts, known: facts.expire(known, None)),
        ("approve what nobody proposed", errors.ProposalNotFound, lambda facts, _: facts.approve(999)),
        ("suggest to end an unknown id", errors.FactNotFound, lambda facts, _: facts.suggest("retire", "nobody")),
        ("suggest to correct an unknown id", errors.FactNotFound, lambda facts, _: facts.suggest("correct", "nobody", "x")),
        ("suggest nothing", errors.FactContentInvalid, lambda facts, _: facts.suggest("add", " ", user_id="mia")),
        ("suggest no words", errors.FactContentInvalid, lambda facts, known: facts.suggest("correct", known)),
        ("suggest the same words", errors.NothingChanges, lambda facts, known: facts.suggest("correct", known, "Likes tea")),
        (
            "suggest such dates",
            errors.FactDatesInvalid,
            lambda facts, _: facts.suggest("add", "x", valid_from=at, valid_to="2025"),
        ),
        ("suggest an expiry that is past", errors.FactDatesInvalid, lambda facts, _: facts.suggest("add", "x", expires_at=at)),
        ("suggest what nothing takes", errors.InvalidSetting, lambda facts, _: facts.suggest("add", "x", colour="red")),
        (
            "suggest a date of another",
            errors.InvalidSetting,
            lambda facts, known: facts.suggest("correct", known, "x", valid_to=at),
        ),
        ("preview what nobody does", errors.InvalidSetting, lambda facts, known: facts.preview("erase", known)),
        ("preview the end of nothing", errors.InvalidSetting, lambda facts, _: facts.preview("retire")),
        ("preview an expiry at no time", errors.InvalidSetting, lambda facts, known: facts.preview("expire", known)),
        ("preview the addition of nothing", errors.InvalidSetting, lambda facts, _: facts.preview("add", user_id="mia")),
        (
            "preview with what nothing takes",
            errors.InvalidSetting,
            lambda facts, known: facts.preview("retire", known, at="2030"),
        ),
        ("preview with too much", errors.InvalidSetting, lambda facts, known: facts.preview("forget", known, "please", "now")),
    ]
    return [pytest.param(error, call, id=what) for what, error, call in rows]


@pytest.mark.parametrize(("error", "call"), refusals())
def test_bad_input_is_refused_with_what_to_do_and_nothing_changes(
    memory: Memory, error: type[errors.MemoirError], call: Callable[[Any, str], Any]
) -> None:
    known = memory.facts.add("Likes tea", "mia", valid_from="2025").fact_id or ""
    head, before = memory.audit.head(), memory.facts.list("mia")
    with pytest.raises(error) as refused:
        call(memory.facts, known)
    assert refused.value.code
    assert refused.value.remedy
    assert (memory.audit.head(), memory.facts.list("mia")) == (head, before)


@pytest.mark.parametrize("end", ["9999", "9999-12", "9999-12-31"])
def test_the_end_of_all_dates_is_refused_with_how_to_say_that_there_is_no_end(memory: Memory, end: str) -> None:
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    for call, advice in (
        (lambda: memory.facts.add("Likes figs", "mia", valid_to=end), "Leave valid_to out"),
        (lambda: memory.facts.add("Likes figs", "mia", expires_at=end), "Leave expires_at out"),
        (lambda: memory.facts.expire(known, end), "at=None"),
    ):
        with pytest.raises(errors.InvalidSetting, match="the end of the year 9999 is too far ahead") as refused:
            call()
        assert advice in refused.value.remedy


def test_an_unknown_id_is_refused_with_where_ids_are_found(memory: Memory) -> None:
    with pytest.raises(errors.FactNotFound) as refused:
        memory.facts.get("nobody")
    assert "facts.users()" in refused.value.remedy and "facts.list(user_id)" in refused.value.remedy


@pytest.mark.parametrize("content", [" ", "a" * 1001], ids=["nothing", "too much"])
def test_a_proposal_waits_on_where_the_right_words_are_none(memory: Memory, content: str) -> None:
    memory.facts.add("Lives in Oslo", "mia")
    (asked,) = memory.facts.add("Lives in Paris", "mia").proposals
    (item,) = memory.review.facts("mia", kind="proposal").items
    head, before = memory.audit.head(), memory.facts.list("mia")
    for decide, about in ((memory.facts.approve, asked), (memory.facts.reject, asked), (memory.review.approve, item.key)):
        with pytest.raises(errors.FactContentInvalid):
            decide(about, content=content)  # type: ignore[arg-type]
    assert (memory.audit.head(), memory.facts.list("mia")) == (head, before)
    assert [one.id for one in memory.facts.proposals("mia")] == [asked]


def test_somebody_else_s_fact_answers_like_a_missing_one(memory: Memory) -> None:
    memory.facts.add("Lives in Oslo", "mia")
    (asked,) = memory.facts.add("Lives in Paris", "mia").proposals
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    own = memory.facts.add("Likes tea", "eve").fact_id or ""
    head, before = memory.audit.head(), memory.facts.list("mia")
    eve = memory.acting_as("eve", user="eve", roles=("viewer", "auditor", "admin"))
    calls = (
        lambda: eve.facts.correct(known, "Likes figs"),
        lambda: eve.facts.retire([own, known]),
        lambda: eve.facts.expire([own, known], "2030"),
        lambda: eve.facts.forget([own, known], "please"),
        lambda: eve.facts.suggest("correct", known, "Likes figs"),
        lambda: eve.facts.suggest("retire", known),
    )
    for call in calls:
        with pytest.raises(errors.FactNotFound):
            call()
    for decide in (eve.facts.approve, eve.facts.reject):
        with pytest.raises(errors.ProposalNotFound):
            decide(asked, content="Lives in Rome")
    assert eve.facts.preview("correct", known, "Likes figs").problem == f"there is no fact {known!r}"
    for add in (partial(eve.facts.add, "Likes figs"), partial(eve.facts.suggest, "add", "Likes figs")):
        with pytest.raises(errors.FactsNotYours):
            add(user_id="mia")
    assert (memory.audit.head(), memory.facts.list("mia")) == (head, before)


def test_who_may_only_look_changes_nothing_and_an_auditor_forgets_nothing(memory: Memory) -> None:
    memory.facts.add("Lives in Oslo", "mia")
    (asked,) = memory.facts.add("Lives in Paris", "mia").proposals
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    head, before = memory.audit.head(), memory.facts.list("mia")
    viewer = memory.acting_as("Vi", user="mia")
    auditor = memory.acting_as("Ada", user="mia", roles=("viewer", "auditor"))
    calls = (
        lambda: viewer.facts.correct(known, "Likes figs"),
        lambda: viewer.facts.add("Likes figs"),
        lambda: viewer.facts.retire(known),
        lambda: viewer.facts.expire(known, "2030"),
        lambda: viewer.facts.approve(asked, content="Lives in Rome"),
        lambda: viewer.facts.reject(asked, content="Lives in Rome"),
        lambda: auditor.facts.forget(known, "please"),
        lambda: auditor.people.erase("mia", "please"),
    )
    for call in calls:
        with pytest.raises(errors.NotAllowed):
            call()
    assert (memory.audit.head(), memory.facts.list("mia")) == (head, before)
    assert auditor.facts.correct(known, "Likes figs").actor == "Ada"
