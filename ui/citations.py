"""Where the citations of an answer come from: source, page, and who approved its filing.

Invariant: a source that is gone is left out; its citation still opens what is left of it.
"""

from __future__ import annotations

from contextlib import suppress

from memoir_engine import MemoirError, Memory, QueryResult, UsedChunk
from ui import figures
from ui.components.answer import Origin
from ui.wording_answer import texts

LONGEST = 44  # characters of a source's name


def origins(memory: Memory, result: QueryResult) -> dict[int, Origin]:
    """Return where each citation stands, by its number in the prompt."""
    shown = {}
    for used in result.used_chunks:
        if used.cited:
            with suppress(MemoirError):  # erased since
                shown[used.number] = _origin(memory, used)
    return shown


def _origin(memory: Memory, used: UsedChunk) -> Origin:
    name = memory.sources.get(used.source_id).name
    page = memory.sources.page_of(used.source_id, first(used)[0])
    return Origin(figures.shortened(name, LONGEST), texts.PAGE.format(page=page) if page else "")


def first(used: UsedChunk) -> tuple[int, int]:
    """Return the first span of the source's text that supports a citation, else its whole chunk."""
    return min(used.quotes, default=(used.start, used.end))
