"""Sources: add files or text, watch them being filed, open one and see what became of each chunk."""

from __future__ import annotations

import streamlit as st

from memoir_engine import Memory
from ui import engine, frame, jobs, problems, source_view, state, wording


def add(memory: Memory) -> None:
    kind = st.segmented_control(
        "Kind",
        [wording.ADD_FILES, wording.ADD_TEXT],
        default=wording.ADD_FILES,
        required=True,
        label_visibility="collapsed",
        key="src-kind",
        width="stretch",
    )
    with st.container(border=True, key="add"):
        if kind == wording.ADD_TEXT:
            add_text(memory)
        else:
            add_files(memory)
    st.caption(wording.HOW_FILED)


def add_files(memory: Memory) -> None:
    fresh = int(st.session_state.get("upload_round", 0))
    files = st.file_uploader(
        wording.DROP,
        type=wording.FILE_TYPES,
        accept_multiple_files=True,
        key=f"upload-{fresh}",
        max_upload_size=memory.config.max_file_mb,
    )
    if st.button(wording.FILE_IT, type="primary", icon=":material/check:", key="file-files", disabled=not files):
        with problems.shown():
            for file in files:
                memory.start("ingest_file", data=file.getvalue(), name=file.name)
        st.session_state["upload_round"] = fresh + 1
        st.rerun()


def add_text(memory: Memory) -> None:
    fresh = int(st.session_state.get("text_round", 0))
    name = st.text_input(wording.TEXT_NAME, placeholder=wording.TEXT_NAME_PLACEHOLDER, key=f"text-name-{fresh}", max_chars=200)
    text = st.text_area(wording.TEXT_BODY, placeholder=wording.TEXT_BODY_PLACEHOLDER, key=f"text-body-{fresh}", height=200)
    if st.button(wording.FILE_IT, type="primary", icon=":material/check:", key="file-text"):
        with problems.shown():
            memory.start("ingest_text", text=text, name=name.strip() or wording.PASTED_NAME)
        st.session_state["text_round"] = fresh + 1
        st.rerun()


def everything(memory: Memory) -> None:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        add(memory)
    with right:
        st.markdown(f"**{wording.JOBS}**")
        jobs.live(memory)
    st.subheader(wording.ALL_SOURCES, anchor=False)
    with problems.shown():
        source_view.table(memory)


memory = engine.memory()
chosen = state.asked_id("src")
if chosen is None:
    with frame.head("sources", "Sources"):
        pass
    everything(memory)
else:
    with problems.shown():
        source_view.detail(memory, chosen)
