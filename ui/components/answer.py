"""Answer text with its citations as buttons.

Invariant: the model's text is shown as plain text; only numbers of chunks it was given become buttons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from memoir_engine import UsedChunk
from ui import figures
from ui.components.scripts import read, script
from ui.wording import texts as wording

_NUMBERS = re.compile(r"[\[【]([\d\s,;–-]+)[\]】]")
_component = st.components.v2.component(
    "memoir_answer",
    html='<div class="answer"></div>\n',
    css=read("answer.css"),
    js=script("cite.js", "answer.js"),
)


def labels(text: str, used: Iterable[UsedChunk]) -> dict[int, int]:
    """Map a chunk's number in the prompt to the number shown: 1, 2, … in order of appearance, then the uncited ones."""
    known = [chunk.number for chunk in used]
    seen = [int(number) for mark in _NUMBERS.findall(text) for number in re.findall(r"\d{1,9}", mark)]
    order = dict.fromkeys([number for number in seen if number in known] + known)
    return {number: at for at, number in enumerate(order, start=1)}


def _hint(chunk: UsedChunk) -> str:
    form = wording.OPEN_CAUGHT if chunk.by_net else wording.OPEN_CITATION
    return form.format(path=figures.path(chunk.category_path))


def show(text: str, used: tuple[UsedChunk, ...], *, key: str) -> UsedChunk | None:
    """Draw the answer; return the citation that was clicked."""
    shown = labels(text, used)
    cites = [(chunk.number, _hint(chunk), shown[chunk.number]) for chunk in used]
    result = _component(key=key, data={"text": text, "cites": cites}, on_cited_change=lambda: None)
    return next((chunk for chunk in used if chunk.number == result.cited), None)
