"""Names with control characters: a file is called as it reads, and nobody is called what cannot be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoir_engine import InvalidSetting, Memory

TEXT = "Bed 4 is watered from the barrel by the shed. " * 30


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("\u202egpj.exe.txt", "[U+202E]gpj.exe.txt"),
        ("a\x1b[31mred.txt", "a\u241b[31mred.txt"),
        ("a\nb\tc.txt", "a\u240ab\tc.txt"),
        ("\x7f\x9b.txt", "\u2421[U+009B].txt"),
        ("b\u2028c\ufeff.txt", "b[U+2028]c[U+FEFF].txt"),
        ("\u0642\u0627\u0626\u0645\u0629\u200c.txt", "\u0642\u0627\u0626\u0645\u0629\u200c.txt"),
        ("\u65e5\u672c\u8a9e.txt", "\u65e5\u672c\u8a9e.txt"),
    ],
)
def test_a_control_character_in_a_name_is_shown_as_a_mark(tmp_path: Path, name: str, kept: str):
    with Memory(data_dir=tmp_path, model="offline") as memory:
        for made in (memory.ingest_text(TEXT, name=name), memory.ingest_file(TEXT.encode() + b"!", name=name)):
            assert memory.sources.get(made.raise_for_error().source_id or 0).name == kept


def test_a_text_keeps_its_characters_and_its_spans(tmp_path: Path):
    text = "The harvest \u202ebegins\u202c in May. " * 30
    with Memory(data_dir=tmp_path, model="offline") as memory:
        source = memory.ingest_text(text, name="harvest.txt").raise_for_error().source_id or 0
        assert memory.sources.text(source) == text


@pytest.mark.parametrize("name", ["mia\u202e", "m\x1bia", "mia\n", "\u200bmia"])
def test_nobody_is_called_what_cannot_be_seen(tmp_path: Path, name: str):
    with Memory(data_dir=tmp_path, model="offline") as memory:
        for call in (lambda: memory.acting_as(name), lambda: memory.facts.add("Likes tea", name)):
            with pytest.raises(InvalidSetting, match="cannot be seen"):
                call()
