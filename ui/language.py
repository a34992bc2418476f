"""Language of a session: the one chosen in the app, else the first the browser asks for that the app speaks, else English.

Invariant: one of `SPOKEN`; outside a session, as in a test of a single function, English.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

ENGLISH = "en"
SPOKEN = {ENGLISH: "English", "ja": "日本語"}
KEY = "language"


def current() -> str:
    """Return the code of the language that this session is drawn in."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    chosen = st.session_state.get(KEY)
    if chosen not in SPOKEN:
        chosen = st.session_state[KEY] = _of_browser()
    return str(chosen)


def _of_browser() -> str:
    asked = (st.context.locale or ENGLISH).split("-")[0].lower()
    return asked if asked in SPOKEN else ENGLISH
