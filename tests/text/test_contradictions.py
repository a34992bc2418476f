"""Relation of a newer statement to an older one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_offline.rules.contradictions import compare


@pytest.mark.parametrize(
    ("old", "new", "stance"),
    [
        ("Lives in Lyon", "Lives in Berlin now", "update"),
        ("Lives in Lyon with their cat", "Moved to Berlin", "update"),
        ("Works as a cook at the harbour inn", "Works as a baker at the mill", "update"),
        ("Works for Globex", "Works for Initech", "update"),
        ("Favorite colour is blue", "Favorite colour is now green", "update"),
        ("Choir is on Thursdays", "Choir is on Wednesdays from May on", "update"),
        ("Is 41 years old", "Is 42 years old", "update"),
        ("Has two children", "Has three children", "update"),
        ("Is single", "Got married to Jo in June", "update"),
        ("Goes swimming every Monday", "Stopped going swimming", "update"),
        ("Sister lives in Canada", "Sister lives in Spain", "update"),
        ("Ada Lane is employed by Globex", "Ada Lane is employed by Initech", "update"),
        ("Loves olives", "Hates olives", "conflict"),
        ("Eats fish", "Does not eat fish", "conflict"),
        ("Prefers tea over coffee", "Prefers coffee over tea", "conflict"),
        ("Prefers dark mode", "Prefers light mode", "update"),
    ],
)
@pytest.mark.req("TIMEM consolidation.2", "TIMEM consolidation.4")
def test_what_cannot_hold_beside_the_newer_statement_gives_way(old: str, new: str, stance: str) -> None:
    assert compare(old, new).stance == stance


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Loves pizza", "Loves sushi"),
        ("Plays the violin", "Plays the cello"),
        ("Visited Paris in 2019", "Visited Rome in 2021"),
        ("Speaks French", "Speaks Spanish"),
        ("Has a sister in Canada", "Has a brother in Spain"),
        ("Is allergic to peanuts", "Is allergic to milk"),
        ("Is vegetarian", "Is a software engineer"),
        ("Works as a nurse", "Works night shifts on weekends"),
        ("Sister lives in Canada", "Lives in Spain"),
        ("Anna hates olives", "Loves olives"),
        ("Was born in Paris", "Works in Paris"),
        ("Ada Lane is employed by Globex", "Bo Lane is employed by Initech"),
        ("", "Lives in Lyon"),
    ],
)
@pytest.mark.req("TIMEM consolidation.1")
def test_what_may_be_true_together_stands_side_by_side(old: str, new: str) -> None:
    assert compare(old, new).stance == "none"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Berlin", "Used to live in Rome"),
        ("Lives in Berlin", "Lived in Rome as a child"),
        ("Lives in Berlin", "Wants to live in Rome one day"),
        ("Moved to Berlin last month", "Used to live in Rome"),
        ("Works at Globex", "Used to work at Initech"),
        ("Is vegetarian", "Was vegan when they were young"),
        ("Is married to Tom", "Was married to Bob"),
        ("Favorite color is blue", "Favorite color used to be red"),
        ("Drives a Honda", "Drove a Ford in college"),
        ("Lived in Rome for ten years", "Lives in Berlin"),
        ("Used to live in Rome", "Has never lived in Berlin"),
        ("Lives in Berlin", "Does not live in Rome"),
        ("Loves sushi", "Does not love sushi as much as ramen"),
    ],
)
@pytest.mark.req("TIMEM consolidation.1")
def test_what_was_once_is_wished_or_is_another_thing_ends_nothing(old: str, new: str) -> None:
    assert compare(old, new).stance == "none"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Takes 5 mg of ramipril", "Takes 10 mg of statin"),
        ("Paid 20 euros for the shirt", "Paid 50 euros for the shoes"),
        ("Sister Eva works at BMW", "Sister Lisa works at Bosch"),
    ],
)
@pytest.mark.req("TIMEM consolidation.1")
def test_a_number_of_another_thing_or_a_namesake_of_another_name_ends_nothing(old: str, new: str) -> None:
    assert compare(old, new).stance == "none"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Berlin", "Used to live in Berlin"),
        ("Works as a nurse at the county hospital", "Used to be a nurse at the hospital"),
        ("Works at Globex", "Quit Globex"),
        ("Works at Globex", "No longer works at Globex"),
        ("Takes 5 mg of ramipril", "Takes 10 mg of ramipril"),
        ("Wakes up at 6 am", "Wakes up at 7:30 am"),
    ],
)
@pytest.mark.req("TIMEM consolidation.2")
def test_the_end_or_another_number_of_the_very_thing_ends_it(old: str, new: str) -> None:
    assert compare(old, new).stance == "update"


def test_what_was_so_already_is_only_said_again() -> None:
    assert compare("William Grey worked in Boston", "William Grey used to work in Boston").stance == "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Boston", "Resides in Boston"),
        ("Loves hiking", "Really enjoys hiking"),
        ("Owns two cats, Luna and Milo", "Has two cats named Milo and Luna"),
        ("Plans to visit Japan in May", "Is planning a trip to Japan in May"),
        ("Does not eat meat", "Is vegetarian"),
        ("Ada Lane works as a painter", "Ada Lane's occupation is painter"),
    ],
)
def test_the_same_in_other_words_is_said_again(old: str, new: str) -> None:
    assert compare(old, new).stance == "duplicate"


@pytest.mark.req("TIMEM consolidation.3")
def test_all_of_the_old_words_and_more_are_fuller() -> None:
    assert compare("Lives in Boston", "Lives in an apartment in Boston near the river").stance == "complementary"


def test_another_home_without_a_name_or_a_mark_of_change_is_not_sure() -> None:
    found = compare("Lives in a flat by the station", "Lives in the cottage at the dam")

    assert (found.stance, found.sure) == ("update", False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Was founded in Lyon", "Was founded in Ghent"),
        ("Is a native speaker of Greek", "Is a native speaker of Dutch"),
        ("Died in Lyon", "Passed away in Ghent"),
        ("Works for Globex as an engineer", "Joined Initech as an engineer"),
        ("Doctor is Dr. Kim", "New doctor is Dr. Lee"),
    ],
)
def test_there_is_one_of_it(old: str, new: str) -> None:
    assert compare(old, new).stance == "update"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Was founded in Lyon", "Was released in Ghent"),
        ("Doctor is Dr. Kim", "Former doctor is Dr. Lee"),
        ("Is a teacher", "Is a member of the union"),
        ("Works at Globex", "Joined the choir as a singer"),
        ("Plays chess with Kim on Mondays", "Plays chess with Lee on Fridays"),
        ("Parents live in Lyon", "Has moved to Ghent"),
        ("Lives in Lyon", "Lives in the moment"),
        ("Lives in Lyon", "Moved to the Sales department"),
        ("Lives in Lyon during the week", "Lives in Ghent on weekends"),
        ("Works as a nurse", "Works as a singer at night"),
        ("Boss is Kim", "Old boss is Lee"),
        ("Has a daughter", "Has another daughter"),
    ],
)
def test_there_may_be_another_beside_it(old: str, new: str) -> None:
    assert compare(old, new).stance == "none"


def test_a_text_without_sense_is_compared_in_little_time() -> None:
    for odd in ("a@" * 500, "Works and works at " * 50, "moved from " * 90, "a" + " " * 990 + "b", "A " * 500):
        assert compare(odd, f"{odd} x").stance in ("duplicate", "complementary", "none", "update")


@pytest.mark.req("TIMEM consolidation.1")
def test_what_says_something_else_as_well_does_not_go_unasked() -> None:
    found = compare("Lives in Berlin and works at Google", "Moved to Paris")

    assert (found.stance, found.sure) == ("update", False)
    assert compare("Lives in Berlin and works at Google", "Moved to Paris and works at Meta now").sure
    assert compare("Lives in Berlin and works at Google", "Works at Google").stance == "duplicate"


@pytest.mark.parametrize(
    ("old", "new", "sure"),
    [
        ("Lives in Boston", "Lives in Massachusetts", False),
        ("Lives in Boston", "Moved to Canada", True),
        ("Lives in Canada", "Lives in Spain", True),
        ("Is vegan", "Is vegetarian", False),
        ("Is vegan", "Is vegetarian now", True),
        ("Works at a bank", "Works at a school", False),
        ("Brother Tom lives in Oslo", "Brother moved to Bergen", False),
    ],
)
def test_what_may_hold_beside_the_other_is_not_sure(old: str, new: str, sure: bool) -> None:
    assert (compare(old, new).stance, compare(old, new).sure) == ("update", sure)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_have_an_answer_and_the_same_one_twice(old: str, new: str) -> None:
    assert compare(old, new) == compare(old, new)
    assert compare(old, old).stance in ("duplicate", "none")
