"""The control by which a queue shows what is open, or what was resolved in each way, with how many there are of each.

Invariant: the address names the state as `state`, but for the open ones; another state begins at its first page, with no banner
of an action left over.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from ui import figures, state

OPEN = "open"


def chosen(states: Mapping[str, str]) -> str:
    """Return the state in the address; the open ones where it names none. states: their labels."""
    asked = state.param("state")
    return asked if asked is not None and asked in states else OPEN


def control(states: Mapping[str, str], counts: Mapping[str, int], *, label: str, key: str, after: str) -> None:
    """Draw the control. label: for screen readers. after: the key of the session that holds the page of the list."""
    st.session_state[key] = chosen(states)
    st.segmented_control(
        label,
        list(states),
        format_func=lambda one: f"{states[one]} · {figures.count(counts.get(one, 0))}",
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=turn,
        args=(key, after),
    )


def turn(key: str, after: str) -> None:
    """Turn to the state that was chosen."""
    wanted = st.session_state[key]
    st.session_state[after] = ""
    state.update(state=None if wanted == OPEN else wanted, item=None, done=None, undo=None)
