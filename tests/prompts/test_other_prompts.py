"""Prompts that stand for themselves: of a conversation with an agent, of a summary, of the test call."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from golden_texts import Golden, prompt_text
from memoir_engine.prompts import Prompt, chat, summarise
from memoir_engine.prompts.summarise import SummaryRequest

RECORDS = [
    {
        "number": 3,
        "text": "The ferry leaves at nine; " + "the quay is full of nets. " * 8,
        "source": "town.md",
        "dated": "1999",
    },
    {"number": 4, "text": "Nora lives by the harbour", "status": "active", "since": "2026-02"},
]
ANSWER = [
    {"text": "At nine. [5]", "answered": True},
    {"number": 5, "text": "Ferries leave at nine.", "source": "town.md", "filed": "Harbour › Ferries"},
]


def test_an_agent_is_told_what_was_agreed_and_shown_results_in_these_forms(golden: Golden):
    told = chat.instructions("Speak as a harbour master.", datetime(2026, 11, 23, 12, tzinfo=UTC))
    whole, tree = (json.dumps(records, ensure_ascii=False) for records in (RECORDS, ANSWER))
    golden("chat-3", f"{chat.VERSION}\n---\n{told}---\n{whole}\n\n{tree}\n\n{chat.in_brief(whole)}\n")


@pytest.mark.parametrize(
    "prompt",
    [
        summarise.build(
            SummaryRequest("conversation", "Harbour talk", "Nora asked for the ferry. It leaves at nine.", 300, (2, 3))
        ),
        chat.build_ping(),
    ],
    ids=["summarise", "ping"],
)
def test_the_prompts_are_as_they_were_agreed(golden: Golden, prompt: Prompt):
    golden(prompt.version.replace("/", "-"), prompt_text(prompt))
