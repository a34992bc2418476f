"""Conversations written for the tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

GARDEN = (
    "I want to plant tomatoes in the garden this spring.",
    "Tomatoes need sun and rich garden soil; plant them after the frost.",
    "Should I water the tomato plants each morning?",
    "Water the soil, not the leaves, and mulch the garden bed.",
    "And which soil do young tomato plants like?",
    "Loose garden soil with compost; tomatoes like it warm.",
    "Then I will buy compost for the garden bed.",
    "Good, spread the compost before you plant the tomatoes.",
)
TAXES = (
    "My tax return is due; which deductions can I claim for the office?",
    "You can claim the office rent and the tax adviser's invoice as deductions.",
    "Does the tax authority accept a home office?",
    "The authority accepts deductions for an office used only for work.",
    "How long must I keep the invoices?",
    "Keep each invoice for ten years, the tax authority may ask.",
    "And the deadline of the return?",
    "The return is due in July, with an adviser in February.",
)


def dialogue(*texts: str, first: str = "user") -> list[dict[str, object]]:
    """Build alternating messages of a user and an assistant."""
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def timed(
    messages: list[dict[str, object]], *, minutes: float = 1, pauses: dict[int, float] | None = None
) -> list[dict[str, object]]:
    """Add times, this many minutes apart; pauses: hours before the messages of these indexes."""
    at, made = START, []
    for index, message in enumerate(messages):
        at += timedelta(hours=(pauses or {}).get(index, 0.0), minutes=minutes)
        made.append({**message, "at": at})
    return made


def counted(*tokens: int, role: str = "user") -> list[dict[str, object]]:
    """Build messages of this many tokens each, of words that are one token in o200k."""
    return [{"role": role, "content": " ".join(["word"] * count)} for count in tokens]
