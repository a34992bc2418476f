"""The one sheet of style of the app: what no option of Streamlit's theme says.

Source: docs/decisions/0078-one-sheet-of-style.md.
"""

from __future__ import annotations

import json

import streamlit as st

from ui.components.scripts import read
from ui.wording_sources import texts


def draw() -> None:
    words = f":root {{ --memoir-choose-files: {json.dumps(texts.CHOOSE_FILES, ensure_ascii=False)}; }}"
    st.html(f"<style>{read('look.css')}\n{words}</style>")
