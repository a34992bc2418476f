"""Review: go through what was filed, the riskiest first, and decide by single keys or many at once."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from memoir_engine import Memory
from ui import fact_filters, filing, frame, problems, review_desk, review_filters, review_list, state, viewer
from ui.wording_review import texts


def view() -> str:
    """Return the view: one by one, unless the address asks for the list."""
    chosen = "list" if state.param("view") == "list" else "one"
    st.session_state["rv-view"] = chosen
    st.segmented_control(
        texts.TITLE,
        ["one", "list"],
        format_func=lambda one: texts.VIEWS[one],
        key="rv-view",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: state.update(view="list" if st.session_state["rv-view"] == "list" else None),
    )
    return chosen


def kind() -> str:
    """Return the kind: filings, unless the address asks for facts."""
    if not memory.overview().chunks:
        state.update(of="facts")
    chosen = "facts" if state.param("of") == "facts" else "filings"
    st.session_state["rv-of"] = chosen
    st.segmented_control(
        texts.KIND,
        list(texts.KINDS),
        format_func=texts.KINDS.__getitem__,
        key="rv-of",
        required=True,
        label_visibility="collapsed",
        on_change=_turn,
    )
    return chosen


def _turn() -> None:
    """Drop the filters when the kind changes, since they apply to the other queue only."""
    state.update(**review_filters.NOTHING, state=None, view=None, of="facts" if st.session_state["rv-of"] == "facts" else None)


@st.fragment
def queue(memory: Memory, chosen: str) -> None:
    """Draw the queue as a fragment, so that deciding redraws this part alone."""
    with problems.noted():
        filters = review_filters.from_address(memory)
        if chosen == "list":
            rows = review_list.page(memory, filters)
            _around(memory, filters, rows.counts)
            review_list.show(memory, filters, rows)
        else:
            found = review_desk.page(memory, filters)
            _around(memory, filters, found.counts)
            review_desk.show(memory, filters, found)


def _around(memory: Memory, filters: review_filters.ReviewFilters, counts: Mapping[str, int]) -> None:
    review_filters.draw(memory, filters, counts)
    problem = st.session_state.pop("rv-problem", None)
    if problem:
        problems.tell(problem, None)


memory = fact_filters.seen_by(viewer.memory())
has_facts = any(number for _, number in memory.facts.users())
with frame.head("review", texts.TITLE):
    st.space("stretch")
    viewer.may(memory, key="review")
    about = kind() if has_facts else "filings"
    chosen = view() if about == "filings" else "one"
with problems.shown():
    if memory.overview().chunks or about == "facts":
        filing.follow(memory, key="review-filed")
        queue(memory, chosen)
    else:
        frame.empty(texts.NOTHING_FILED, texts.NOTHING_FILED_TEXT, ":material/fact_check:")
        frame.first_buttons(memory)
