from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoir_engine.prompts.frames import FENCE, block, escape, line, path_line, read_block, read_line, read_path_line, unescape

NEAR_FENCES = st.text(alphabet='"\\\na ')
HOSTILE = st.one_of(st.text(), NEAR_FENCES)


@given(HOSTILE)
@example('"""""')
@example('""\\"')
@example('"""\\"')
@example('\\"""\\\\"""')
def test_escaping_is_undone_and_leaves_no_fence(text):
    assert unescape(escape(text)) == text
    assert FENCE not in escape(text)


@pytest.mark.parametrize(
    "text", ['He said "no".', 'a \\path\\ and ""', "line\n\nline\r\n"], ids=["quotes", "backslashes", "breaks"]
)
def test_a_text_without_three_quotes_is_written_as_it_is(text):
    assert escape(text) == text


@given(HOSTILE, HOSTILE)
def test_blocks_read_back_one_after_the_other(first, second):
    text = f"{block(first)}\n{block(second)}"
    content, end = read_block(text, 0)
    assert (content, read_block(text, end + 1)) == (first, (second, len(text)))


@pytest.mark.parametrize("text", ["", "words", '"""\nopen', '"""x\n"""'], ids=["empty", "no frame", "unclosed", "no break"])
def test_what_is_no_frame_is_refused(text):
    with pytest.raises(ValueError):
        read_block(text, 0)


@given(st.text())
def test_a_line_is_one_line_and_reads_back(text):
    assert read_line(line(text)) == text
    assert "\n" not in line(text)


@given(st.lists(st.text(min_size=1), max_size=4).map(tuple))
@example(("a › b", "c"))
@example((" ", "\n", '"'))
def test_a_path_reads_back_whatever_its_names_are(path):
    assert read_path_line(path_line(path)) == path
    assert "\n" not in path_line(path)


def test_a_path_stands_as_people_write_it():
    assert path_line(("Legal", "Budget 2024")) == "Legal › Budget 2024"
