"""Cuts: an old address. How a conversation is cut stands with the conversation, or with the one to be imported."""

from __future__ import annotations

import streamlit as st

from ui import cuts_view, state, viewer

viewer.guard()
session_id = state.param("session")
there = {cuts_view.PARAM: cuts_view.SHOWN} | ({"session": session_id} if session_id else {"bring": "1"})
kept = {name: st.query_params[name] for name in ("user", "most") if name in st.query_params}
st.switch_page("../pages/conversations.py", query_params=there | kept)
