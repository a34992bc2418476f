"""Knowledge as callers see it: a source known by its doc_id; and what making the indexes anew came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoir_engine.results.documents import Source


@dataclass(frozen=True)
class Knowledge:
    """What `add_knowledge` has stored: the source, its whole text, and into how many passages it was cut."""

    source: Source
    text: str
    passages: int
    run_id: str
    action_id: str

    @property
    def doc_id(self) -> str:
        return self.source.doc_id or ""

    @property
    def source_id(self) -> int:
        return self.source.id

    @property
    def version(self) -> int:
        return self.source.version

    @property
    def corpus(self) -> str:
        """The specification's name of `text`."""
        return self.text

    @property
    def metadata(self) -> dict[str, Any]:
        return self.source.metadata

    @property
    def created_at(self) -> datetime:
        return self.source.created_at


@dataclass(frozen=True)
class Reindexed:
    """What was made anew. passages: of the workspace, that can be found; vectors: how many have one; made: of these, now.

    problem: why their index cannot be had, None where it can.
    """

    run_id: str
    passages: int
    vectors: int
    made: int
    embedder: str
    latency_ms: float
    problem: str | None = None
