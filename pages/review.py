"""Review: go through what was filed, the riskiest first, and decide by single keys or many at once."""

from __future__ import annotations

import streamlit as st

from memoir_engine import Memory
from ui import facts_waiting, filing, frame, problems, review_asked, review_desk, review_list, state, who
from ui import wording_review as said


def view() -> str:
    """One by one, unless the address asks for the list."""
    chosen = "list" if state.asked("view") == "list" else "one"
    st.session_state["rv-view"] = chosen
    st.segmented_control(
        said.TITLE,
        ["one", "list"],
        format_func=lambda one: said.VIEWS[one],
        key="rv-view",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: state.show(view="list" if st.session_state["rv-view"] == "list" else None),
    )
    return chosen


@st.fragment
def queue(memory: Memory, chosen: str) -> None:
    """Deciding draws this part alone again."""
    with problems.noted():
        asked = review_asked.of_address(memory)
        found = review_list.page(memory, asked) if chosen == "list" else review_desk.page(memory, asked)
        review_asked.draw(memory, asked, found.counts)
        problem = st.session_state.pop("rv-problem", None)
        if problem:
            problems.tell(problem, None)
        (review_list if chosen == "list" else review_desk).show(memory, asked, found)


memory = who.memory()
with frame.head("review", said.TITLE):
    st.space("stretch")
    who.may(memory, key="review")
    chosen = view()
with problems.shown():
    facts_waiting.show(memory)
    if memory.overview().chunks:
        filing.follow(memory, key="review-filed")
        queue(memory, chosen)
    else:
        frame.empty(said.NOTHING_FILED, said.NOTHING_FILED_TEXT, ":material/fact_check:")
        frame.first_buttons(memory)
