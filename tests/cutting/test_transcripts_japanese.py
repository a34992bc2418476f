"""Japanese transcripts: who is the assistant, times in kanji, and what LINE exports."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoir_engine.conversations.formats import read
from memoir_engine.text.transcripts import read_transcript, utterances

LINE = """[LINE] 田中さんとのトーク履歴
保存日時：2024/05/14 09:00

2024/05/13(月)
10:30\t田中\tおはよう
10:31\t美咲\t"おはよう！
今日は休みです"
10:32\t田中がメッセージの送信を取り消しました

2024/05/14(火)
午後3:05\t田中\t了解です
"""


@pytest.mark.parametrize("name", ["アシスタント", "ボット", "ＡＩ", "AIアシスタント", "チャットGPT", "KI", "Assistent"])
def test_the_assistants_words_are_not_the_persons(name: str) -> None:
    told = read_transcript(f"美咲: 京都に住んでいます\n{name}: 私は東京に住んでいます")
    assert [one.role for one in told] == ["user", "assistant"]


def test_times_may_be_written_in_kanji() -> None:
    told = read_transcript("2024年5月13日 10:30 美咲: おはよう\n2024年5月13日(月) 午後3:05 アシスタント：こんにちは")
    assert [one.at for one in told] == [datetime(2024, 5, 13, 10, 30, tzinfo=UTC), datetime(2024, 5, 13, 15, 5, tzinfo=UTC)]
    assert [one.text for one in told] == ["おはよう", "こんにちは"]


def test_what_line_exports_is_read_with_its_days() -> None:
    told = read_transcript(LINE)
    assert [(one.role, one.name, one.text) for one in told[1:]] == [
        ("user", "田中", "おはよう"),
        ("user", "美咲", "おはよう！\n今日は休みです"),
        ("system", None, "田中がメッセージの送信を取り消しました"),
        ("user", "田中", "了解です"),
    ]
    assert told[-1].at == datetime(2024, 5, 14, 15, 5, tzinfo=UTC)
    assert told[0].role == "system" and "トーク履歴" in told[0].text
    imported = read(LINE)
    assert imported.format == "transcript" and not imported.refused


def test_roles_of_records_may_be_japanese() -> None:
    told = utterances([{"role": "ユーザー", "content": "京都です"}, {"role": "アシスタント", "content": "承知しました"}])
    assert [one.is_person for one in told] == [True, False]
