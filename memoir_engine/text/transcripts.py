"""A conversation as people paste it: JSON messages, or lines like "Ana: Hello.", with times where there are some.

Invariant: every line that is not blank becomes part of a message, in order; nothing in a text is followed or carried out. Pure.
Source: CHUNK 2.1 (a conversation that is submitted); spec README, small print on times.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, tzinfo
from typing import Any

from memoir_engine.errors import FormatUnknown
from memoir_engine.text.turns import Utterance, utterances

_ASSISTANTS = frozenset("assistant ai bot chatgpt gpt claude gemini copilot model agent memoir".split())
_SYSTEMS = frozenset(("system", "developer"))
_LINE = re.compile(
    r"(?:[\[(]?(?P<at>\d{4}-\d\d-\d\d[T ,]+\d\d?:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)[\])]?[ \t]*+(?:[-–|][ \t]*+)?)?"
    r"(?:\*\*)?(?P<name>[^\W\d_][\w .'’\-]{0,38}?)(?:\*\*)?[ \t]*(?:[:：](?:\*\*)?(?:[ \t]+|$)|：(?:\*\*)?)(?P<text>.*)$"
)
_LEAST = 2  # messages that lines must make before they are taken for a conversation


def read_transcript(text: str, *, zone: tzinfo = UTC) -> list[Utterance]:
    """zone: of times that are written without one. Raises FormatUnknown (E802), MessageRefused (E801)."""
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
    said: list[tuple[str, datetime | None, list[str]]] = []
    for line in text.splitlines():
        found = _LINE.match(line.strip())
        if found:
            said.append((found["name"].strip(), _moment(found["at"], zone), [found["text"]]))
        elif said:
            said[-1][2].append(line.rstrip())
        elif line.strip():
            said.append(("", None, [line.strip()]))
    return [
        Utterance(str(index), _role(name), "\n".join(lines).strip(), at, name or None)
        for index, (name, at, lines) in enumerate(said)
    ]


def _role(name: str) -> str:
    word = name.casefold()
    return "assistant" if word in _ASSISTANTS else "system" if word in _SYSTEMS else "user"


def _moment(written: str | None, zone: tzinfo) -> datetime | None:
    if not written:
        return None
    try:
        at = datetime.fromisoformat(re.sub(r"[T ,]+", "T", written, count=1))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=zone)
