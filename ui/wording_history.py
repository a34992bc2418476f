"""Texts of the tree at an earlier moment, and of histories."""

from __future__ import annotations

from ui.words import Words


class History(Words):
    LOOK_BACK = "Look back"
    LOOK_BACK_HELP = "See the tree as it stood at any moment, with what has changed since."
    TO_NOW = "Back to now"
    MOMENT = "Moment"
    BEGINNING = "the beginning"
    EVENT = "event {seq}"
    AT = "{at} · event {seq}"  # no two alike: the slider tells its places apart by their words
    GO_TO = "Go to a day"
    DAY = "Day and time, in your time zone"
    GO = "Go there"
    STOOD = "The tree as it stood at {at}"
    STOOD_EMPTY = "The tree before anything was filed"
    LAST_DONE = "Last done then: {says}, by {actor}"
    EDITING_OFF = "You are looking at the past, so nothing can be changed here."
    EMPTY_THEN = "Nothing was filed yet at this moment. Move the slider to the right."
    NOT_THERE = "It was not there at this moment."
    ASK_THEN = "Ask as of then"
    SINCE = "What has changed since"
    NOTHING_SINCE = "Nothing in the tree has changed since."
    SINCE_ABOUT = "Select a row to see that category."
    COLUMNS = ("Since then", "Category", "Now")
    MADE, CLOSED, RENAMED, MOVED, MERGED = "added since", "removed since", "renamed since", "moved since", "merged since"
    BOTH = "renamed and moved since"
    NOW_AT, NOW_IN = "now {path}", "now part of {path}"
    GONE = "no longer there"
    LATER = "was not there yet"
    CHUNKS = "chunks changed since"
    CHUNKS_CAME, CHUNKS_LEFT = "{count} came since", "{count} left since"
    INSIDE, WHY_INSIDE = "changed inside", "Something below it has changed since"

    HISTORY = "History"
    HISTORY_ABOUT = "What it was called and where it stood. Select a row to see the tree of that moment."
    PLACES = "Where it has been"
    PLACES_ABOUT = "Each leaf it was filed in. Select a row to see the tree of that moment."
    WHEN, WHO, WHAT, WHERE, WHY = "When", "Who", "What", "Where", "Why"
    ENDED = {
        "category.closed": "closed",
        "category.merged": "merged",
        "source.withdrawn": "its source was withdrawn",
        "source.replaced": "its source was replaced by a newer version",
        "source.erased": "its source was erased",
        "chunk.rejected": "taken out by a reviewer",
    }
    ENDED_OTHERWISE = "taken out"

    AS_OF_HELP = "What this question would have seen: names, filings and helpers of that moment, and nothing that came later."
    AS_OF_ON = "Ask as of an earlier moment"
    AS_OF_TOLD = "As of {at} (event {seq})"
    AS_OF_ONLY = ":gray[Nothing that came later was read.]"
    AS_OF_EMPTY = "As of a moment before anything was filed"
    AS_OF_LINE = "as of event {seq}"
    SEE_TREE = "The tree of that moment"


texts = History()
