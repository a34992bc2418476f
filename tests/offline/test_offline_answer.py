from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoir_engine.prompts.answer import NOT_ANSWERED, NumberedChunk, Reply, build, citations, number_chunks
from memoir_engine.text.spans import claims
from memoir_offline import answer

LIBRARY = "# Opening\n\nThe library opens at nine on weekdays. It closes at five. Dogs are not allowed [3]."
MONEY = "The budget for 2024 was 12,000 euros. The treasurer is Ann. Is the budget too small?"
CHUNKS = number_chunks(
    [
        NumberedChunk(0, ("Places", "Library"), LIBRARY),
        NumberedChunk(0, ("Money",), MONEY),
        NumberedChunk(0, ("東京",), "会議は東京で行われた。雨が降った。"),
    ]
)


def replied(question: str, chunks=CHUNKS) -> Reply:
    return Reply.model_validate(answer.answer(build(question, chunks).text, Reply.model_json_schema()))


def answered(question: str, chunks=CHUNKS) -> str:
    return replied(question, chunks).answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the treasurer?", "The treasurer is Ann. [2]"),
        ("What was the budget for 2024?", "The budget for 2024 was 12,000 euros. [2]"),
        ("Are dogs allowed?", "Dogs are not allowed (3). [1]"),
        ("会議はどこで行われた", "会議は東京で行われた。 [3]"),
    ],
    ids=["who", "number", "a note's number is no citation", "japanese"],
)
def test_a_question_is_answered_by_the_sentence_that_shares_its_words(question, expected):
    assert answered(question) == expected


RELEASES = """\
Python is released once a year. Version 3.9 had its first alpha in November 2019, and 10 more releases before the last.

| Version | First released | End of support |
| --- | --- | --- |
| 3.9 | 2020-10-05 | 2025-10 |
| 3.10 | 2021-10-04 | 2026-10 |
| 3.11 | 2022-10-24 | 2027-10-03 |
"""


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("When was 3.10 released?", "| 3.10 | 2021-10-04 | 2026-10 | [1]"),
        ("When was version 3.11 first released?", "| 3.11 | 2022-10-24 | 2027-10-03 | [1]"),
        ("What is the end of support of 3.9?", "| 3.9 | 2020-10-05 | 2025-10 | [1]"),
    ],
)
def test_a_question_about_a_table_is_answered_by_the_row_it_asks_for(question, row):
    assert answered(question, number_chunks([NumberedChunk(0, ("Releases",), RELEASES)])).startswith(row)


def test_a_question_over_two_chunks_draws_from_both():
    answer = answered("When does the library open, and what was the budget?")
    assert sorted(citations(answer, 3)) == [1, 2]


@pytest.mark.parametrize(
    "question", ["What colour are zebras?", "What is it?", "?"], ids=["other words", "function words", "none"]
)
def test_nothing_in_common_is_said_plainly_and_cites_nothing(question):
    assert answered(question) == NOT_ANSWERED
    assert citations(NOT_ANSWERED, 3) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who is the treasurer?", (True, "The treasurer is Ann. [2]")),
        ("What is the capital of Peru near the library's northern lakes?", (False, "The chunks read do not answer this.")),
        ("Wie hoch ist der Eiffelturm?", (False, "Die gelesenen Stellen beantworten das nicht.")),
        ("富士山の高さは?", (False, "読んだ箇所には、この質問の答えがありません。")),
        ("Quand part le bateau pour Calais ?", (False, "Les passages lus n'y répondent pas.")),
        ("Who sailed to El Puerto de la Cruz?", (False, "The chunks read do not answer this.")),
    ],
    ids=["answered", "a word in common", "german", "japanese", "french", "names of another language"],
)
def test_it_says_whether_it_answers_in_the_language_of_the_question(question, said):
    reply = replied(question)
    assert (reply.answered, reply.answer) == said


def test_without_chunks_it_says_so():
    assert answered("Who is the treasurer?", ()) == NOT_ANSWERED


@given(
    st.lists(
        st.sampled_from(["Ann opens the library.", "The budget grew!", "Why?\n\n", "- an item\n", '"""', "[2]"]), max_size=6
    ),
    st.text(),
)
def test_every_statement_stands_in_the_chunk_it_cites(pieces, question):
    texts = {"A": " ".join(pieces), "B": "The library budget grew. Ann opens it."}
    chunks = number_chunks(NumberedChunk(0, (name,), text) for name, text in texts.items())
    assume(replied(f"library budget Ann {question}", chunks).answered)
    answer = answered(f"library budget Ann {question}", chunks)
    flat = [" ".join(chunk.text.replace("[2]", "(2)").split()) for chunk in chunks]
    assert all(number for claim in claims(answer, 2) for number in claim.numbers)
    assert all(claim.text in flat[number - 1] for claim in claims(answer, 2) for number in claim.numbers)
    assert len(citations(answer, 2)) >= 1


@pytest.mark.parametrize(
    ("question", "texts", "answer"),
    [
        (
            "りんごはどこで買いましたか",
            ("りんごは青森の市場で手に入れた。みかんはどこで売りましたか、と母が聞いた。",),
            "りんごは青森の市場で手に入れた。",
        ),
        (
            "駅前の図書館はいつ開きますか",
            ("いつ開きますかとは、だれも聞きませんでした。", "図書館は九時に開く。"),
            "図書館は九時に開く。",
        ),
    ],
    ids=["a sentence of function words", "another chunk of them"],
)
def test_japanese_function_words_choose_no_sentence(question: str, texts: tuple[str, ...], answer: str) -> None:
    chunks = number_chunks(NumberedChunk(0, (), text) for text in texts)
    assert answered(question, chunks).startswith(answer)
