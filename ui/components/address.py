"""Address: what a tab is stays in it, whatever a page writes there, and the browser's Back needs one press for one page.

Invariant: writing it adds no entry to the browser's history, as `st.query_params` would.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic_ns

import streamlit as st

from ui.components.scripts import read

_component = st.components.v2.component("memoir_address", html="<span></span>\n", js=read("address.js"))


def keep(kept: Mapping[str, str | None]) -> None:
    """Keep these values in the address; None takes one out of it."""
    data = {"kept": dict(kept), "drawn": str(monotonic_ns())}  # the script runs again only for other data, and pages write theirs
    _component(key="address", data=data, width="content", height="content")
