"""What a page remembers: strings and numbers in the session, what may be shared in the URL.

Invariant: nothing from the URL or the browser is trusted; a value of the wrong form is no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st


def asked(name: str) -> str | None:
    """A value of the URL, if it has one."""
    value = st.query_params.get(name)
    return value if value else None


def asked_id(name: str) -> int | None:
    value = asked(name)
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 19 else None


def show(**wanted: str | int | None) -> None:
    """Put values into the URL of this page; None takes one out."""
    for name, value in wanted.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)


def only(**wanted: str | int) -> None:
    """Make these the whole of the URL of this page."""
    st.query_params.from_dict({name: str(value) for name, value in wanted.items()})


def kept(**wanted: str | int) -> dict[str, str]:
    """The address of something on a page that may be looking at the past: the moment stays in it."""
    seq = asked("seq")
    return {name: str(value) for name, value in wanted.items()} | ({"seq": seq} if seq is not None else {})


def row(selected: Mapping[str, Any]) -> int | None:
    """The row of a table that was clicked, by its box or by any of its cells."""
    chosen = selected["selection"]
    if chosen["rows"]:
        return int(chosen["rows"][0])
    return int(chosen["cells"][0][0]) if chosen.get("cells") else None


def ids(key: str) -> set[int]:
    return {int(part) for part in str(st.session_state.get(key, "")).split(",") if part.isdigit()}


def keep_ids(key: str, wanted: set[int]) -> None:
    st.session_state[key] = ",".join(map(str, sorted(wanted)))
