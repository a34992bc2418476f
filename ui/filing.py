"""Whether something is being filed at this moment, and a page that redraws itself when it has been.

Invariant: while nothing is filed nothing polls; a page is redrawn when the memory has changed, not at every look.
"""

from __future__ import annotations

import streamlit as st

from memoir_engine import Memory, RunView

INGESTS = ("ingest_file", "ingest_text", "load_samples")
ACTIVE = ("queued", "running")
EVERY_S = 1.0
MOST = 20


def runs(memory: Memory) -> tuple[RunView, ...]:
    """The last of them, newest first."""
    return memory.jobs.list(limit=MOST, verbs=INGESTS)


def unsettled(memory: Memory) -> list[RunView]:
    """Texts that could not be filed, as long as none of the same name was tried after them; newest first."""
    failed: list[RunView] = []
    later: set[str] = set()
    for run in runs(memory):
        name = str(run.request.get("name", run.id))
        if run.status == "failed" and name not in later:
            failed.append(run)
        later.add(name)
    return failed


def busy(memory: Memory) -> bool:
    return any(run.status in ACTIVE for run in runs(memory))


def follow(memory: Memory, *, key: str) -> None:
    """Draw the page again as soon as something more was stored, and once when the last has ended."""
    if not busy(memory):
        return
    seen = memory.audit.head().seq

    @st.fragment(run_every=EVERY_S, key=key)
    def look() -> None:
        if memory.audit.head().seq != seen or not busy(memory):
            st.rerun()

    look()
