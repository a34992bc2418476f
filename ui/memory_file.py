"""Download of the whole memory as one file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st

from memoir_engine import Memory
from ui import viewer
from ui.wording_erasure import texts


def show(memory: Memory) -> None:
    with st.container(border=True, key="memory-file"):
        st.markdown(f"**{texts.FILE_TITLE}**")
        st.caption(texts.FILE_ABOUT)
        if viewer.may(memory, key="export", role="admin"):
            name = f"memoir-{datetime.now(UTC):%Y-%m-%d}.zip"
            st.download_button(
                texts.EXPORT, whole(memory), name, "application/zip", key="export", icon=":material/download:", on_click="ignore"
            )


def whole(memory: Memory) -> Callable[[], bytes]:
    """Return a function that writes the file on demand and keeps nothing of it on this machine."""

    def write() -> bytes:
        with TemporaryDirectory(prefix="memoir-export-") as folder:
            path = Path(folder) / "memory.zip"
            memory.export(path)
            return path.read_bytes()

    return write
