"""SUMMARIZE: by how much everything had to shrink, what each chunk was allowed and took, and each summary beside its chunk.

Source: MEMOIR 9.B3.
"""

from __future__ import annotations

import streamlit as st

from memoir_engine import Chunk, QueryResult, RunView
from ui import figures, frame, wording
from ui.components import reader


def show(run: RunView, result: QueryResult) -> None:
    if result.compression_ratio is None or not result.summaries:
        asked = run.request.get("prompt_limiting_strategy") == "SUMMARIZE"
        st.caption(wording.NO_SUMMARIES if asked else wording.NOT_SUMMARISING)
        return
    frame.metrics(_numbers(result, result.compression_ratio), width=120, explained=False)
    st.caption(wording.SUMMARIES_ABOUT.format(ratio=f"{result.compression_ratio:.3f}"))
    chunks = {chunk.id: chunk for chunk in result.chunks}
    _beside(result, chunks, _table(result, chunks))


def _numbers(result: QueryResult, ratio: float) -> dict[str, str]:
    values = [
        f"{100 * ratio:.1f} %",
        figures.count(sum(each.chars for each in result.summaries)),
        figures.count(sum(each.target for each in result.summaries)),
        figures.count(sum(len(each.text) for each in result.summaries)),
    ]
    return dict(zip(wording.SUMMARY_NUMBERS, values, strict=True))


def _table(result: QueryResult, chunks: dict[int, Chunk]) -> int:
    """The row that is looked at; the first until one is chosen."""
    import pandas as pd

    rows = [
        {
            "Source": chunks[each.chunk_id].source_name,
            "Chunk": chunks[each.chunk_id].position + 1,
            "Characters": each.chars,
            "Target": each.target,
            "Summary": len(each.text),
            "Of target": 100 * len(each.text) / each.target,
        }
        for each in result.summaries
        if each.chunk_id in chunks
    ]
    columns = {
        "Source": st.column_config.TextColumn(),
        "Chunk": st.column_config.NumberColumn(width=60),
        "Characters": st.column_config.NumberColumn("Characters before", format="localized", width=120),
        "Target": st.column_config.NumberColumn(format="localized", width=80),
        "Summary": st.column_config.NumberColumn("Characters after", format="localized", width=110),
        "Of target": st.column_config.ProgressColumn(format="%.0f %%", min_value=0, max_value=100, width=150),
    }
    chosen = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key=f"summaries-{result.run_id}",
        on_select="rerun",
        selection_mode="single-row",
        column_config=columns,
        height=frame.table_height(len(rows), most=8),
    ).selection.rows
    return int(chosen[0]) if chosen and chosen[0] < len(rows) else 0


def _beside(result: QueryResult, chunks: dict[int, Chunk], row: int) -> None:
    kept = [each for each in result.summaries if each.chunk_id in chunks]
    if not kept:
        return
    one, chunk = kept[row], chunks[kept[row].chunk_id]
    name = f"{chunk.source_name} · {figures.chunk_name(chunk)}"
    left, right = st.columns(2, gap="small")
    with left:
        block = reader.Block(one.text, "focus", label=wording.SUMMARY, side=_chars(len(one.text)))
        reader.show([block], key=f"summary-{result.run_id}-{one.chunk_id}", height=300)
    with right:
        block = reader.Block(chunk.text, label=f"{wording.ITS_CHUNK}: {name}", side=_chars(one.chars))
        reader.show([block], key=f"summarised-{result.run_id}-{one.chunk_id}", height=300)


def _chars(number: int) -> str:
    return figures.plural(number, "character", "characters")
