"""Texts of the Cuts page."""

from __future__ import annotations

from ui.words import Words


class Cuts(Words):
    TITLE = "Cuts"
    ABOUT = (
        "A model reads only so much at once. Here you see where a long conversation would be cut before facts are drawn from it, "
        "by each strategy. Nothing is stored, and no model is asked."
    )
    FROM = "Conversation"
    SAMPLE, PASTED, FILE, SESSION = "The sample", "Paste", "File", "A conversation here"
    PASTE = "Conversation"
    PASTE_PLACEHOLDER = "Ana: Hello, can you help me?\nAssistant: Gladly. What is it about?\n…"
    PASTE_HELP = "Lines with a name and a colon, with or without a time before them, or messages as JSON."
    DROP = "A transcript or messages as JSON"
    WHICH = "Which one?"
    MOST, MOST_HELP = "Tokens in a cut", "No cut is longer, except for a single message that is."
    LEAST, LEAST_HELP = "At least, %", "No cut is smaller than this share while there is another way."
    SHARED, SHARED_HELP = (
        "Shared, %",
        "How much of a cut the sliding window repeats in the next. The other strategies share nothing.",
    )
    NOTHING = "No conversation yet"
    NOTHING_TEXT = "Paste one above, choose a file, or look at the sample."
    EMPTY = "There is no message in it."
    COUNTED = "{tokens} tokens in {messages}, counted {how}"
    EXACT = "exactly, with the model's own encoding"
    ESTIMATED = "approximately: {basis}, within {error:g} % as a rule"
    WHOLE = "With the settings in force ({most} tokens in a cut) it is read whole."
    WOULD = "With the settings in force ({most} tokens in a cut, {strategy}) it is cut into {cuts}."
    OFF = "Cutting is turned off in the settings: it is read whole."
    FEWER = "Shown are the first {shown} of {all} messages; the strips above are of all of them."
    STRATEGIES = {
        "sliding_window": ("Sliding window", "Fills each cut, and repeats its end in the next."),
        "conversation_boundary": ("Natural breaks", "Cuts where people pause, part, greet, or change the subject."),
        "semantic": (
            "Shifts of subject",
            "Cuts where what is said before and after has least in common. Compared by words here.",
        ),
    }
    PLUGGED = "A strategy of your own."
    WORDS = {
        "about": "Where each strategy cuts, over the whole conversation",
        "hint": "Point at a cut to read about it; click it to go to where it begins. Hatched is what two cuts share.",
        "talk": "The conversation, with the cuts of each strategy beside it",
        "cut": "cut",
        "cuts": "cuts",
        "of": "of",
        "tokens": "tokens",
        "messages": "messages",
        "message": "message",
        "shared": "shared with the cut before",
        "oversize": "a single message longer than a cut",
        "split": "a message divided at sentences, part",
        "fell": "the sliding window cut instead",
        "whole": "whole",
        "tokensEach": "tokens each",
    }
    ROLES = {"user": "User", "human": "User", "assistant": "Assistant", "ai": "Assistant", "system": "System", "tool": "Tool"}


texts = Cuts()
