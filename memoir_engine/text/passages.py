"""Cut texts and conversations into passages of fixed length, for search.

A passage is 512 characters and shares 32 with the next (MEMOLLA F-02-02). A cut that would part a letter from its accent, an
emoji from its parts or one half of a surrogate pair from the other moves back before the whole sign.
Invariant: a passage is `text[start:end]`; together they cover every sign of the text that is not blank; appending to a
conversation changes its last passage only. Pure; time is linear in the text.
Source: MEMOLLA F-02-02, spec README 3; verified/offline-model.md §2.1–2.2 (for conversations: speaker, date and the turn before
are searched too).
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

PASSAGE_CHARS = 512
OVERLAP_CHARS = 32
TURN_BEFORE_CHARS = 200  # of the turn before: its end, which is what an answer answers
LONGEST_RUN = 2048  # flags in a row; beyond, which letters belong together is a guess
LONGEST_SIGN = 32  # characters; a heap of accents longer than that is cut all the same

_MONTHS = "January February March April May June July August September October November December".split()
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class TextPassage:
    """`text` is the source's own from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One message. `at` in the zone that defines its day; None if not known."""

    speaker: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConversationPassage:
    """A passage of a conversation, from `start` in the message number `first` to `end` in the message number `last`.

    text: the messages' text in that span, empty ones left out. indexed: the searched text, with speakers,
    days and the turn before.
    """

    first: int
    start: int
    last: int
    end: int
    text: str
    indexed: str


def split_passages(text: str) -> list[TextPassage]:
    """Split a text into passages, in order; blank ones are left out."""
    return [TextPassage(start, end, text[start:end]) for start, end in windows(text) if text[start:end].strip()]


def split_conversation(turns: Sequence[SpokenTurn]) -> list[ConversationPassage]:
    """Split consecutive messages, joined by line breaks, into passages; each day begins a new one."""
    passages: list[ConversationPassage] = []
    for first, behind in pairwise([*day_starts(turns), len(turns)]):
        texts = [turn.text for turn in turns[first:behind]]
        begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for passage in split_passages("\n".join(texts)):
            # messages without any of its text, and line breaks, belong to no span
            parts = [(first + number, start, end) for number, start, end in _parts(begins, passage) if start < end]
            text = "\n".join(turns[number].text[start:end] for number, start, end in parts)
            start, end = parts[0][1], parts[-1][2]
            passages.append(ConversationPassage(parts[0][0], start, parts[-1][0], end, text, _indexed(turns, parts)))
    return passages


def passage_text(before: SpokenTurn | None, turns: Sequence[SpokenTurn], start: int, end: int) -> tuple[str, str]:
    """Return text and indexed text of a known span: from `start` in the first turn to `end` in the last."""
    shown = [*([before] if before else []), *turns]
    first = len(shown) - len(turns)
    spans = [(first + i, start if i == 0 else 0, end if i == len(turns) - 1 else len(turn.text)) for i, turn in enumerate(turns)]
    parts = [part for part in spans if part[1] < part[2]]
    return "\n".join(shown[number].text[begin:behind] for number, begin, behind in parts), _indexed(shown, parts) if parts else ""


def day_starts(turns: Sequence[SpokenTurn]) -> list[int]:
    """Return the first turn of each day; a turn without a time belongs to the day before."""
    starts, day = [0] if turns else [], None
    for number, turn in enumerate(turns):
        if turn.at is None:
            continue
        if day not in (None, turn.at.date()):
            starts.append(number)
        day = turn.at.date()
    return starts


def windows(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of all passages of a text, blank ones too."""
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(start + PASSAGE_CHARS, len(text))
        end = _whole(text, end)
        spans.append((start, end))
        if end == len(text):
            break
        start = _whole(text, end - OVERLAP_CHARS)
    return spans


def _whole(text: str, at: int) -> int:
    """Return the nearest place at or before `at` that parts no sign; `at` itself, or one before it, if none is near."""
    for place in range(at, max(at - LONGEST_SIGN, 0), -1):
        if not _parts_a_sign(text, place):
            return place
    return at - 1 if _is_pair(text, at) else at


def _parts_a_sign(text: str, at: int) -> bool:
    """Return True if a cut before `at` parts a letter from its accent, an emoji or a flag, or a surrogate pair."""
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    return (
        _is_pair(text, at)
        or after == _JOINER
        or before == _JOINER
        or unicodedata.category(after) in ("Mn", "Mc", "Me")  # accents, vowel signs, variation selectors
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of regional flags
        or ("\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff")  # Korean letters of one syllable, one by one
        or _joins_flag(text, at)
    )


def _is_pair(text: str, at: int) -> bool:
    return at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"


def _joins_flag(text: str, at: int) -> bool:
    """Return True inside a flag: two regional letters; the count of letters before tells which two pair up."""
    if not (_is_regional(text[at]) and _is_regional(text[at - 1])):
        return False
    count = 0
    while count < LONGEST_RUN and count < at and _is_regional(text[at - 1 - count]):
        count += 1
    return count % 2 == 1


def _is_regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _parts(begins: Sequence[int], passage: TextPassage) -> list[tuple[int, int, int]]:
    """Return (message, start, end) in each message the passage touches."""
    number = bisect_right(begins, passage.start) - 1
    parts = []
    while number < len(begins) - 1 and begins[number] < passage.end:
        begin, behind = begins[number], begins[number + 1] - 1
        parts.append((number, max(passage.start - begin, 0), min(passage.end, behind) - begin))
        number += 1
    return parts


def _indexed(turns: Sequence[SpokenTurn], parts: Sequence[tuple[int, int, int]]) -> str:
    first = parts[0][0]
    lines = [_said(turns[first - 1], -TURN_BEFORE_CHARS, None)] if first else []
    day = ""
    for number, start, end in parts:
        turn = turns[number]
        if turn.at is not None:  # in figures and in words: a question may use either
            date = f"{turn.at:%Y-%m-%d}, {turn.at.day} {_MONTHS[turn.at.month - 1]} {turn.at.year}"
            lines += [date] if date != day else []
            day = date
        lines.append(_said(turn, start, end))
    return "\n".join(lines)


def _said(turn: SpokenTurn, start: int, end: int | None) -> str:
    return f"{turn.speaker}: {turn.text[start:end]}"
