"""Keeps a reader's place: what is opened from a list starts at its top, and the list is found again where it was left.

Invariant: it moves the page once, when it is drawn for the first time, and never against somebody who scrolls.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "memoir_place", html="<span></span>\n", js=(Path(__file__).parent / "place.js").read_text()
)


def keep(name: str) -> None:
    """Of a list."""
    _component(key=f"place-{name}", data={"name": name, "top": False}, width="content", height="content")


def top(name: str) -> None:
    """Of what was opened from one."""
    _component(key=f"place-{name}", data={"name": name, "top": True}, width="content", height="content")
