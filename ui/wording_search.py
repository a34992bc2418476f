"""What the Search page says."""

from __future__ import annotations

from memoir_engine import SearchResult

TITLE = "Search"
QUERY = "Search for"
QUERY_HELP = "Passages are ranked by the words they share with this, and by how near their vectors are. No model is asked."
PLACEHOLDER = "A question, a name, a few words"
GO = "Search"
FILTERS = "Narrow down"
SOURCES = "Sources"
KINDS = "Kinds"
SINCE = "Dated from"
UNTIL = "Dated to"
DATE_HINT = "A year, a month or a day, e.g. 2024-05"
DATE_HELP = "Only passages of sources and conversations that are dated are found while a date is set."
ALL = "All"
SHOWN = "Results"

EMPTY = "There is nothing to search yet"
EMPTY_TEXT = "Add a document, or load the sample memory: every text can be searched as soon as it is stored."
START = "Search by words and by vectors"
START_TEXT = "What you find opens at its place in the source. Move the weight between the two, and watch the order change."
NOTHING = "Nothing was found"
NOTHING_TEXT = "Try other words, or fewer filters."
FOUND = "{shown} shown of {candidates} candidates out of {passages}"

BY_LEXICAL = "vectors by **{embedder}**, which is lexical: it knows words and pieces of words, not what they mean"
BY_SEMANTIC = "vectors by **{embedder}**"
DEGRADED = "Ranked by words alone"
DEGRADED_TEXT = "The vectors could not be asked, so the order is BM25's own and the weight has no effect."

OPENED = "Where it stands"
IN_SOURCES = "Open the source"
IN_CONVERSATION = "Open the conversation"
PASSAGE = "characters {start} to {end}"
MESSAGES = "messages {first} to {last}"
MESSAGE = "message {first}"
NO_VECTOR = "none yet"
CONVERSATION = "conversation"
KIND_NAMES = {"txt": "text", "md": "Markdown", "html": "HTML", "pdf": "PDF", "docx": "Word", "eml": "e-mail"}

RANKING_WORDS = {
    "alpha": "Weight of vectors",
    "only_bm25": "Words",
    "only_dense": "Vectors",
    "bm25": "Words",
    "dense": "Vectors",
    "raw_bm25": "BM25, as the index counts it:",
    "raw_dense": "Cosine of the vectors:",
    "open": "Open it where it stands",
    "more": "Show all of it",
    "less": "Show less",
}


def kind(name: str) -> str:
    return KIND_NAMES.get(name, name)


def named(one: SearchResult) -> str:
    """What a result is of, as it is called."""
    return one.source_name or one.session_id or one.doc_id or ""


def place(one: SearchResult) -> str:
    """Where in it."""
    if not one.message_ids:
        return PASSAGE.format(start=f"{one.start:,}", end=f"{one.end:,}")
    first, last = one.message_ids[0], one.message_ids[-1]
    return MESSAGE.format(first=first) if first == last else MESSAGES.format(first=first, last=last)
