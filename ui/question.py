"""The form of a question: its words, its strategy with its numbers, and what was asked before."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from memoir_engine import Memory, RunView
from ui import figures, jobs, problems, state, wording

RECENT = 10


def form(memory: Memory, prefilled: str) -> None:
    """Starting puts the run's id into the URL at once, so that the link works while it still runs."""
    text = st.text_area(
        wording.QUESTION, value=prefilled, placeholder=wording.QUESTION_PLACEHOLDER, height=110, key=f"question-{prefilled}"
    )
    options = _strategy(memory) | _more(memory)
    if st.button(wording.ASK, type="primary", icon=":material/manage_search:", key="ask-go", shortcut="ctrl+enter"):
        with problems.noted():
            run_id = memory.start("query", question=text, **options)
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


def _strategy(memory: Memory) -> dict[str, Any]:
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
        st.caption(wording.WIDTH_SCOPE[memory.config.width_scope])
    return options


def _more(memory: Memory) -> dict[str, Any]:
    config, known = memory.config, list(wording.LIMITINGS)
    with st.expander(wording.ADVANCED, icon=":material/tune:"):
        limiting = st.selectbox(
            wording.LIMITING,
            known,
            index=known.index(config.prompt_limiting_strategy),
            format_func=lambda name: wording.LIMITINGS[name],
            key="ask-limiting",
        )
        ways = list(wording.PER_PATHS)
        with st.container(horizontal=True):
            budget = st.number_input(
                wording.BUDGET, 1, None, config.max_token_budget, 100, key="ask-budget", help=wording.BUDGET_HELP, width=150
            )
            way = st.selectbox(
                wording.PER_PATH,
                ways,
                index=ways.index(per_path_limit(limiting) or "all"),
                format_func=lambda name: wording.PER_PATHS[name],
                key=f"ask-per-path-{limiting}",
            )
        net = st.toggle(wording.NET, value=True, help=wording.NET_HELP, key="ask-net")
    return {
        "prompt_limiting_strategy": limiting,
        "max_token_budget": int(budget),
        "per_path_limit": "auto" if way == "auto" else None,
        "safety_net": wording.NET_SIZE if net else 0,
    }


def per_path_limit(limiting: str) -> Literal["auto"] | None:
    """Where everything is shortened to fit, nothing is left out beforehand."""
    return None if limiting == "SUMMARIZE" else "auto"
