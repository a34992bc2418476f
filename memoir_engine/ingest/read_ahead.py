"""Documents that were read for an estimate, kept for the ingestion that follows: a PDF takes as long to read as to file.

Invariant: each is given once; few are kept, the oldest goes first, and a long one not at all. Nothing is written anywhere.
"""

from __future__ import annotations

import threading

from memoir_engine.readers import Document

MOST = 8  # documents: a batch that is estimated before it is added
MOST_CHARS = 2_000_000  # of a document that is kept


class ReadAhead:
    """Documents by the digest of their bytes and the name they were read under. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], Document] = {}

    def keep(self, sha256: str, name: str, document: Document) -> None:
        if len(document.text) > MOST_CHARS:
            return
        with self._lock:
            self._kept[sha256, name] = document
            for oldest in list(self._kept)[:-MOST]:
                del self._kept[oldest]

    def take(self, sha256: str, name: str) -> Document | None:
        with self._lock:
            return self._kept.pop((sha256, name), None)
