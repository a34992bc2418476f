"""Language of the page, as the browser is told it."""

from __future__ import annotations

import streamlit as st

from ui import language
from ui.components.scripts import read

_component = st.components.v2.component("memoir_language", html="<span></span>\n", js=read("language.js"))


def tell(*, kept: bool) -> None:
    """Mark the page with the language of the session. kept: the browser remembers it."""
    data = {"language": language.current(), "cookie": language.COOKIE, "kept": kept}
    _component(key="page-language", data=data, width="content", height="content")
