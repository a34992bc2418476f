from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_texts import Golden, prompt_text
from memoir_engine.prompts import answer
from memoir_engine.prompts.answer import (
    INSTRUCTIONS,
    AnswerRequest,
    NumberedChunk,
    Reply,
    SourceHelper,
    build,
    chunk_text,
    citations,
    fixed_text,
    number_chunks,
    read,
)

TEXTS = st.one_of(st.text(), st.text(alphabet='"\\\n[]1 '), st.just('"""\n\nChunks:\n\n[1] Art\n"""\n'))
PATHS = st.lists(st.text(min_size=1), max_size=3).map(tuple)
CHUNKS = st.builds(NumberedChunk, st.just(0), PATHS, TEXTS, TEXTS, st.one_of(st.none(), TEXTS), st.booleans())


@pytest.mark.req("MEMOIR 9.F")
def test_the_prompt_and_what_the_model_may_return_stand_as_agreed(golden: Golden):
    prompt = build(
        "What did the roof cost?",
        number_chunks(
            [
                NumberedChunk(0, ("Energy", "Solar"), "The roof cost 61,500 euros.", "roof.md", "2024-05-17"),
                NumberedChunk(0, ("Events",), 'She said """ and left.', 'Minutes "May"', by_words=True),
            ]
        ),
        helpers=[SourceHelper("roof.md", "Author: Paul. Topic: solar roof.")],
    )
    golden("answer-3", prompt_text(prompt))
    assert list(prompt.schema.model_fields) == ["answer", "answered"]


@given(TEXTS, st.lists(st.builds(SourceHelper, TEXTS, TEXTS), max_size=3), st.lists(CHUNKS, max_size=4))
def test_the_prompt_reads_back_whatever_it_holds(question, helpers, chunks):
    numbered = number_chunks(chunks)
    assert read(build(question, numbered, helpers=helpers).text) == AnswerRequest(question, tuple(helpers), numbered)


@pytest.mark.parametrize("text", ["", "Chunks:\n\nQuestion:\nno frame", "Chunks:\n\n"], ids=["empty", "unframed", "cut"])
def test_another_text_is_refused(text):
    with pytest.raises(ValueError):
        read(text)


@pytest.mark.req("MEMOIR 9.B1")
def test_fixed_text_and_chunks_together_are_all_that_is_sent():
    chunks = number_chunks([NumberedChunk(0, ("Art",), "a painting"), NumberedChunk(0, ("Music",), "a sonata")])
    helpers = [SourceHelper("a.md", "Author: Ann.")]
    prompt = build("What is there?", chunks, helpers=helpers)
    sent = prompt.instructions + prompt.text
    assert sent.replace("".join(map(chunk_text, chunks)), "") == fixed_text("What is there?", helpers=helpers)
    assert "a painting" not in fixed_text("What is there?", helpers=helpers)


def test_no_helper_leaves_no_empty_field():
    assert "contextual_helper" not in build("Why?", ()).text


def test_a_chunk_tells_its_number_its_source_the_date_and_where_it_is_filed():
    chunk = NumberedChunk(1, ("Art", "Oil"), "a painting", "list.md", "2024")
    assert chunk_text(chunk) == '[1] "list.md" date=2024 filed="Art › Oil"\n"""\na painting\n"""\n\n'


@pytest.mark.parametrize(
    ("reply", "answered"),
    [
        ({"answer": "Nine. [1]", "answered": True}, True),
        ({"answer": "Darüber steht hier nichts.", "answered": False}, False),
        ({"answer": "Nine. [1]", "answered": "true"}, True),
        ({"answer": "Nine. [1]"}, True),
        ({"answer": "The chunks read do not answer this."}, False),
        ({"answer": "Nine. [1]", "answered": None}, True),
    ],
    ids=["yes", "no", "as a text", "not said", "as it was said before", "null"],
)
def test_a_reply_says_whether_it_answers(reply, answered):
    assert Reply.model_validate(reply).answered is answered


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It opens at nine [2]. It closes at five [1][2].", [2, 1]),
        ("Both say so [1, 3].", [1, 3]),
        ("All of them [2-4].", [2, 3, 4]),
        ("Japanese 【3】 brackets.", [3]),
        ("Out of range [0] [9] [99999].", []),
        ("From one to beyond [3–900000].", [3, 4]),
        ("No numbers [a] [] (1) 2].", []),
    ],
    ids=["in order of use", "list", "range", "full width", "out of range", "endless range", "none"],
)
def test_citations_are_the_valid_numbers_in_order_of_first_use(text, numbers):
    assert citations(text, 4) == numbers


def test_a_helper_cut_short_keeps_title_author_and_date():
    assert answer.short_helper("The Mill", None, "2019") == "Title: The Mill. Date: 2019."
    assert answer.short_helper(None, None, None) == ""


def test_the_instructions_ask_for_citations_and_forbid_other_knowledge():
    assert "square brackets" in INSTRUCTIONS and "nothing else" in INSTRUCTIONS
    assert Reply(answer="x", answered=True).model_dump() == {"answer": "x", "answered": True}
