"""Cuts: where a long conversation would be cut, by each strategy, side by side."""

from __future__ import annotations

import streamlit as st

from ui import cuts_view, frame, problems, viewer
from ui.wording_cuts import texts

memory = viewer.theirs()
with frame.head("cuts", texts.TITLE):
    pass
st.caption(texts.ABOUT)
with problems.shown():
    messages = cuts_view.chosen(memory)
    if messages is None:
        cuts_view.nothing()
    else:
        cuts_view.show(memory, messages)
