"""A page of a source as a picture, brought to where a span is marked."""

from __future__ import annotations

import base64

import streamlit as st

from memoir_engine import PageImage
from ui.components.scripts import read, script
from ui.wording_answer import texts

_component = st.components.v2.component(
    "memoir_page",
    html='<div class="page"><div class="sheet" role="region" tabindex="0"><img></div><button type="button"></button></div>\n',
    css=read("page.css"),
    js=script("page.js"),
)


def show(image: PageImage, alt: str, *, key: str, height: int) -> None:
    """Draw the page. alt: what the picture shows, in words. height: px at most; the rest is scrolled to."""
    first = image.boxes[0] if image.boxes else None
    data = {
        "src": "data:image/png;base64," + base64.b64encode(image.png).decode(),
        "alt": alt,
        "width": image.width,
        "tall": image.height,
        "top": first.top if first else 0.0,
        "left": first.left if first else 0.0,
        "height": height,
        "words": texts.ZOOM,
    }
    _component(key=key, data=data)
