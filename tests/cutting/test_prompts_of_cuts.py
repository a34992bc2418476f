"""A cut made for a model's window fits into it with all that its prompt writes around the messages."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoir_engine import chunk_conversation
from memoir_engine.models.tokens import token_counter
from memoir_engine.prompts import facts
from memoir_engine.prompts.facts import FRAME_TOKENS, INSTRUCTIONS, CutMessage, ExtractRequest
from sample_conversations import START


@pytest.mark.req("CHUNK 2.3")
@pytest.mark.parametrize("words", [1, 12, 200])
def test_a_cut_of_short_or_long_messages_leaves_a_tenth_of_the_window_for_the_reply(words):
    at = [START + timedelta(seconds=37 * n) for n in range(2_000)]
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": " ".join(["word"] * words), "at": at[n], "name": "Wilhelmina"}
        for n in range(2_000)
    ]
    made = chunk_conversation(messages, model="gpt-4", frame_tokens=FRAME_TOKENS)
    assert len(made.cuts) > 1
    turns = [CutMessage(n + 1, "assistant", "Wilhelmina", at[n], str(messages[n]["content"])) for n in made.cuts[1].indexes]
    prompt = facts.build(ExtractRequest("the user", 2, made.cuts[1].of, "What came before. " * 40, tuple(turns)))
    (tokens, instructions) = token_counter("gpt-4").counts([prompt.text, INSTRUCTIONS])
    assert tokens + instructions < 0.9 * made.limits.window
