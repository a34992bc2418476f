"""Conversations as people paste them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memoir_engine.core.errors import FormatUnknown, MessageRefused
from memoir_engine.text.transcripts import Utterance, read_transcript


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
        MessageRefused,
        match=r"messages.0. is not a valid message: its time '2026-03-02T09:00:00' is not a valid timestamp, or has no zone",
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


UNCLEAR = "whether 5/4/2024 is of 5 April or 4 May"


@pytest.mark.req("CHUNK 2.1")
@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("[13/05/2024, 10:30:15] Mia: Hi\n[14/05/2024, 10:31] Bo: Hello", [(5, 13), (5, 14)]),
        ("5/13/24, 9:05\u202fPM - Mia: Hi\n5/14/24, 9:06\u202fPM - Bo: Hello", [(5, 13), (5, 14)]),
        ("05.04.24, 10:30 - Mia: Hi\n06.04.24, 10:31 - Bo: Hello", [(4, 5), (4, 6)]),
        ("5/4/24, 9:05 PM - Mia: Hi\n5/6/24, 9:06 PM - Bo: Hello", [(5, 4), (5, 6)]),
        ("[1/4/2024, 10:30] Mia: Hi\n[2/3/2024, 10:31] Bo: Hello", [(1, 4), (2, 3)]),
        ("2024/05/04, 10:30 - Mia: Hi\n2024/05/05, 10:31 - Bo: Hello", [(5, 4), (5, 5)]),
        ("\u200e[5/5/2024, 10:30] Mia: Hi\n\u200e[5/5/2024, 10:31] Bo: Hello", [(5, 5), (5, 5)]),
    ],
)
def test_times_of_messengers_are_read_in_the_order_that_the_lines_tell(text: str, days: list[tuple[int, int]]) -> None:
    made = read_transcript(text)

    assert [(one.name, one.text) for one in made] == [("Mia", "Hi"), ("Bo", "Hello")]
    assert [one.at and (one.at.month, one.at.day) for one in made] == days


def test_the_hour_is_read_with_its_half_of_the_day() -> None:
    made = read_transcript("5/13/24, 12:05 AM - Mia: Hi\n5/13/24, 9:06 p.m. - Bo: Hello")

    assert [one.at for one in made] == [datetime(2024, 5, 13, 0, 5, tzinfo=UTC), datetime(2024, 5, 13, 21, 6, tzinfo=UTC)]


def test_a_day_that_could_be_a_month_is_left_out_and_that_is_said() -> None:
    with pytest.warns(UserWarning, match=UNCLEAR):
        made = read_transcript("[5/4/2024, 10:30] Mia: Hi\n[6/4/2024, 10:31] Bo: Hello")

    assert [(one.name, one.at) for one in made] == [("Mia", None), ("Bo", None)]


@pytest.mark.parametrize(("zone", "month"), [("Europe/Berlin", 4), ("America/New_York", 5), ("Asia/Tokyo", 4)])
def test_where_no_line_tells_the_country_does_whose_time_it_is(zone: str, month: int) -> None:
    made = read_transcript("[5/4/2024, 10:30] Mia: Hi\n[6/4/2024, 10:31] Bo: Hello", zone=ZoneInfo(zone))

    assert made[0].at and made[0].at.month == month


def test_a_time_of_day_alone_stands_before_a_name_and_is_no_time() -> None:
    made = read_transcript("10:30 Mia: I live in Rome.\n[10:31] Bo: Since when?\n10:32 AM Mia: 2019")

    assert [(one.name, one.text, one.at) for one in made] == [
        ("Mia", "I live in Rome.", None),
        ("Bo", "Since when?", None),
        ("Mia", "2019", None),
    ]


def test_a_notice_of_the_messenger_is_nobodys_word() -> None:
    made = read_transcript("13/05/24, 10:29 - Messages are encrypted.\n13/05/24, 10:30 - Mia: Hi\n13/05/24, 10:31 - Bo left")

    assert [(one.role, one.name, one.text) for one in made] == [
        ("system", None, "Messages are encrypted."),
        ("user", "Mia", "Hi"),
        ("system", None, "Bo left"),
    ]
