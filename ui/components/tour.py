"""Card of the guided tour and the ring around the control it speaks of, above everything else on the page.

Invariant: it draws nothing into the page itself, and the page stays usable below it: a click goes to the control in the ring.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import streamlit as st

from ui.components.scripts import read, script
from ui.wording_tour import texts

ASKS = ("next", "back", "leave", "here")
_HTML = (
    '<div class="tour" popover="manual"><div class="ring"></div>'
    '<section class="card" role="dialog" tabindex="-1"></section></div>\n'
)
_component = st.components.v2.component("memoir_tour", html=_HTML, css=read("tour.css"), js=script("tour.js"))


@dataclass(frozen=True)
class Card:
    """A step to be drawn. controls: beginnings of the keys of containers; the first that the page has gets the ring.

    go: label of the main button; to: what it asks for.
    """

    step: int
    steps: int
    controls: tuple[str, ...]
    title: str
    text: str
    go: str
    to: Literal["next", "here"]


def show(card: Card, *, key: str) -> str | None:
    """Draw it; return what was asked for with it in this run."""
    words = {
        "name": texts.NAME,
        "count": texts.COUNT.format(step=card.step, steps=card.steps),
        "back": texts.BACK,
        "leave": texts.LEAVE,
        "keys": texts.KEYS,
    }
    result = _component(key=key, data=asdict(card) | {"words": words}, on_asked_change=lambda: None, height="content")
    asked = (result.asked or {}).get("to")
    return asked if asked in ASKS else None
