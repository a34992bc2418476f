from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.text.sentences import split

MARKUP = st.text(alphabet="ab A.!?。#-*|>1=)\n\t \"'")
GAP = re.compile(r"[\s#>*+\-•|=_~:.^'\"`\d()a-z‣◦]*")


def texts(text: str) -> list[str]:
    return [" ".join(sentence.text.split()) for sentence in split(text)]


@given(st.one_of(st.text(), MARKUP))
def test_spans_are_the_text_in_order_and_leave_only_marks_between(text):
    at = 0
    for sentence in split(text):
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
        assert sentence.start >= at and GAP.fullmatch(text[at : sentence.start])
        at = sentence.end
    assert GAP.fullmatch(text[at:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left! Why? So it was.", ["It rained.", "We left!", "Why?", "So it was."]),
        ("Dr. Smith met J. R. Brown. They ate.", ["Dr. Smith met J. R. Brown.", "They ate."]),
        ("The U.S. Army came, e.g. Tom.", ["The U.S. Army came, e.g. Tom."]),
        ("It cost 3.5 euros. See No. 5 for more.", ["It cost 3.5 euros.", "See No. 5 for more."]),
        ("They said no. Ten of them left.", ["They said no.", "Ten of them left."]),
        ('He said "No way!" and left. (It was late.) Then', ['He said "No way!" and left.', "(It was late.)", "Then"]),
        ("It went on\nover lines. And\nended.", ["It went on over lines.", "And ended."]),
        ("東京は晴れ。「明日は雨。」と言った。終わり", ["東京は晴れ。", "「明日は雨。」", "と言った。", "終わり"]),
        ("Well… He went. hm. No", ["Well…", "He went. hm.", "No"]),
        ("", []),
        (" \n\n ", []),
    ],
    ids=[
        "marks",
        "titles",
        "abbreviations",
        "numbers",
        "no as a word",
        "quotes",
        "wrapped",
        "japanese",
        "ellipsis",
        "empty",
        "blank",
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert texts(text) == expected


def test_headings_items_and_rows_stand_alone():
    text = (
        "# The Library\n\nIntro here.\n- first item. Second part.\n- next\n  wrapped\n1. one\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nTitle\n=====\nBody text."
    )
    assert [(sentence.kind, " ".join(sentence.text.split())) for sentence in split(text)] == [
        ("heading", "The Library"),
        ("prose", "Intro here."),
        ("item", "first item."),
        ("item", "Second part."),
        ("item", "next wrapped"),
        ("item", "one"),
        ("heading", "| a | b |"),
        ("row", "| 1 | 2 |"),
        ("heading", "Title"),
        ("prose", "Body text."),
    ]


def test_front_matter_and_named_values_are_no_prose():
    text = (
        "---\ntitle: The Mill\nauthor: Ann\n---\n\nThe mill is old.\n\n"
        "Date: 5 May 2021\nPresent: Ann, Tom\n\nThis is so: it\nends here."
    )
    assert [(sentence.kind, " ".join(sentence.text.split())) for sentence in split(text)] == [
        ("heading", "title: The Mill"),
        ("heading", "author: Ann"),
        ("prose", "The mill is old."),
        ("row", "Date: 5 May 2021"),
        ("row", "Present: Ann, Tom"),
        ("prose", "This is so: it ends here."),
    ]


def test_a_numbered_line_above_a_paragraph_is_a_heading_and_items_of_a_list_are_none():
    minutes = "1. Opening\n\nThe chair opened the meeting.\n\n2. Membership\n\nThere are 612 members."
    assert [(one.kind, one.text) for one in split(minutes)] == [
        ("heading", "Opening"),
        ("prose", "The chair opened the meeting."),
        ("heading", "Membership"),
        ("prose", "There are 612 members."),
    ]
    assert {one.kind for one in split("To bring:\n\n1. A rope\n\n2. A lamp\n\n3. Bread\n\nWe meet at five.")} == {"prose", "item"}
