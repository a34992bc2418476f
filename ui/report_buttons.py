"""Report downloads: a self-contained page, or JSON, made on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from memoir_engine import Report
from ui.wording_activity import texts

FILES = (
    ("html", "text/html", ":material/description:"),
    ("json", "application/json", ":material/data_object:"),
)
WIDTH = 340  # px of what a menu says; it is as wide as its widest line


def show(make: Callable[[], Report], *, name: str, key: str, table: str = "") -> None:
    """name: file name without an extension. table: label of its table as CSV, where it has one."""
    with st.popover(texts.REPORT, icon=":material/summarize:", key=f"report-{key}"):
        files(make, name=name, key=key)
        if table:
            _download(make, "csv", "text/csv", ":material/table:", table, name=name, key=key)


def files(make: Callable[[], Report], *, name: str, key: str) -> None:
    """Offer both forms with a description, for a menu with further downloads."""
    st.caption(texts.REPORT_ABOUT, width=WIDTH)
    for form, mime, icon in FILES:
        _download(make, form, mime, icon, texts.REPORT_FORMS[form], name=name, key=key)


def _download(make: Callable[[], Report], form: str, mime: str, icon: str, label: str, *, name: str, key: str) -> None:
    st.download_button(
        label,
        data=partial(_file, make, form),
        file_name=f"{name}.{form}",
        mime=mime,
        icon=icon,
        key=f"report-{key}-{form}",
        on_click="ignore",
    )


def _file(make: Callable[[], Report], form: str) -> bytes:
    made = make()
    if form == "csv":
        return (made.csv or "").encode("utf-8-sig")  # so that spreadsheets read it as UTF-8
    return (made.html if form == "html" else made.json).encode()
