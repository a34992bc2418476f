"""The form of a question: its words, its strategy with its numbers, and what was asked before."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memoir_engine import Memory, RunView
from ui import figures, jobs, problems, state, wording

RECENT = 10


def form(memory: Memory, prefilled: str) -> None:
    """Starting puts the run's id into the URL at once, so that the link works while it still runs."""
    text = st.text_area(
        wording.QUESTION, value=prefilled, placeholder=wording.QUESTION_PLACEHOLDER, height=110, key=f"question-{prefilled}"
    )
    options = _strategy() | _more()
    if st.button(wording.ASK, type="primary", icon=":material/manage_search:", key="ask-go", shortcut="ctrl+enter"):
        with problems.noted():
            run_id = memory.start("query", question=text, per_path_limit="auto", **options)
            state.show(q=None, run=run_id)
            st.rerun()


def recent(memory: Memory) -> None:
    import pandas as pd

    runs = memory.runs.list(limit=RECENT, verb="query")
    if not runs:
        return
    st.markdown(f"**{wording.RECENT}**")
    st.caption(wording.RECENT_ABOUT)
    rows = [
        {"When": figures.ago(run.started_at), "Ended": _ended(run), "Question": figures.one_line(jobs.name_of(run))}
        for run in runs
    ]
    columns = {"Ended": st.column_config.TextColumn(width=80), "When": st.column_config.TextColumn(width=80)}
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="asked",
        selection_mode="single-row",
        column_config=columns,
        on_select=lambda: _open([run.id for run in runs]),
    )


def _ended(run: RunView) -> str:
    return wording.STATUS["answered" if run.status == "done" else run.status][0]


def _open(ids: list[str]) -> None:
    rows = st.session_state["asked"]["selection"]["rows"]
    if rows and rows[0] < len(ids):
        state.show(run=ids[rows[0]], q=None)


def _strategy() -> dict[str, Any]:
    names = list(wording.STRATEGIES)
    chosen = st.segmented_control(
        wording.STRATEGY,
        names,
        default="wide_branch",
        required=True,
        format_func=lambda name: wording.STRATEGIES[name][0],
        key="a_strategy",
        bind="query-params",
    )
    st.caption(wording.STRATEGIES[chosen][1])
    options: dict[str, Any] = {"strategy": chosen}
    if chosen in wording.DEFAULT_WIDTHS:
        n, n2 = wording.DEFAULT_WIDTHS[chosen]
        with st.container(horizontal=True):
            options["n"] = int(st.number_input(wording.N_LABEL, 1, 12, n, key=f"n-{chosen}", width=200))
            if n2:
                options["n2"] = int(st.number_input(wording.N2_LABEL, 0, 12, n2, key=f"n2-{chosen}", width=200))
    return options


def _more() -> dict[str, Any]:
    with st.expander(wording.ADVANCED, icon=":material/tune:"):
        limiting = st.selectbox(
            wording.BUDGET, list(wording.BUDGETS), format_func=lambda name: wording.BUDGETS[name], key="ask-budget"
        )
        net = st.toggle(wording.NET, value=True, help=wording.NET_HELP, key="ask-net")
    return {"prompt_limiting_strategy": limiting, "safety_net": wording.NET_SIZE if net else 0}
