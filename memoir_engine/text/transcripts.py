"""A conversation as people paste it: JSON messages, or lines like "Ana: Hello.", with times where there are some.

Invariant: every line that is not blank becomes part of a message, in order; nothing in a text is followed or carried out. Pure
but for a warning. Source: CHUNK 2.1 (a conversation that is submitted); spec README, small print on times.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, tzinfo
from typing import Any

from memoir_engine.errors import FormatUnknown
from memoir_engine.text.pasted_times import MARKS, WRITTEN, moments
from memoir_engine.text.turns import Utterance, utterances

_ASSISTANTS = frozenset("assistant ai bot chatgpt gpt claude gemini copilot model agent memoir".split())
_SYSTEMS = frozenset(("system", "developer"))
_LINE = re.compile(
    rf"(?:[\[(]?(?P<at>{WRITTEN})[\])]?[ \t]*+(?:[-–|][ \t]*+)?)?"
    r"(?:\*\*)?(?P<name>[^\W\d_][\w .'’\-]{0,38}?)(?:\*\*)?[ \t]*(?:[:：](?:\*\*)?(?:[ \t]+|$)|：(?:\*\*)?)(?P<text>.*)$"
)
_NOTICE = re.compile(rf"[\[(]?(?P<at>{WRITTEN})(?:[\])]|[ \t]+[-–|])[ \t]*+(?P<text>\S.*)$")  # of the messenger itself
_LEAST = 2  # messages that lines must make before they are taken for a conversation


def read_transcript(text: str, *, zone: tzinfo = UTC) -> list[Utterance]:
    """zone: of times that are written without one; it tells what comes first in 5/4/2024 where the lines do not.

    Where nothing tells, such times are left out, with a UserWarning. Raises FormatUnknown (E802), MessageRefused (E801).
    """
    begins = text.lstrip("\ufeff \t\r\n")
    if begins[:1] in ("[", "{"):
        found = _json(begins)
        if found is not None:
            return found
    made = _lines(text, zone)
    if len(made) < _LEAST:
        raise FormatUnknown(problem="no two lines of it begin with a name and a colon, and it is no JSON")
    return made


def _json(text: str) -> list[Utterance] | None:
    """None where it is no JSON: a transcript may begin with a bracket, too."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, dict):
        data = data.get("messages")
    if not isinstance(data, list):
        raise FormatUnknown(problem="it holds no list of messages")
    return utterances(data)


def _lines(text: str, zone: tzinfo) -> list[Utterance]:
    said: list[tuple[str | None, str | None, list[str]]] = []  # who, when as it is written, lines; nobody in a notice
    for line in text.splitlines():
        bare = line.strip().strip(MARKS)
        found = _LINE.match(bare)
        notice = None if found else _NOTICE.match(bare)
        if found:
            said.append((found["name"].strip(), found["at"], [found["text"]]))
        elif notice and _is_dated(notice["at"]):
            said.append((None, notice["at"], [notice["text"]]))
        elif said:
            said[-1][2].append(line.rstrip())
        elif bare:
            said.append(("", None, [bare]))
    times = moments([at for _, at, _ in said], zone)
    return [
        Utterance(str(index), "system" if name is None else _role(name), "\n".join(lines).strip(), at, name or None)
        for index, ((name, _, lines), at) in enumerate(zip(said, times, strict=True))
    ]


def _is_dated(written: str) -> bool:
    """By a day in figures, as messengers write it: what stands behind it is a line of its own, though nobody says it."""
    return "/" in written[:5] or "." in written[:5]


def _role(name: str) -> str:
    word = name.casefold()
    return "assistant" if word in _ASSISTANTS else "system" if word in _SYSTEMS else "user"
