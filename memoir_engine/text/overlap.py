"""How much of a conversation stands in a session already.

Invariant: pure. What agrees only by chance is not taken for the same: a single "Thanks" without a time is said anew, unless all
that the session holds agrees. A message that words were taken out of agrees where words are left, and in its length.
Source: SESSION 6.3; spec README 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memoir_engine.text.messages import Message
from memoir_engine.text.traces import BLOCK


class Stored(NamedTuple):
    """A message of a session. n: its number there. is_whole: no words were taken out of it."""

    n: int
    message: Message
    is_whole: bool


def placed(stored: Sequence[Stored], given: Sequence[Message], *, is_all: bool) -> tuple[int, ...]:
    """The numbers that the first of the given messages have in the session; those behind them are new to it.

    stored: the last of the session, in the order of their numbers. is_all: it holds no others; earlier ones may be dropped.
    """
    if not stored:
        return ()
    dropped = stored[0].n - 1
    if is_all and dropped + len(stored) <= len(given) and _agree(stored, given[dropped:], is_sure=True):
        return tuple(range(1, dropped + len(stored) + 1))
    for count in range(min(len(stored), len(given)), 0, -1):
        if _agree(stored[-count:], given, is_sure=is_all and count == len(stored)):
            return tuple(one.n for one in stored[-count:])
    return ()


def _agree(stored: Sequence[Stored], given: Sequence[Message], *, is_sure: bool) -> bool:
    """is_sure: so many agree that none of them needs a time or an id of its own."""
    return all(_is_same(one, other, is_sure) for one, other in zip(stored, given, strict=False))


def _is_same(one: Stored, other: Message, is_sure: bool) -> bool:
    known = one.message
    if (known.kind, known.name) != (other.kind, other.name) or not _same_words(one, other):
        return False
    if known.id is not None and other.id is not None:
        return known.id == other.id
    return is_sure if other.said_at is None else known.said_at == other.said_at


def _same_words(one: Stored, other: Message) -> bool:
    mine, theirs = one.message.content, other.content
    if one.is_whole or not isinstance(mine, str) or not isinstance(theirs, str):
        return mine == theirs
    return len(mine) == len(theirs) and all(a in (b, BLOCK) for a, b in zip(mine, theirs, strict=True))
