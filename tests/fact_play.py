"""Conversations whose sentences are facts, with a scripted model.

By default each sentence of a user is one fact about its first word, with confidence .8; no facts are related, and every new fact
stays beside the known ones. `judge` scripts a comparison by contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from memoir_engine import Memory, RememberResult
from memoir_engine.prompts import consolidate, facts
from scripted_model import Asked, Script

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def said(*texts: str, at: datetime | None = DAY, replies: bool = False) -> list[dict[str, Any]]:
    """Build messages of a user, one per text; with `replies` an assistant answers "Fine." to each."""
    found: list[dict[str, Any]] = []
    for text in texts:
        found.append({"role": "user", "content": text, **({"at": at.isoformat()} if at else {})})
        if replies:
            found.append({"role": "assistant", "content": "Fine.", **({"at": at.isoformat()} if at else {})})
    return found


def drawn(content: str, message: int, **changed: Any) -> dict[str, Any]:
    usual = {"content": content, "type": "preference", "subject": content.split()[0], "entities": [], "message": message}
    return usual | {"quote": content, "confidence": 0.8, "valid_from": "", "valid_to": ""} | changed


def usual(script: Script) -> Script:
    script.always("facts", sentences)
    script.always("consolidate", judge())
    script.always("relate", {"relations": []})
    script.always("recap", lambda asked: {"recap": f"Recap of part {facts.read(asked.text).number}."})
    return script


def sentences(asked: Asked) -> dict[str, Any]:
    talk = facts.read(asked.text)
    return {"facts": [drawn(one, turn.number) for turn in talk.turns if turn.role == "user" for one in _split(turn.text)]}


def judge(**verdicts: Any) -> Any:
    """Script verdicts by new content, with underscores for spaces: (relation, known content), and further fields."""

    def answer(asked: Asked) -> dict[str, Any]:
        meeting = consolidate.read(asked.text)
        labels = {one.content: one.label for one in (*meeting.new, *meeting.known)}
        return {"verdicts": list(_verdicts(meeting, labels))}

    def _verdicts(meeting: consolidate.FactComparison, labels: dict[str, str]) -> Iterator[dict[str, Any]]:
        for one in meeting.new:
            relation, known, *more = verdicts.get(one.content.replace(" ", "_"), ("none", ""))
            found = {"new": one.label, "relation": relation, "known": [labels[known]] if known in labels else []}
            yield found | {"merged": "", "keep": "", "sure": True, "why": "So it is."} | (more[0] if more else {})

    return answer


def remember(memory: Memory, *texts: str, user: str | None = "mia", at: datetime | None = DAY) -> RememberResult:
    return memory.remember(said(*texts, at=at), user_id=user)


def standing(memory: Memory, user: str = "mia", **how: Any) -> dict[str, str]:
    """Return each fact's status by content."""
    return {one.content: one.status for one in memory.facts.list(user, **how)}


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(".") if one.strip()]
