"""The requests of one remembered conversation, cut in two, beside known facts, as golden text."""

from __future__ import annotations

from fact_play import said
from golden_texts import Golden, requests_text
from scripted_model import Opened, Script

KNOWN = ("Nora works as a baker in Bergen", "Nora keeps two goats")
TALK = (
    "Nora moved to Oslo in February. Nora works as a pastry cook now.",
    "Nora sold both goats before the move. Nora misses the goats.",
    "Her brother Emil stays in Bergen. Emil repairs boats there.",
)


def test_a_remembered_conversation_sends_what_was_agreed(opened: Opened, script: Script, golden: Golden):
    memory = opened(max_concurrency=1, conversation={"max_tokens": 40, "min_tokens": 0, "overlap_percent": 0})
    memory.remember(said(*KNOWN), user_id="nora")
    script.requests.clear()
    memory.remember(said(*TALK, replies=True), user_id="nora")
    golden("remembered-conversation", requests_text(script.requests))
