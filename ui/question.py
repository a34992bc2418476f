"""Question form: its words, its strategy with the numbers, and earlier questions."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from memoir_engine import Memory, RunView
from ui import as_of, figures, frame, jobs, problems, state
from ui.wording import texts as wording
from ui.wording_columns import texts as labels

RECENT = 10
WIDEST = 12
NET_SIZE = 3  # chunks that the safety net may catch
DEFAULT_WIDTHS = {"wide_branch": (3, 0), "zoom_in": (6, 2), "branch_out": (6, 2)}  # n and n2 of a strategy
PRUNE_BY = "chunk"  # what measures better (benchmarks/evidence); the library's default is whole paths
FIELDS = ("q", "a_strategy", "n", "n2", "limit", "budget", "prune", "net", "netin", as_of.NAME)
NOTHING: dict[str, str | int | None] = dict.fromkeys(FIELDS)  # of the form


def form(memory: Memory, prefilled: str) -> None:
    """Draw the form; starting puts the run's id into the URL at once, so that the link works while it still runs."""
    text = st.text_area(
        wording.QUESTION, value=prefilled, placeholder=wording.QUESTION_PLACEHOLDER, height=110, key=f"question-{prefilled}"
    )
    options = _strategy(memory) | _more(memory) | as_of.field(memory)
    if st.button(wording.ASK, type="primary", icon=":material/manage_search:", key="ask-go", shortcut="ctrl+enter"):
        if not text.strip():
            st.warning(wording.NO_QUESTION, icon=":material/edit:")
            return
        with problems.noted():
            run_id = memory.start("query", question=text, **options)
            state.update(**NOTHING, run=run_id)
            st.rerun()


def recent(memory: Memory) -> None:
    import pandas as pd

    runs = memory.runs.list(limit=RECENT, verb="query")
    if not runs:
        return
    st.markdown(f"**{wording.RECENT}**")
    st.caption(wording.RECENT_ABOUT)
    rows = [
        {
            labels.WHEN: figures.ago(run.started_at),
            labels.ENDED: wording.STATUS[ended_as(run)],
            labels.QUESTION: figures.one_line(jobs.name_of(run)),
        }
        for run in runs
    ]
    columns = {labels.ENDED: st.column_config.TextColumn(width=110), labels.WHEN: st.column_config.TextColumn(width=80)}
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="asked",
        selection_mode=frame.A_ROW,
        column_config=columns,
        on_select=lambda: _open([run.id for run in runs]),
    )


def again(view: RunView) -> dict[str, str | int | None]:
    """Return the query parameters that refill the form as for this run; fields left open stay open."""
    asked = view.request
    net = asked.get("safety_net")
    return NOTHING | {
        "q": str(asked.get("question", ""))[:1_500],
        "a_strategy": asked.get("strategy"),
        "n": asked.get("n"),
        "n2": asked.get("n2"),
        "limit": asked.get("prompt_limiting_strategy"),
        "budget": asked.get("max_token_budget"),
        "prune": asked.get("prune_by"),
        "net": None if net is None else int(bool(net)),
        "netin": int(bool(asked.get("safety_net_in_prompt"))) or None,
        as_of.NAME: as_of.moment(view),
    }


def _strategy_asked() -> str:
    asked = state.param("a_strategy")
    return asked if asked in wording.STRATEGIES else "wide_branch"


def _asked(name: str, otherwise: int, *, least: int, most: int) -> int:
    """Return a number from the address if it is within the form's limits, else `otherwise`."""
    number = state.param_id(name)
    return otherwise if number is None or not least <= number <= most else number


def ended_as(run: RunView) -> str:
    """Return the status of a question: of one that is done, whether it was answered, where its record says so."""
    if run.status != "done" or "answered" not in run.result:
        return run.status
    return "answered" if run.result["answered"] else "unanswered"


def _open(ids: list[str]) -> None:
    row = state.row(st.session_state["asked"])
    if row is not None and row < len(ids):
        state.update(**NOTHING, run=ids[row])


def _strategy(memory: Memory) -> dict[str, Any]:
    names = list(wording.STRATEGIES)
    chosen = st.segmented_control(
        wording.STRATEGY,
        names,
        default=_strategy_asked(),
        required=True,
        format_func=lambda name: wording.STRATEGIES[name][0],
        key="a_strategy",
        on_change=lambda: state.update(a_strategy=st.session_state["a_strategy"]),
    )
    st.caption(wording.STRATEGIES[chosen][1])
    options: dict[str, Any] = {"strategy": chosen}
    if chosen in DEFAULT_WIDTHS:
        n, n2 = DEFAULT_WIDTHS[chosen]
        with st.container(horizontal=True):
            n = _asked("n", n, least=1, most=WIDEST)
            options["n"] = int(st.number_input(wording.N_LABEL, 1, WIDEST, n, key=f"n-{chosen}", width=200))
            if n2:
                n2 = _asked("n2", n2, least=0, most=WIDEST)
                options["n2"] = int(st.number_input(wording.N2_LABEL, 0, WIDEST, n2, key=f"n2-{chosen}", width=200))
        st.caption(wording.WIDTH_SCOPE[memory.config.width_scope])
    return options


def _more(memory: Memory) -> dict[str, Any]:
    config, known = memory.config, list(wording.LIMITINGS)
    with st.expander(wording.ADVANCED, icon=":material/tune:"):
        limiting = st.selectbox(
            wording.LIMITING,
            known,
            index=known.index(limit if (limit := state.param("limit")) in known else config.prompt_limiting_strategy),
            format_func=lambda name: wording.LIMITINGS[name],
            key="ask-limiting",
        )
        ways = list(wording.PER_PATHS)
        with st.container(horizontal=True):
            budget = st.number_input(
                wording.BUDGET,
                1,
                None,
                _asked("budget", config.max_token_budget, least=1, most=10**7),
                100,
                key="ask-budget",
                help=wording.BUDGET_HELP,
                width=150,
            )
            by = _prune_by(limiting)
            way = st.selectbox(
                wording.PER_PATH,
                ways,
                index=ways.index(per_path_limit(limiting, by) or "all"),
                format_func=lambda name: wording.PER_PATHS[name],
                key=f"ask-per-path-{limiting}-{by}",
            )
        net = st.toggle(wording.NET, value=state.param("net") != "0", help=wording.NET_HELP, key="ask-net")
        is_read = net and st.toggle(
            wording.NET_IN_PROMPT, value=state.param("netin") == "1", help=wording.NET_IN_PROMPT_HELP, key="ask-net-read"
        )
    return {
        "prompt_limiting_strategy": limiting,
        "max_token_budget": int(budget),
        "per_path_limit": "auto" if way == "auto" else None,
        "prune_by": by,
        "safety_net": NET_SIZE if net else 0,
        "safety_net_in_prompt": bool(is_read),
    }


def _prune_by(limiting: str) -> str:
    """Let the person choose what PRUNE leaves out first."""
    ways = list(wording.PRUNE_BYS)
    if limiting != "PRUNE":
        return PRUNE_BY
    return st.selectbox(
        wording.PRUNE_BY,
        ways,
        index=ways.index(by if (by := state.param("prune")) in ways else PRUNE_BY),
        format_func=lambda name: wording.PRUNE_BYS[name],
        key="ask-prune-by",
        help=wording.PRUNE_BY_HELP,
    )


def per_path_limit(limiting: str, prune_by: str = PRUNE_BY) -> Literal["auto"] | None:
    """Return the limit of the form: none if everything is shortened to fit, or single chunks go, whichever path they are of."""
    return "auto" if (limiting, prune_by) == ("PRUNE", "path") else None
