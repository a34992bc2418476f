"""Scroll position: a detail page starts at its top, and its list is restored to where the reader left it.

Invariant: it scrolls once, on the first draw, and never against a reader who is scrolling.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "memoir_place", html="<span></span>\n", js=(Path(__file__).parent / "scroll_position.js").read_text(encoding="utf-8")
)


def keep(name: str) -> None:
    """Remember the scroll position of this list."""
    _component(key=f"place-{name}", data={"name": name, "top": False}, width="content", height="content")


def top(name: str) -> None:
    """Scroll a page opened from a list to its top."""
    _component(key=f"place-{name}", data={"name": name, "top": True}, width="content", height="content")
