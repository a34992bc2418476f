from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_texts import Golden, prompt_text
from memoir_engine.prompts.classify import NewName, SettleRequest, build_settle, parse_settle, read_settle

TEXTS = st.one_of(st.text(), st.text(alphabet='"\\\n- ›'))
NAMES = st.lists(st.builds(NewName, TEXTS, st.integers(0, 99), st.lists(TEXTS, max_size=2).map(tuple)), max_size=3).map(tuple)
CLOSE = SettleRequest(1, ("Government",), (NewName("Taxes", 3, ("tax", "income")), NewName("Tax policy", 1), NewName("Roads", 2)))
BESIDE = SettleRequest(2, ("Work",), (NewName("Test docs", 1),), (NewName("Documentation", 4, ("page",)),), room=2)


def reply(*pairs: tuple[str, str]) -> dict[str, object]:
    return {"names": [{"name": name, "stands_for_it": other} for name, other in pairs]}


def test_the_prompt_shows_names_with_their_terms(golden: Golden):
    prompt = build_settle(SettleRequest(CLOSE.level, CLOSE.path, CLOSE.names, (NewName("Road works", 9, ("bridge",)),), 2))
    golden("settle-2", prompt_text(prompt))


@given(
    st.builds(
        SettleRequest, st.integers(1, 100), st.lists(TEXTS.filter(bool), max_size=2).map(tuple), NAMES, NAMES, st.integers(0, 10)
    )
)
def test_the_prompt_reads_back_whatever_it_holds(close):
    assert read_settle(build_settle(close).text) == close


def test_every_name_comes_to_the_one_that_stays():
    found = parse_settle(reply(("Taxes", "Taxes"), ("tax policy", "Taxes"), ("Roads", "Roads")), CLOSE)
    assert found == {"Taxes": "Taxes", "Tax policy": "Taxes", "Roads": "Roads"}


def test_a_chain_ends_at_the_name_that_stays():
    found = parse_settle(reply(("Roads", "Tax policy"), ("Tax policy", "Taxes")), CLOSE)
    assert set(found.values()) == {"Taxes"}


def test_a_new_name_may_become_an_existing_one_and_never_the_other_way_round():
    assert parse_settle(reply(("Test docs", "documentation"), ("Documentation", "Test docs")), BESIDE) == {
        "Test docs": "Documentation"
    }


def test_names_sent_in_a_circle_agree_on_one():
    assert set(parse_settle(reply(("Taxes", "Tax policy"), ("Tax policy", "Taxes")), CLOSE).values()) == {"Tax policy", "Roads"}


@pytest.mark.parametrize(
    "data", [None, {}, {"names": [None]}, reply(("Taxes", "Owned"))], ids=["none", "empty", "item", "unknown"]
)
def test_whatever_the_reply_leaves_open_stays_itself(data):
    assert parse_settle(data, CLOSE) == {"Taxes": "Taxes", "Tax policy": "Tax policy", "Roads": "Roads"}
