"""Button that copies a link to the item on the screen."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from ui.wording import texts as wording

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "memoir_copylink",
    html='<button type="button"></button>\n',
    css=(_HERE / "copylink.css").read_text(encoding="utf-8"),
    js=(_HERE / "copylink.js").read_text(encoding="utf-8"),
)


def show(key: str, **parameters: str | int) -> None:
    here = (st.context.url or "").split("?")[0]
    link = f"{here}?{urlencode(parameters)}"
    _component(key=key, data={"label": wording.COPY_LINK, "copied": wording.COPIED, "link": link}, width="content")
