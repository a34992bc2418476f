"""Conversations as people paste them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memoir_engine.errors import FormatUnknown, MessageRefused
from memoir_engine.text.transcripts import read_transcript
from memoir_engine.text.turns import Utterance


def test_lines_with_names_become_messages_and_lines_without_go_on_with_the_one_before():
    text = "Ana: The roof leaks.\nSince Monday.\n\nAssistant: Call a roofer.\n**Ana:** Which one?"
    assert [(one.role, one.name, one.text) for one in read_transcript(text)] == [
        ("user", "Ana", "The roof leaks.\nSince Monday."),
        ("assistant", "Assistant", "Call a roofer."),
        ("user", "Ana", "Which one?"),
    ]


def test_times_before_the_names_are_read_in_the_zone_given():
    text = "[2026-03-02 09:10] Ana: Hello.\n2026-03-02T09:12:30+01:00 - Bot: Hello, Ana.\n(2026-99-02 09:10) Ana: Bye."
    made = read_transcript(text, zone=ZoneInfo("Europe/Berlin"))
    assert [one.at for one in made] == [
        datetime(2026, 3, 2, 8, 10, tzinfo=UTC),
        datetime(2026, 3, 2, 9, 12, 30, tzinfo=timezone(timedelta(hours=1))),
        None,
    ]


@pytest.mark.parametrize("wrap", [lambda messages: messages, lambda messages: {"session_id": "s", "messages": messages}])
def test_json_messages_are_read_with_their_times(wrap):
    data = wrap([{"role": "user", "content": "Hello", "ts": "2026-03-02T09:00:00+00:00", "id": "a"}])
    assert read_transcript(json.dumps(data)) == [Utterance("a", "user", "Hello", datetime(2026, 3, 2, 9, tzinfo=UTC))]


def test_a_bracket_alone_makes_no_json():
    assert [one.text for one in read_transcript("[2026-03-02 09:10] Ana: Hi\n[later] she said\nBo: Hi")] == [
        "Hi\n[later] she said",
        "Hi",
    ]


@pytest.mark.parametrize("text", ["", "Just a text.", "Note: one line only", '{"a": 1}', "12:30 it rained"])
def test_what_is_no_conversation_is_refused_with_the_forms_there_are(text):
    with pytest.raises(FormatUnknown) as refused:
        read_transcript(text)
    assert "a transcript with lines like 'Name: text'" in refused.value.remedy


def test_a_time_without_a_zone_in_json_is_refused():
    with pytest.raises(
        MessageRefused, match=r"messages.0. is no message: its time '2026-03-02T09:00:00' is none, or has no zone"
    ):
        read_transcript('[{"role": "user", "content": "Hello", "ts": "2026-03-02T09:00:00"}]')


@pytest.mark.req("CHUNK 2.1")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("田中：こんにちは。お元気ですか。\n鈴木：はい、元気です。\n田中：よかった。", ["田中", "鈴木", "田中"]),
        ("小明：你好！\n小红：你好，最近怎么样？", ["小明", "小红"]),
    ],
)
def test_a_full_width_colon_needs_no_blank_behind_it(text: str, names: list[str]) -> None:
    assert [one.name for one in read_transcript(text)] == names
