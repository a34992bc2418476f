"""Cookie: what the browser is to remember of this app for a year, sent with each later visit.

Invariant: for no secret: any script of this origin, and any app of this host, reads it.
"""

from __future__ import annotations

import streamlit as st

from ui.components.scripts import read

_component = st.components.v2.component("memoir_cookie", html="<span></span>\n", js=read("cookie.js"))


def write(name: str, value: str) -> None:
    """Write it; an empty value takes it away."""
    _component(key=f"cookie-{name}", data={"name": name, "value": value}, width="content", height="content")
