"""Cuts: where a long conversation would be cut, by each strategy, side by side."""

from __future__ import annotations

import streamlit as st

from ui import cuts_view, frame, problems, who
from ui import wording_cuts as said

memory = who.theirs()
with frame.head("cuts", said.TITLE):
    pass
st.caption(said.ABOUT)
with problems.shown():
    messages = cuts_view.chosen(memory)
    if messages is None:
        cuts_view.nothing()
    else:
        cuts_view.show(memory, messages)
