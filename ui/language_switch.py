"""Switch of the language, at the foot of the sidebar."""

from __future__ import annotations

import streamlit as st

from ui import language
from ui.components import language as page_language
from ui.wording import texts as wording

CHOICE = "language-choice"
CHOSEN = "language-chosen"


def foot() -> None:
    with st.sidebar, st.container(key="language"):
        st.session_state[CHOICE] = language.current()
        st.segmented_control(
            wording.LANGUAGE,
            list(language.SPOKEN),
            format_func=lambda code: language.SPOKEN[code],
            key=CHOICE,
            required=True,
            label_visibility="collapsed",
            on_change=_choose,
        )
        page_language.tell(kept=bool(st.session_state.get(CHOSEN)))


def choose(code: str) -> None:
    """Draw this session in another language, which the browser remembers."""
    st.session_state[CHOSEN] = True
    language.choose(code)


def _choose() -> None:
    choose(str(st.session_state[CHOICE]))
