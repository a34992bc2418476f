"""Texts of the Search page."""

from __future__ import annotations

from memoir_engine import SearchResult
from ui.words import Words


class Search(Words):
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
    KIND_NAMES = {"txt": "text", "md": "Markdown", "html": "HTML", "pdf": "PDF", "docx": "Word", "eml": "e-mail"}

    COMPARE = "Compare with search"
    COMPARE_HELP = "The same question by a search over all passages: what each way found alone, and what the safety net caught."
    COMPARED = "Tree and search"
    COMPARE_NOT_DONE = "Only a question that was answered can be compared."
    BACK_TO_ANSWER = "Back to the answer"
    BY_BOTH = "Found by both"
    BY_TREE = "By the tree alone"
    BY_SEARCH = "By search alone"
    BY_NET = "Caught by the net"
    TREE_SIDE = "What the tree read"
    TREE_SIDE_ABOUT = "Chunks of the leaves that were chosen level by level; cited ones first. What search missed is marked."
    TREE_NOTHING = "The tree read nothing for this question."
    SEARCH_SIDE = "What search found"
    SEARCH_SIDE_ABOUT = "Passages by words and vectors over everything that is stored now. What the tree did not read is marked."
    NET_SIDE = "The safety net's catch"
    NET_SIDE_ABOUT = (
        "Chunks outside the chosen paths that share the question's words. Those that were read for the answer say so."
    )
    NET_NOTHING = "The safety net caught nothing, or was not set."
    CITED = "cited"
    ALSO_SEARCH = "search found it too"
    ALSO_TREE = "the tree read it too"
    ALONE_TREE = "tree alone"
    ALONE_SEARCH = "search alone"
    ALONE_NET = "net alone"
    NET_WAS_READ = "read for the answer"
    SEARCH_FURTHER = "Go on on the Search page"

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

    def kind(self, name: str) -> str:
        return self.KIND_NAMES.get(name, name)

    def named(self, one: SearchResult) -> str:
        """Return the title of a result's source."""
        return one.source_name or one.session_id or one.doc_id or ""

    def place(self, one: SearchResult) -> str:
        """Describe the position within the source."""
        if not one.message_ids:
            return self.PASSAGE.format(start=f"{one.start:,}", end=f"{one.end:,}")
        first, last = one.message_ids[0], one.message_ids[-1]
        return self.MESSAGE.format(first=first) if first == last else self.MESSAGES.format(first=first, last=last)


texts = Search()
