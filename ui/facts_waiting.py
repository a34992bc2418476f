"""How many changes of facts wait for a person, with the way to them. They are decided where facts are seen, not in the queue."""

from __future__ import annotations

import streamlit as st

from memoir_engine import Memory
from ui import fact_asked, figures
from ui import wording_facts as said

MOST = 100  # counted; more are said to be more


def show(memory: Memory) -> None:
    """Nothing where nothing waits."""
    waiting = fact_asked.seen_by(memory).facts.proposals(limit=MOST)
    if not waiting:
        return
    label = figures.plural(len(waiting), said.TO_DECIDE_ONE, said.TO_DECIDE_MANY)
    if len(waiting) == MOST:
        label = f"{figures.count(MOST)} {said.TO_DECIDE_MOST} {said.TO_DECIDE_MANY}"
    whose = waiting[0].user_id
    st.page_link(
        "../pages/facts.py",
        label=label,
        icon=":material/rule:",
        help=said.TO_DECIDE_HELP,
        query_params={} if whose is None else {"user": whose},
        width="content",
    )
