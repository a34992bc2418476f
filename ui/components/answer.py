"""An answer with its citations as buttons.

Invariant: the model's text is shown as text; only numbers of chunks it really was given become buttons.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memoir_engine import UsedChunk
from ui import figures, wording

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "memoir_answer",
    html='<div class="answer"></div>\n',
    css=(_HERE / "answer.css").read_text(),
    js=(_HERE / "answer.js").read_text(),
)


def show(text: str, used: tuple[UsedChunk, ...], *, key: str) -> UsedChunk | None:
    """Draw it; the citation that was clicked."""
    cites = [(chunk.number, wording.OPEN_CITATION.format(path=figures.path(chunk.category_path))) for chunk in used]
    result = _component(key=key, data={"text": text, "cites": cites}, on_cited_change=lambda: None)
    return next((chunk for chunk in used if chunk.number == result.cited), None)
