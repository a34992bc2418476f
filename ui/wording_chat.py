"""Texts of the chat."""

from __future__ import annotations

NEW = "New conversation"
PLACEHOLDER = "Say or ask something"
THINKING = "Looking in the memory…"
STOP = "Stop"
SHOWN = "Shown to the model for this answer"
NOTHING_SHOWN = "Nothing of the memory was shown for this answer."
KINDS = {"passage": "Passage", "fact": "Fact", "chunk": "Filed chunk"}
OPEN_SOURCE = "Open its source"
OPEN_FACT = "Open this fact"
SAID_EARLIER = "Said in an earlier conversation."
YOU = "You"
REPLY = "Reply"
