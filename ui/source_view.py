"""Sources as a table, and one source with its text, its helper and where each of its chunks sits."""

from __future__ import annotations

import streamlit as st

from memoir_engine import Chunk, Memory, Source
from ui import figures, frame, jobs, state, wording
from ui.components import reader
from ui.escape import md_escape

PAGE = 20  # chunks on one page of the text


def table(memory: Memory) -> None:
    import pandas as pd

    sources = memory.sources.list(limit=200)
    if not sources and jobs.any_known(memory):
        st.caption(wording.SOURCES_SOON)
        return
    if not sources:
        frame.empty(wording.NO_SOURCES, wording.NO_SOURCES_TEXT, ":material/upload_file:")
        frame.first_buttons(memory)
        return
    rows = pd.DataFrame([_row(source) for source in sources])
    columns = {
        "Name": st.column_config.TextColumn(width=240),
        "Added": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=130),
        "Kind": st.column_config.TextColumn(width=60),
        "Chunks": st.column_config.NumberColumn(format="localized", width=70),
        "Tokens": st.column_config.NumberColumn(format="localized", width=70),
        "By": st.column_config.TextColumn(width=80),
    }
    st.caption(wording.OPEN_SOURCE)
    st.dataframe(
        rows,
        hide_index=True,
        key="src-table",
        on_select=lambda: _open(sources),
        selection_mode="single-row",
        column_config=columns,
        height=frame.table_height(len(sources)),
    )


def _row(source: Source) -> dict[str, object]:
    return {
        "Name": source.name,
        "Title": source.title or "",
        "Kind": source.kind,
        "Chunks": source.chunks,
        "Tokens": source.tokens,
        "Added": source.created_at.astimezone(figures.zone()).replace(tzinfo=None),
        "By": source.added_by or source.owner or "",
    }


def _open(sources: tuple[Source, ...]) -> None:
    rows = st.session_state["src-table"]["selection"]["rows"]
    if rows and rows[0] < len(sources):
        state.show(src=sources[rows[0]].id)


def detail(memory: Memory, source_id: int) -> None:
    source = memory.sources.get(source_id)
    with frame.head("sources", md_escape(source.name)):
        st.badge(source.kind, color="gray")
        if source.status != "filed":
            st.badge(source.status, color="orange")
        st.space("stretch")
        st.page_link("../pages/sources.py", label=wording.ALL_SOURCES, icon=":material/arrow_back:")
    numbers = {
        "Chunks": figures.count(source.chunks),
        "Tokens": figures.count(source.tokens),
        "Characters": figures.count(source.chars),
    }
    if source.pages:
        numbers["Pages"] = figures.count(len(source.pages))
    left, right = st.columns([4, 8], gap="medium")
    with left:
        frame.metrics(numbers, columns=2, width=120)
        _helper(memory, source)
        _facts(source)
    with right:
        _text(memory, source)


def _helper(memory: Memory, source: Source) -> None:
    helper = memory.sources.helper(source.id)
    with st.container(border=True, key="src-helper"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{wording.HELPER}**", width="content", help=wording.HELPER_ABOUT)
            if helper:
                st.badge(wording.HELPER_ORIGIN[helper.origin], color="gray")
                st.space("stretch")
                st.caption(figures.tokens(helper.tokens), width="content")
        if helper:
            st.text(helper.text, width="stretch")
        else:
            st.caption(wording.NO_HELPER)


def _facts(source: Source) -> None:
    import pandas as pd

    known = {
        "Title": source.title,
        "Author": source.author,
        "Date": source.dated,
        "Added": figures.stamp(source.created_at),
        "By": source.added_by or source.owner,
        "Version": str(source.version),
        "SHA-256": source.sha256[:24] + "…",
        **{name: str(value) for name, value in source.metadata.items()},
    }
    rows = pd.DataFrame([(name, value) for name, value in known.items() if value], columns=["Property", "Value"])
    st.dataframe(rows, hide_index=True, column_config={"Property": st.column_config.TextColumn(width=90)}, key="src-facts")


def _text(memory: Memory, source: Source) -> None:
    chunks = memory.sources.chunks(source.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{wording.CHUNKS_TITLE}**", width="content", help=wording.CHUNKS_ABOUT)
        st.space("stretch")
        page = st.pagination(max(1, -(-len(chunks) // PAGE)), key=f"src-page-{source.id}") if len(chunks) > PAGE else 1
    shown = chunks[(page - 1) * PAGE : page * PAGE]
    picked = reader.show(reader.chunks_in_order(shown), key=f"src-text-{source.id}", height=640 if len(shown) > 1 else 0)
    _go(shown, picked)


def _go(chunks: tuple[Chunk, ...], picked: int | None) -> None:
    if picked is not None and any(chunk.id == picked for chunk in chunks):
        st.switch_page("../pages/tree.py", query_params={"chunk": str(picked)})
