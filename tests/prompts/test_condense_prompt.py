"""The prompt that shortens chunks: the exact blocks of MEMOIR 9.B3.5, with each requested id judged once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_texts import Golden, prompt_text
from memoir_engine.prompts.condense import CondenseChunk, Part, Summaries, build, chunk_text, parse, read

TEXTS = st.one_of(st.text(), st.text(alphabet='"\\\n '), st.just('"""\nChunk 9 (original_chars=1, target_chars=1):\n"""\nx'))
PIECES = st.lists(st.builds(CondenseChunk, st.integers(1, 9999), TEXTS, st.integers(1, 9999)), min_size=1, max_size=3).map(tuple)


def reply(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"summaries": [{"chunk_id": number, "summary": summary} for number, summary in pairs]}


@pytest.mark.req("MEMOIR 9.B3.5", "MEMOIR 9.8.4")
def test_the_prompt_lists_each_chunk_in_the_specified_block_and_asks_in_the_specified_words(golden: Golden):
    pieces = CondenseChunk(7, "Taxes rose by 3 % in 1997.", 12), CondenseChunk(12, 'He said """stop""".', 9)
    prompt = build(Part(pieces, strict=True, question="When did taxes rise?"))
    golden("condense-2", prompt_text(prompt))
    assert (prompt.purpose, prompt.per_item, prompt.schema) == ("condense", True, Summaries)


@pytest.mark.req("MEMOIR 9.B3.5")
def test_a_block_is_head_and_text_between_quote_lines():
    assert (
        chunk_text(CondenseChunk(7, "Taxes rose.", 5)) == 'Chunk 7 (original_chars=11, target_chars=5):\n"""\nTaxes rose.\n"""\n'
    )


@pytest.mark.req("MEMOIR 9.B3.6")
def test_only_a_part_that_is_asked_again_has_the_stricter_instruction():
    pieces = (CondenseChunk(1, "one", 2),)
    stricter = "`target_chars` is a hard limit"
    assert stricter not in build(Part(pieces)).text
    assert stricter in build(Part(pieces, strict=True)).text


@given(PIECES, st.booleans(), TEXTS)
def test_whatever_a_text_says_the_part_can_be_read_back(pieces: tuple[CondenseChunk, ...], strict: bool, question: str):
    part = Part(pieces, strict, question)
    assert read(build(part).text) == part


@pytest.mark.req("MEMOIR 9.B3.6", "MEMOIR 9.8.5")
def test_each_asked_id_is_good_long_or_missing():
    part = Part(tuple(CondenseChunk(number, "a text of some length", 4) for number in (1, 2, 3, 4, 5)))
    parsed = parse(reply((1, "four"), (2, "fives"), (3, "one"), (3, "two"), (4, "  "), (99, "unasked"), ("5", "text id")), part)
    assert (parsed.good, parsed.long, parsed.missing) == ({1: "four"}, {2: "fives"}, (3, 4, 5))


@pytest.mark.parametrize("data", [None, [], {}, {"summaries": "no"}, {"summaries": ["x", None, {"chunk_id": 1}]}], ids=repr)
def test_a_reply_of_another_shape_leaves_every_id_missing(data: object):
    assert parse(data, Part((CondenseChunk(1, "one", 2), CondenseChunk(2, "two", 2)))).missing == (1, 2)
