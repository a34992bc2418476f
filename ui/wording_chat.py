"""Texts of the chat."""

from __future__ import annotations

from ui.words import Words


class Chat(Words):
    NEW = "New conversation"
    PLACEHOLDER = "Say or ask something"
    THINKING = "Looking in the memory…"
    STOP = "Stop"
    SHOWN = "Shown to the model for this answer"
    NOTHING_SHOWN = "Nothing of the memory was shown for this answer."
    KINDS = {"passage": "Passage", "fact": "Fact", "chunk": "Filed chunk"}
    OPEN_SOURCE = "Open its source"
    OPEN_FACT = "Open this fact"
    OPEN_WORDS = "Show the words"
    OPEN_TALK = "Open that conversation"
    SAID_EARLIER = "Said in an earlier conversation."
    GONE = "It is no longer in the memory."
    NOT_SHOWN = "Nothing that the model was shown has the number {number}."
    ASK_TREE = "Ask the tree yourself"
    YOU = "You"
    REPLY = "Reply"


texts = Chat()
