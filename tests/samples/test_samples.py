from __future__ import annotations

import json
from datetime import datetime

from memoir_engine.samples import conversations, documents, questions


def test_the_documents_are_of_several_kinds_in_a_fixed_order():
    names = [sample.name for sample in documents()]
    assert names == sorted(names)
    assert {name.rpartition(".")[2] for name in names} == {"md", "txt", "html", "docx"}
    assert all(sample.data for sample in documents())


def test_the_conversations_have_speakers_and_aware_rising_times():
    talks = [json.loads(sample.data) for sample in conversations()]
    times = [[datetime.fromisoformat(message["ts"]) for message in talk["messages"]] for talk in talks]
    assert len(talks) == 3
    assert all(moments == sorted(moments) and moments[0].tzinfo for moments in times)
    assert {message["role"] for talk in talks for message in talk["messages"]} == {"user", "assistant"}


def test_every_question_says_what_to_look_at():
    assert len(questions()) >= 3
    assert all(question.text.endswith("?") and question.about for question in questions())
