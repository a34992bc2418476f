"""The one sheet of style of the app: what no option of Streamlit's theme says.

Source: docs/decisions/0078-one-sheet-of-style.md.
"""

from __future__ import annotations

import streamlit as st

from ui.components.scripts import read


def draw() -> None:
    st.html(f"<style>{read('look.css')}</style>")
