"""Explanations of wrong addresses: what is missing, why, and where to go on.

Invariant: only errors whose own remedy speaks of the library are here; all others keep the engine's words.
"""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """Explanation: `message` is formatted with the error's facts; `label` links to `page`."""

    message: str
    page: str
    label: str


BEING_FILED = "The first texts are being filed. Watch them on the Sources page."
REMEDY = "It may have been taken away since, or the link belongs to another memory."
FOR_PAGES = {
    "E206": Said("There is no source {source_id} in this memory", "sources", "All sources"),
    "E702": Said("There is no action {action_id} in this memory", "activity", "All activity"),
    "E704": Said("There is no category {category_id} in this memory", "tree", "The whole tree"),
    "E705": Said("There is no chunk {chunk_id} in this memory", "tree", "The whole tree"),
    "E803": Said("There is no conversation {session_id!r} that you may read", "conversations", "All conversations"),
    "E711": Said("There is no run {run_id!r} in this memory", "ask", "Questions asked before"),
}
